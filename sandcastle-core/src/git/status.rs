//! What a work tree holds that is in no commit, and what it is in the middle of.
//!
//! Every answer is for one work tree that the repository is aimed at. Nothing is written, not even the index.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::command::path_from;
use super::repository::{Head, Repository};
use crate::error::Result;
use crate::id::{BranchName, CommitId};

/// How long a file of git's with one line in it may be.
const MAX_LINE: u64 = 64 * 1024;
/// The most that is read of the log of a `HEAD`.
const MAX_LOG: u64 = 16 * 1024 * 1024;

/// An operation that was begun in a work tree and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Rebase,
    Merge,
    CherryPick,
    Revert,
    Bisect,
}

impl Operation {
    /// Returns the name of the command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// Returns the argument of the command that takes it back.
    pub(crate) fn way_back(self) -> &'static str {
        match self {
            Self::Rebase | Self::Merge | Self::CherryPick | Self::Revert => "--abort",
            Self::Bisect => "reset",
        }
    }
}

/// Files that `git status` does not look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    /// Other repositories, each with the commit that is recorded for it.
    pub(crate) repositories: Vec<(PathBuf, String)>,
    /// Files that git was told to take for unchanged.
    pub(crate) files: Vec<PathBuf>,
}

/// What is checked out in a work tree, and what differs from it.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) head: Head,
    /// What is changed, staged or untracked, ignored files left out.
    pub(crate) changes: Vec<Change>,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// How, in git's two letters; `??` if it is untracked.
    pub(crate) how: String,
    pub(crate) path: PathBuf,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.how, self.path.display())
    }
}

impl Repository {
    /// Looks at the files.
    pub(crate) async fn status(&self) -> Result<Status> {
        let args = [
            "status",
            "--porcelain=v2",
            "--branch",
            "--no-ahead-behind",
            "-z",
            "--untracked-files=normal",
            "--no-renames",
        ];
        let answer = self.git().does("see what has changed", args).await?;
        let mut status =
            Status { head: Head { commit: None, branch: BranchName::from_git("HEAD") }, changes: Vec::new() };
        for entry in answer.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            if let Some(header) = entry.strip_prefix(b"# ") {
                status.header(&String::from_utf8_lossy(header));
            } else {
                status.changes.push(Change::read(entry));
            }
        }
        Ok(status)
    }

    /// Says which operation was begun and not ended.
    pub(crate) fn operation(&self) -> Option<Operation> {
        let marks = [
            ("rebase-merge", Operation::Rebase),
            ("rebase-apply", Operation::Rebase),
            ("MERGE_HEAD", Operation::Merge),
            ("CHERRY_PICK_HEAD", Operation::CherryPick),
            ("REVERT_HEAD", Operation::Revert),
            ("BISECT_LOG", Operation::Bisect),
            // Between two of several picked commits nothing else is there.
            ("sequencer", Operation::CherryPick),
        ];
        marks.into_iter().find(|(mark, _)| self.git_dir().join(mark).exists()).map(|(_, operation)| operation)
    }

    /// Lists what [`Repository::status`] passes over.
    pub(crate) async fn hidden(&self) -> Result<Hidden> {
        let answer = self.git().does("read the index", ["ls-files", "--stage", "-v", "-z"]).await?;
        let mut hidden = Hidden::default();
        for entry in answer.stdout.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let path = path_from(&entry[tab + 1..]);
            let facts = String::from_utf8_lossy(&entry[..tab]);
            let mut facts = facts.split(' ');
            let (flag, mode, id) = (facts.next(), facts.next(), facts.next());
            if mode == Some("160000") {
                hidden.repositories.push((path, id.unwrap_or_default().to_owned()));
            } else if self.is_hidden(flag.unwrap_or_default(), &path) {
                hidden.files.push(path);
            }
        }
        Ok(hidden)
    }

    /// Tells whether a file of the index is passed over; in a sparse checkout those that are not there are harmless.
    fn is_hidden(&self, flag: &str, path: &Path) -> bool {
        let is_there = || self.git().cwd().join(path).symlink_metadata().is_ok();
        match flag {
            "S" | "s" => is_there(),
            _ => flag.starts_with(|c: char| c.is_ascii_lowercase()),
        }
    }
}

impl Status {
    fn header(&mut self, header: &str) {
        match header.split_once(' ') {
            Some(("branch.oid", id)) if id != "(initial)" => self.head.commit = Some(CommitId::from_git(id)),
            Some(("branch.head", name)) if name != "(detached)" => {
                self.head.branch = BranchName::from_git(name);
            }
            _ => {}
        }
    }
}

impl Change {
    /// Reads `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path` or `? path`.
    fn read(entry: &[u8]) -> Self {
        let fields = match entry.first() {
            Some(b'1') => 9,
            Some(b'u') => 11,
            _ => 2,
        };
        let mut parts = entry.splitn(fields, |byte| *byte == b' ').skip(1);
        let how = match fields {
            2 => "??".to_owned(),
            _ => String::from_utf8_lossy(parts.next().unwrap_or_default()).replace('.', " "),
        };
        Self { how, path: path_from(parts.last().unwrap_or_default()) }
    }
}

impl Repository {
    /// Returns how far the log of this work tree's `HEAD` has come, for [`Repository::committed_here`].
    pub(crate) fn head_log_end(&self) -> u64 {
        fs::metadata(self.head_log()).map_or(0, |meta| meta.len())
    }

    /// Lists the commits that were made in this work tree since its log had come to `end`, as far as there is a log.
    pub(crate) fn committed_here(&self, end: u64) -> HashSet<String> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut log = fs::File::open(self.head_log())?;
            log.seek(SeekFrom::Start(end))?;
            let mut bytes = Vec::new();
            log.take(MAX_LOG).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let is_log = self.head_log().symlink_metadata().is_ok_and(|meta| meta.is_file());
        let log = if is_log { read().unwrap_or_default() } else { Vec::new() };
        let log = String::from_utf8_lossy(&log);
        // `old new name <mail> seconds zone`, a tab, and what was done.
        let entries = log.lines().filter_map(|line| line.split_once('\t'));
        entries
            .filter(|(_, done)| done.starts_with("commit"))
            .filter_map(|(facts, _)| facts.split(' ').nth(1).map(str::to_owned))
            .collect()
    }

    /// Returns the commit that was checked out last in this work tree, as far as there is a log.
    pub(crate) fn last_checked_out(&self) -> Option<CommitId> {
        if !self.head_log().symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut log = fs::File::open(self.head_log()).ok()?;
        let length = log.metadata().ok()?.len();
        log.seek(SeekFrom::Start(length.saturating_sub(MAX_LINE))).ok()?;
        let mut end = Vec::new();
        log.take(MAX_LINE).read_to_end(&mut end).ok()?;
        let end = String::from_utf8_lossy(end.strip_suffix(b"\n")?).into_owned();
        let id = end.rsplit('\n').next()?.split(' ').nth(1)?;
        let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| CommitId::from_git(id))
    }

    fn head_log(&self) -> PathBuf {
        self.git_dir().join("logs/HEAD")
    }
}

/// Reads which branch a rebase is about, in the folder of the own state of a work tree.
pub(super) fn rebased_branch(git_dir: &Path) -> Option<BranchName> {
    let name = ["rebase-merge/head-name", "rebase-apply/head-name"]
        .iter()
        .find_map(|file| read_small(&git_dir.join(file)))?;
    let name = std::str::from_utf8(&name).ok()?;
    Some(BranchName::from_git(name.trim_end().strip_prefix("refs/heads/")?))
}

/// Reads a file of git's that holds one line; an agent may have put anything in its place, a pipe too.
pub(super) fn read_small(path: &Path) -> Option<Vec<u8>> {
    let meta = path.symlink_metadata().ok()?;
    if meta.is_file() && meta.len() <= MAX_LINE { fs::read(path).ok() } else { None }
}
