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

use super::program::Streams;

/// A program's process group, the mark that its descendants carry, and those of them that were seen.
#[derive(Debug)]
pub(super) struct Tree {
    group: Option<Pid>,
    /// The program itself, where it has no group of its own.
    alone: Option<Pid>,
    /// The group after its leader was waited for.
    #[cfg(target_os = "linux")]
    orphaned: Option<Pid>,
    mark: Mark,
    #[cfg(target_os = "linux")]
    seen: HashMap<i32, OwnedFd>,
}

/// A variable name that no other process has.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn random() -> Self {
        Self(format!("SANDCASTLE_TREE_{:016X}{:016X}", fastrand::u64(..), fastrand::u64(..)))
    }

    pub(super) fn variable(&self) -> (OsString, OsString) {
        (OsString::from(&self.0), OsString::from("1"))
    }

    #[cfg(target_os = "linux")]
    fn is_in(&self, environ: &[u8]) -> bool {
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
    pub(super) fn new(program: Option<u32>, streams: Streams, mark: Mark) -> Self {
        let program = program.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let (group, alone) = match streams {
            Streams::Piped => (program, None),
            Streams::Terminal => (None, program),
        };
        #[cfg(target_os = "linux")]
        return Self { group, alone, orphaned: None, mark, seen: HashMap::new() };
        #[cfg(not(target_os = "linux"))]
        return Self { group, alone, mark };
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

    /// Waits a moment for what is left to end by itself, as the upkeep does that git starts behind a commit.
    pub(super) async fn settle(&mut self) {
        for _ in 0..SETTLING {
            self.look();
            if self.living() == 0 {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Kills what is left, and tells how many processes there were. Waits until they are gone, half a second at most.
    pub(super) async fn kill(&mut self) -> usize {
        let (mut most, mut empty) = (0, 0);
        for _ in 0..PASSES {
            let killed = self.kill_once();
            most = most.max(killed);
            empty = if killed == 0 { empty + 1 } else { 0 };
            if empty == EMPTY_PASSES {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        most
    }

    /// As [`Tree::kill`], for a destructor.
    pub(super) fn kill_blocking(&mut self) {
        let mut empty = 0;
        for _ in 0..PASSES {
            empty = if self.kill_once() == 0 { empty + 1 } else { 0 };
            if empty == EMPTY_PASSES {
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
        self.seen.extend(proc_fs::members(group, |environ| self.mark.is_in(environ)));
    }

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

#[cfg(target_os = "linux")]
mod proc_fs {
    //! Reads of `/proc`.

    use std::collections::HashMap;
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    struct Entry {
        parent: i32,
        member: Option<OwnedFd>,
    }

    /// Finds the living processes that are in `group`, carry the mark, or descend from one that does.
    pub(super) fn members(group: Option<Pid>, marked: impl Fn(&[u8]) -> bool) -> HashMap<i32, OwnedFd> {
        let mut entries: HashMap<i32, Entry> = HashMap::new();
        let Ok(folder) = fs::read_dir("/proc") else { return HashMap::new() };
        for pid in folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            if let Some(entry) = look_at(pid, group, &marked) {
                entries.insert(pid, entry);
            }
        }
        take_in_children(&mut entries);
        entries.into_iter().filter_map(|(pid, entry)| Some((pid, entry.member?))).collect()
    }

    /// Tells whether there is a process with this number, be it one that nobody has waited for.
    pub(super) fn exists(pid: Pid) -> bool {
        stat(pid.as_raw_nonzero().get()).is_some()
    }

    /// Tells whether a process is there and not merely waiting to be waited for.
    pub(super) fn is_alive(pid: i32) -> bool {
        stat(pid).is_some_and(|stat| stat.state != 'Z')
    }

    fn look_at(pid: i32, group: Option<Pid>, marked: impl Fn(&[u8]) -> bool) -> Option<Entry> {
        // The handle comes first: what is read afterwards is about the process that the handle holds, or nothing.
        let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let stat = stat(pid)?;
        if stat.state == 'Z' || pid == std::process::id().cast_signed() {
            return None;
        }
        let in_group = group.is_some_and(|group| group.as_raw_nonzero().get() == stat.group);
        let is_member =
            in_group || fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| marked(&environ));
        Some(Entry { parent: stat.parent, member: is_member.then_some(handle) })
    }

    fn take_in_children(entries: &mut HashMap<i32, Entry>) {
        loop {
            let found: Vec<i32> = entries
                .iter()
                .filter(|(_, entry)| entry.member.is_none())
                .filter(|(_, entry)| entries.get(&entry.parent).is_some_and(|parent| parent.member.is_some()))
                .map(|(&pid, _)| pid)
                .collect();
            if found.is_empty() {
                return;
            }
            for pid in found {
                let handle = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                // The number may have been used again since it was looked at: the parent is asked once more.
                let same =
                    stat(pid).zip(entries.get(&pid)).is_some_and(|(now, then)| now.parent == then.parent);
                match handle.filter(|_| same) {
                    Some(handle) => {
                        entries.entry(pid).and_modify(|entry| entry.member = Some(handle));
                    }
                    None => {
                        entries.remove(&pid);
                    }
                }
            }
        }
    }

    struct Stat {
        state: char,
        parent: i32,
        group: i32,
    }

    fn stat(pid: i32) -> Option<Stat> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, parentheses included; the fields start behind the last one.
        let text = String::from_utf8_lossy(&text);
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        Some(Stat {
            state: fields.next()?.chars().next()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }
}
