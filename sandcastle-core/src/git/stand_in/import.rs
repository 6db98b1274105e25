//! What was done in a stand-in, taken over into the repository.
//!
//! First the objects, by a [`Passage`]; then the refs and what is checked out, by a [`Takeover`]; then what is staged.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::folder::{Folder, Kind};
use super::layout::{ALTERNATES, MAX_INDEX, own_part};
use crate::error::{Error, ErrorKind, Result};
use crate::git::passage::Passage;
use crate::git::takeover::{State, Takeover, is_id};
use crate::git::{Repository, read_bounded};

/// How much of a log is read.
const MAX_LOG: u64 = 4 * 1024 * 1024;
/// How many commits that only a log names are taken over.
const MAX_LOGGED: usize = 1000;
/// How many files of objects are looked at.
const MAX_OBJECTS: usize = 5_000_000;

/// What is taken over from where to where.
pub(super) struct Import<'a> {
    /// The git folder of the stand-in, and its path.
    pub(super) folder: &'a Folder,
    pub(super) path: &'a Path,
    pub(super) repository: &'a Repository,
    /// What the stand-in is called in refs.
    pub(super) name: &'a str,
}

impl Import<'_> {
    /// Takes over the difference between two states, and what is staged.
    ///
    /// `own` are the refs of whoever works inside, which grow with what is made there.
    pub(super) async fn bring(
        &self,
        known: &State,
        now: &State,
        own: &mut BTreeSet<String>,
    ) -> Result<Vec<String>> {
        known.check_size(now)?;
        let part = own_part(self.repository);
        let read = |error| self.refused("cannot be read", error);
        let index = self.folder.read(part.join("index"), MAX_INDEX).map_err(read)?;
        let is_staged =
            index != read_bounded(&self.repository.git_dir().join("index"), MAX_INDEX).map_err(read)?;
        if known == now && !is_staged {
            return Ok(self.unfinished());
        }
        let log = self.folder.read(part.join("logs/HEAD"), MAX_LOG).ok().flatten().unwrap_or_default();
        self.check_objects()?;
        let passage = Passage::over(self.path, self.repository).await?;
        let tree = match &index {
            Some(index) if is_staged => passage.tree_of(index).await?,
            _ => None,
        };
        let logged = logged(&log);
        let logged: Vec<String> =
            logged.into_iter().filter(|id| !known.refs.values().any(|old| old == id)).collect();
        let tips: BTreeSet<&str> = known.tips(now).into_iter().chain(tree.as_deref()).collect();
        passage.bring(self.repository, &tips, &logged).await?;
        self.continue_log(&log)?;
        let mut takeover = Takeover { repository: self.repository, name: self.name, own };
        let mut notes = takeover.take(known, now).await?;
        if is_staged {
            notes.extend(self.stage(tree.as_deref()).await?);
        }
        notes.extend(self.unfinished());
        Ok(notes)
    }

    /// Stages what is staged inside: a tree whose paths and objects were checked. The file itself is never taken over, since git
    /// would believe all that it says. Without a tree, as in the middle of a merge, what is checked out is staged, and the files
    /// stay as they are.
    async fn stage(&self, tree: Option<&str>) -> Result<Option<String>> {
        let git = self.repository.git().to_its_end();
        git.does("stage what is staged inside", ["read-tree", "--reset", tree.unwrap_or("HEAD")]).await?;
        git.ask(["update-index", "-q", "--refresh"]).await?;
        if tree.is_none() {
            let what =
                "what was staged inside makes no tree and was not taken over; the files are as they were";
            return Ok(Some(what.to_owned()));
        }
        // Both sides have the same file, so that nothing is taken over twice.
        let read = |error| self.refused("cannot be levelled", error);
        if let Some(index) =
            read_bounded(&self.repository.git_dir().join("index"), MAX_INDEX).map_err(read)?
        {
            self.folder.replace(own_part(self.repository).join("index"), &index).map_err(read)?;
        }
        Ok(None)
    }

    /// Says that something was begun inside and not ended: it cannot be gone on with outside.
    fn unfinished(&self) -> Vec<String> {
        let own = own_part(self.repository);
        let begun = [
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("MERGE_HEAD", "merge"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
        ];
        let begun = begun.into_iter().find(|(mark, _)| self.folder.has(own.join(mark)));
        begun.map(|(_, what)| format!("a {what} was begun inside and not ended")).into_iter().collect()
    }

    /// Writes the log of the `HEAD` on, which says which commits were made here.
    fn continue_log(&self, log: &[u8]) -> Result<()> {
        let path = self.repository.git_dir().join("logs/HEAD");
        let known = read_bounded(&path, 64 * MAX_LOG).ok().flatten().unwrap_or_default();
        let lines = log.split_inclusive(|byte| *byte == b'\n').filter(|line| entry(line).is_some());
        let known: BTreeSet<&[u8]> = known.split_inclusive(|byte| *byte == b'\n').collect();
        let new: Vec<u8> = lines.filter(|line| !known.contains(line)).flatten().copied().collect();
        if new.is_empty() {
            return Ok(());
        }
        let write = || {
            fs::create_dir_all(self.repository.git_dir().join("logs"))?;
            fs::File::options().create(true).append(true).open(&path)?.write_all(&new)
        };
        write().map_err(|error| self.refused("has a log that cannot be written on", error))
    }

    /// Checks that objects are files in the stand-in, and that it borrows from nowhere else: git would follow.
    fn check_objects(&self) -> Result<()> {
        let mut left = MAX_OBJECTS;
        self.check_folder("objects", &mut left)
            .map_err(|error| self.refused("cannot be taken over", error))?;
        match self.folder.read(ALTERNATES, 0) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.refused("borrows objects from elsewhere", error)),
        }
    }

    fn check_folder(&self, folder: &str, left: &mut usize) -> io::Result<()> {
        for entry in self.folder.entries(folder)? {
            *left = left.checked_sub(1).ok_or_else(|| io::Error::other("it has too many files"))?;
            let (name, kind) = entry?;
            let path = format!("{folder}/{}", name.to_string_lossy());
            match kind {
                Kind::File => {}
                Kind::Folder if path.split('/').count() <= 4 => self.check_folder(&path, left)?,
                _ => {
                    return Err(io::Error::other(format!(
                        "`{path}` is neither a file nor a folder of objects"
                    )));
                }
            }
        }
        Ok(())
    }

    fn refused(&self, why: &str, error: io::Error) -> Error {
        let what = format!("bring back what was done inside: the git folder `{}` {why}", self.path.display());
        Error::new(ErrorKind::Git, what).with_source(error)
    }
}

/// Lists the commits that a log names, the last ones first.
fn logged(log: &[u8]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for line in log.split(|byte| *byte == b'\n').rev() {
        if let Some(id) = entry(line).filter(|id| !ids.iter().any(|known| known == id)) {
            ids.push(id.to_owned());
        }
        if ids.len() == MAX_LOGGED {
            break;
        }
    }
    ids
}

/// Reads the new id of a line `old new name <mail> seconds zone`, a tab, and what was done.
fn entry(line: &[u8]) -> Option<&str> {
    let facts = std::str::from_utf8(line.split(|byte| *byte == b'\t').next()?).ok()?;
    let mut ids = facts.split(' ');
    let (old, new) = (ids.next()?, ids.next()?);
    (is_id(old) && is_id(new)).then_some(new)
}
