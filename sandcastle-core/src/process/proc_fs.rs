//! Reads of `/proc`: who is there, who descends from whom, and since when.
//!
//! Linux only. Only a [`Guest`] is signalled here.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

struct Entry {
    parent: i32,
    member: Option<OwnedFd>,
}

/// Looks through the processes of the system for those that belong together.
///
/// Most processes are older than the program they are looked for; reading when one was started is all they cost, and
/// that once as long as nothing is found.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// When the program was started; nothing that belongs to it is older.
    since: Option<u64>,
    /// Those that are older. Their numbers may be used again, so this is forgotten as soon as there is anything to end.
    older: HashSet<i32>,
}

impl Census {
    /// Looks for what was started by `program`, or at any time if that is not known.
    pub(super) fn since(program: Option<Pid>) -> Self {
        let since = program.and_then(|pid| stat(pid.as_raw_nonzero().get())).map(|stat| stat.start);
        Self { since, older: HashSet::new() }
    }

    /// Forgets which numbers belong to older processes.
    pub(super) fn start_over(&mut self) {
        self.older.clear();
    }

    /// Finds the living processes that are in `group`, carry the mark, or descend from one that does.
    pub(super) fn members(
        &mut self,
        group: Option<Pid>,
        marked: impl Fn(&[u8]) -> bool,
    ) -> HashMap<i32, OwnedFd> {
        let mut entries: HashMap<i32, Entry> = HashMap::new();
        let Ok(folder) = fs::read_dir("/proc") else { return HashMap::new() };
        for pid in folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            if !self.is_older(pid)
                && let Some(entry) = look_at(pid, group, &marked)
            {
                entries.insert(pid, entry);
            }
        }
        take_in_children(&mut entries);
        entries.into_iter().filter_map(|(pid, entry)| Some((pid, entry.member?))).collect()
    }

    fn is_older(&mut self, pid: i32) -> bool {
        let Some(since) = self.since else { return false };
        let older = self.older.contains(&pid) || stat(pid).is_some_and(|stat| stat.start < since);
        if older {
            self.older.insert(pid);
        }
        older
    }
}

/// Tells whether there is a process with this number, be it one that nobody has waited for.
pub(super) fn exists(pid: Pid) -> bool {
    stat(pid.as_raw_nonzero().get()).is_some()
}

/// Tells whether a process is there and not merely waiting to be waited for.
pub(super) fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.is_alive())
}

fn look_at(pid: i32, group: Option<Pid>, marked: impl Fn(&[u8]) -> bool) -> Option<Entry> {
    // The handle comes first: what is read afterwards is about the process that the handle holds, or nothing.
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let stat = stat(pid)?;
    if !stat.is_alive() || pid == std::process::id().cast_signed() {
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
            let same = stat(pid).zip(entries.get(&pid)).is_some_and(|(now, then)| now.parent == then.parent);
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

/// The first process of a namespace: when it is gone, so is everything in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landlord {
    pid: i32,
    start: u64,
}

impl Landlord {
    /// Finds the process that `host` has started, if it has by now.
    pub(super) fn of(host: Pid) -> Option<Self> {
        let host = host.as_raw_nonzero().get();
        let listed = fs::read_to_string(format!("/proc/{host}/task/{host}/children"));
        let pid = match listed {
            Ok(pids) => pids.split_ascii_whitespace().next()?.parse().ok()?,
            // Not every kernel lists them.
            Err(_) => children(Pid::from_raw(host)?).first()?.as_raw_nonzero().get(),
        };
        Some(Self { pid, start: stat(pid)?.start })
    }

    /// Tells whether it is there. It comes to its end only after all others in its namespace.
    pub(super) fn is_there(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.is_alive() && stat.start == self.start)
    }
}

/// Who lives within the boundary that a program is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Guest {
    /// They have a group of their own.
    Group(Pid),
    /// They share the group of the program, so each is told by itself.
    Processes(Vec<Pid>),
}

/// Finds whom `host` has started: one process, which is the first of its namespace and only waits, and what is below it.
pub(super) fn guest(host: Pid) -> Option<Guest> {
    let first = children(host).into_iter().next()?;
    let leads = stat(first.as_raw_nonzero().get())?.group == first.as_raw_nonzero().get();
    let below = children(first);
    match (leads, below.is_empty()) {
        (_, true) => None,
        (true, false) => Some(Guest::Group(first)),
        (false, false) => Some(Guest::Processes(below)),
    }
}

impl Guest {
    /// Signals them. The first process of a namespace takes no signal that it does not handle.
    pub(super) fn signal(&self, signal: Signal) {
        match self {
            Self::Group(group) => {
                let _ = kill_process_group(*group, signal);
            }
            Self::Processes(pids) => {
                for pid in pids {
                    let _ = kill_process(*pid, signal);
                }
            }
        }
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parent = parent.as_raw_nonzero().get();
    pids.filter(|&pid| stat(pid).is_some_and(|stat| stat.is_alive() && stat.parent == parent))
        .filter_map(Pid::from_raw)
        .collect()
}

/// What the kernel says of a process.
pub(super) struct Stat {
    state: char,
    parent: i32,
    group: i32,
    /// How long it has used processors, and those of its children that it has waited for, in ticks of a hundredth of a second.
    pub(super) used: u64,
    /// When it was started, in ticks since the system was.
    pub(super) start: u64,
}

impl Stat {
    /// Tells whether it is more than something that waits to be waited for.
    pub(super) fn is_alive(&self) -> bool {
        self.state != 'Z'
    }
}

/// How many fields stand between the group and the times that it has used.
const BEFORE_TIMES: usize = 8;
/// How many times there are: its own and its children's, each as a program and in the kernel.
const TIMES: usize = 4;
/// How many fields stand between those and the start.
const BEFORE_START: usize = 4;

/// Reads what the kernel says of a process.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses included; the fields start behind the last one.
    let text = String::from_utf8_lossy(&text);
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let mut fields = fields.skip(BEFORE_TIMES);
    let used = fields.by_ref().take(TIMES).filter_map(|time| time.parse::<u64>().ok()).sum();
    Some(Stat { state, parent, group, used, start: fields.nth(BEFORE_START)?.parse().ok()? })
}
