//! File descriptors that a program inside would inherit: what is open by number needs no path, and knows no mount.
//!
//! Whatever Rust opens is closed when another program is executed. What is not was inherited by this process itself (terminals and
//! test runners leave some open), or comes from a foreign library. It is closed inside, by a shell, before the program is there:
//! to do so in this process would take it from its other children.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::view::View;

/// The flag of a descriptor that is closed when another program is executed.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;
/// The standard streams end here.
const LAST_STREAM: u32 = 2;
/// The last descriptor that every shell can close; some read only one digit.
const LAST_OF_EVERY_SHELL: u32 = 9;
/// Where shells are looked for.
const SHELLS: &str = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/// Lists the descriptors of this process that its children inherit, beside the standard streams.
pub(super) fn inherited() -> Vec<u32> {
    let numbers = fs::read_dir("/proc/self/fdinfo").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut inherited: Vec<u32> =
        numbers.filter(|&number| number > LAST_STREAM && is_inherited(number)).collect();
    inherited.sort_unstable();
    inherited
}

fn is_inherited(number: u32) -> bool {
    let Ok(info) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else { return false };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok());
    // What cannot be told is closed.
    flags.is_none_or(|flags| flags & CLOSE_ON_EXEC == 0)
}

/// Writes the command that closes descriptors and becomes the program that follows.
///
/// # Errors
/// When no shell inside can close them.
pub(super) fn closing(descriptors: &[u32], view: &View) -> io::Result<Vec<OsString>> {
    if descriptors.is_empty() {
        return Ok(Vec::new());
    }
    let shell = shell(descriptors, view).ok_or_else(|| {
        let message = format!(
            "descriptor {} of this process would be seen inside, and there is no `bash` to close it",
            descriptors.last().copied().unwrap_or_default()
        );
        io::Error::new(io::ErrorKind::Unsupported, message)
    })?;
    let closed: String = descriptors.iter().map(|number| format!(" {number}>&-")).collect();
    let script = format!("exec{closed}; exec \"$@\"");
    Ok(vec![shell.into(), "-c".into(), script.into(), "sandcastle".into()])
}

fn shell(descriptors: &[u32], view: &View) -> Option<PathBuf> {
    let find = |name: &str| view.program(name.as_ref(), SHELLS.as_ref(), Path::new("/")).ok();
    match descriptors.iter().all(|&number| number <= LAST_OF_EVERY_SHELL) {
        true => find("sh"),
        false => find("bash"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn only_what_children_inherit_is_listed() {
        use std::os::fd::AsRawFd;

        let (kept, inherited) = (fs::File::open("/").unwrap(), fs::File::open("/").unwrap());
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
        let listed = super::inherited();
        assert!(listed.contains(&inherited.as_raw_fd().cast_unsigned()));
        assert!(!listed.contains(&kept.as_raw_fd().cast_unsigned()));
    }

    #[test]
    fn a_shell_closes_them_where_there_is_one_that_can() {
        let mut view = View::default();
        assert!(closing(&[3], &view).is_err());
        assert!(closing(&[], &view).unwrap().is_empty());
        let blank = super::super::view::Blank { file: "/dev/null".into(), folder: "/nonexistent".into() };
        view.extend(super::super::system::entries(&blank));
        let closing = closing(&[3, 9], &view).unwrap();
        assert_eq!(closing[2], "exec 3>&- 9>&-; exec \"$@\"");
    }
}
