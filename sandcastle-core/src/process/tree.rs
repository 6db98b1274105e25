//! Everything that a program started, and how to end it.
//!
//! A process group is not enough: agents start their tools in sessions of their own, which a signal to the group does
//! not reach, and a tool whose parent dies is adopted by process 1. So each program is started with a variable whose
//! *name* is random; every descendant that was not started with an empty environment carries it, and can be found in
//! `/proc`, wherever it hides. Children of what is found are taken in too. Each process is held by a pidfd while it is
//! looked at, so that a number that was used again is never signalled.
//!
//! Where there is no `/proc` (outside Linux), the process group is all that can be ended.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

#[cfg(target_os = "linux")]
use super::proc_fs;
use super::program::{Streams, Told};

/// A program's process group, the mark that its descendants carry, and those of them that were seen.
#[derive(Debug)]
pub(super) struct Tree {
    group: Option<Pid>,
    /// The program itself, where it has no group of its own.
    alone: Option<Pid>,
    told: Told,
    /// The first process of the namespace that the program has made.
    #[cfg(target_os = "linux")]
    landlord: Option<proc_fs::Landlord>,
    /// The group after its leader was waited for.
    #[cfg(target_os = "linux")]
    orphaned: Option<Pid>,
    /// What any descendant carries one of.
    marks: Vec<Mark>,
    #[cfg(target_os = "linux")]
    seen: HashMap<i32, OwnedFd>,
    #[cfg(target_os = "linux")]
    census: proc_fs::Census,
}

/// A variable name that no other process has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark(String);

/// What the name of every mark begins with.
const PREFIX: &str = "SANDCASTLE_TREE_";

impl Mark {
    pub(crate) fn random() -> Self {
        Self(format!("{PREFIX}{:016X}{:016X}", fastrand::u64(..), fastrand::u64(..)))
    }

    /// Takes a mark that was written down; `None` if it is the name of any other variable.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let digits = name.strip_prefix(PREFIX)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
        (digits.len() == 32 && digits.bytes().all(is_digit)).then(|| Self(name.to_owned()))
    }

    /// Returns the name of the variable.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// Returns the variable that a program has to be started with to carry the mark.
    pub(crate) fn variable(&self) -> (OsString, OsString) {
        (OsString::from(&self.0), OsString::from("1"))
    }

    /// Tells whether an environment, as `/proc` shows it, carries the mark.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in(&self, environ: &[u8]) -> bool {
        environ.split(|&byte| byte == 0).any(|entry| entry.strip_suffix(b"=1") == Some(self.0.as_bytes()))
    }
}

/// How long a killed process may take to vanish before it is looked for again.
const PAUSE: Duration = Duration::from_millis(2);
/// How often is looked whether what is left ends by itself: for a third of a second.
const SETTLING: u32 = 150;
/// How often is looked: a process in an uninterruptible wait can outlive its kill.
const PASSES: u32 = 250;
/// How often nothing must be found: what is born and what dies while `/proc` is read can be missed.
const EMPTY_PASSES: u32 = 3;

impl Tree {
    pub(super) fn new(program: Option<u32>, streams: Streams, told: Told, mark: Mark) -> Self {
        let program = program.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let (group, alone) = match streams {
            Streams::Piped => (program, None),
            Streams::Terminal => (None, program),
        };
        #[cfg(target_os = "linux")]
        return Self {
            group,
            alone,
            told,
            landlord: None,
            orphaned: None,
            marks: vec![mark],
            seen: HashMap::new(),
            census: proc_fs::Census::since(program),
        };
        #[cfg(not(target_os = "linux"))]
        return Self { group, alone, told, marks: vec![mark] };
    }

    /// Takes in whatever carries one of `marks`, without a program that it began with.
    pub(super) fn marked(marks: Vec<Mark>) -> Self {
        Self {
            group: None,
            alone: None,
            told: Told::Program,
            #[cfg(target_os = "linux")]
            landlord: None,
            #[cfg(target_os = "linux")]
            orphaned: None,
            marks,
            #[cfg(target_os = "linux")]
            seen: HashMap::new(),
            #[cfg(target_os = "linux")]
            census: proc_fs::Census::default(),
        }
    }

    /// Lists the processes that are there now and live.
    #[cfg(target_os = "linux")]
    pub(super) fn members(&mut self) -> Vec<i32> {
        self.look();
        self.living();
        let mut pids: Vec<i32> = self.seen.keys().copied().collect();
        pids.sort_unstable();
        pids
    }

    /// Lists the processes that are there now and live: none is known of outside Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn members(&mut self) -> Vec<i32> {
        Vec::new()
    }

    /// Returns how long those that live have used processors, in ticks of a hundredth of a second; what has ended counts with
    /// whoever waited for it.
    #[cfg(target_os = "linux")]
    pub(super) fn ticks(&mut self) -> u64 {
        let members = self.members();
        members.into_iter().filter_map(proc_fs::stat).map(|stat| stat.used).sum()
    }

    /// Returns how long those that live have used processors: not known outside Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn ticks(&mut self) -> u64 {
        0
    }

    /// Says that the program is gone and its number may be used again.
    pub(super) fn forget_program(&mut self) {
        self.alone = None;
        let group = self.group.take();
        #[cfg(target_os = "linux")]
        {
            self.orphaned = group.or(self.orphaned);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = group;
    }

    /// Asks whoever is to be told to stop.
    pub(super) fn ask(&mut self, signal: Signal) {
        #[cfg(target_os = "linux")]
        if self.told == Told::Guest
            && let Some(guest) = self.group.or(self.alone).and_then(proc_fs::guest)
        {
            self.look();
            guest.signal(signal);
            return;
        }
        self.signal(signal);
    }

    /// Signals the group, or the program if it has none. Who descends from it is noted first: afterwards their parents
    /// may be gone.
    pub(super) fn signal(&mut self, signal: Signal) {
        self.look();
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
        if let Some(program) = self.alone {
            let _ = kill_process(program, signal);
        }
    }

    /// Tells whether a namespace is to be expected of which nothing is known yet.
    #[cfg(target_os = "linux")]
    pub(super) fn awaits_landlord(&self) -> bool {
        self.told == Told::Guest && self.landlord.is_none() && self.group.or(self.alone).is_some()
    }

    /// Looks whether the namespace is there by now.
    #[cfg(target_os = "linux")]
    pub(super) fn look_for_landlord(&mut self) {
        self.landlord = self.group.or(self.alone).and_then(proc_fs::Landlord::of);
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn awaits_landlord(&self) -> bool {
        false
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn look_for_landlord(&mut self) {}

    /// Tells whether something in a namespace is still on its way out: the kernel ends it all, whatever its variables are.
    #[cfg(target_os = "linux")]
    fn has_landlord(&self) -> bool {
        self.landlord.is_some_and(proc_fs::Landlord::is_there)
    }

    #[cfg(not(target_os = "linux"))]
    fn has_landlord(&self) -> bool {
        false
    }

    /// Waits a moment for what is left to end by itself, as the upkeep does that git starts behind a commit.
    pub(super) async fn settle(&mut self) {
        for _ in 0..SETTLING {
            self.look();
            if self.living() == 0 {
                return;
            }
            self.start_over();
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Kills what is left, and tells how many processes there were. Waits until they are gone, half a second at most.
    pub(super) async fn kill(&mut self) -> usize {
        let mut passes = Passes::default();
        while passes.go_on(self.kill_once()) {
            // Only what was found needs time to vanish; looking again for what was missed needs none.
            if passes.found_some() {
                self.start_over();
                tokio::time::sleep(PAUSE).await;
            }
        }
        for _ in 0..PASSES {
            if !self.has_landlord() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        passes.most
    }

    /// As [`Tree::kill`], for a destructor.
    pub(super) fn kill_blocking(&mut self) {
        let mut passes = Passes::default();
        while passes.go_on(self.kill_once()) {
            if passes.found_some() {
                self.start_over();
                std::thread::sleep(PAUSE);
            }
        }
        for _ in 0..PASSES {
            if !self.has_landlord() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn kill_once(&mut self) -> usize {
        self.signal(Signal::KILL);
        self.kill_seen()
    }

    #[cfg(target_os = "linux")]
    fn look(&mut self) {
        // A number is not given to a new process while it is that of a group, nor to a group but by its leader: without
        // a process of that number, who is in the group was always in it.
        self.orphaned = self.orphaned.filter(|group| !proc_fs::exists(*group));
        let group = self.group.or(self.orphaned);
        let Self { census, marks, seen, .. } = self;
        seen.extend(census.members(group, |environ| marks.iter().any(|mark| mark.is_in(environ))));
    }

    #[cfg(target_os = "linux")]
    fn start_over(&mut self) {
        self.census.start_over();
    }

    #[cfg(not(target_os = "linux"))]
    fn start_over(&mut self) {}

    #[cfg(not(target_os = "linux"))]
    fn look(&mut self) {}

    #[cfg(target_os = "linux")]
    fn kill_seen(&mut self) -> usize {
        self.living();
        self.seen.retain(|_, handle| rustix::process::pidfd_send_signal(handle, Signal::KILL).is_ok());
        self.seen.len()
    }

    /// Counts the processes that were seen and live. One that is dead and not yet waited for would take a signal too.
    #[cfg(target_os = "linux")]
    fn living(&mut self) -> usize {
        self.seen.retain(|&pid, _| proc_fs::is_alive(pid));
        self.seen.len()
    }

    #[cfg(not(target_os = "linux"))]
    fn living(&mut self) -> usize {
        0
    }

    #[cfg(not(target_os = "linux"))]
    fn kill_seen(&mut self) -> usize {
        0
    }
}

/// Counts how often was looked, and what was found.
#[derive(Default)]
struct Passes {
    count: u32,
    empty: u32,
    most: usize,
}

impl Passes {
    /// Notes what a pass has found, and tells whether there has to be another.
    fn go_on(&mut self, found: usize) -> bool {
        self.count += 1;
        self.most = self.most.max(found);
        self.empty = if found == 0 { self.empty + 1 } else { 0 };
        self.empty < EMPTY_PASSES && self.count < PASSES
    }

    fn found_some(&self) -> bool {
        self.empty == 0
    }
}
