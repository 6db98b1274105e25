//! Looks for everything that runs with a certain home folder: a program, its tools, and what those have started.
//!
//! Every test has a home of its own, and a process has to be started with an empty environment to get out of it.

use std::fs;
use std::path::Path;

/// The command lines of the processes that have a home.
#[derive(Debug)]
pub(super) struct Residents(Vec<String>);

impl Residents {
    /// Looks through the processes that there are now. The dead that nobody has buried have no environment.
    pub(super) fn of(home: &Path) -> Self {
        let entry = format!("HOME={}", home.display());
        let lives_there =
            |environ: &[u8]| environ.split(|&byte| byte == 0).any(|own| own == entry.as_bytes());
        let processes = fs::read_dir("/proc").expect("a list of processes").flatten();
        let residents = processes
            .filter(|process| {
                fs::read(process.path().join("environ")).is_ok_and(|environ| lives_there(&environ))
            })
            .map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default())
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        Self(residents.collect())
    }

    pub(super) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }

    #[track_caller]
    pub(super) fn assert_gone(&self) {
        assert!(self.0.is_empty(), "left behind: {:#?}", self.0);
    }
}
