//! What was done in a stand-in, taken over into the repository.
//!
//! First the objects: git fetches them from a folder of ours that has nothing but the ids which were found and looks for
//! objects in the stand-in, and checks them as it checks those of a server. Then the refs, each from the value that it had
//! before; then what is checked out and what is staged. A ref that is somebody else's is never moved: what was made of it
//! inside is kept under `refs/sandcastle/` and named.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::TempDir;

use super::folder::{Folder, Kind};
use super::layout::{ALTERNATES, MAX_INDEX, own_part};
use super::state::{Checkout, State, is_id};
use crate::error::{Error, ErrorKind, Result};
use crate::git::borrowed::Borrowed;
use crate::git::{Git, Repository, read_bounded};

/// How much of a log is read.
const MAX_LOG: u64 = 4 * 1024 * 1024;
/// How many commits that only a log names are taken over.
const MAX_LOGGED: usize = 1000;
/// How many files of objects are looked at.
const MAX_OBJECTS: usize = 5_000_000;
/// What the ids are called on the way.
const INCOMING: &str = "refs/sandcastle/incoming";

/// Checks of objects that say nothing about their safety; old commits fail them.
const LENIENT: &[&str] = &[
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "multipleAuthors",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
    "badFilemode",
];

/// What is taken over from where to where.
pub(super) struct Import<'a> {
    /// The git folder of the stand-in, and its path.
    pub(super) folder: &'a Folder,
    pub(super) path: &'a Path,
    pub(super) repository: &'a Repository,
    /// What the stand-in is called in refs.
    pub(super) name: &'a str,
}

/// One ref that is not what it was.
struct Moved<'a> {
    name: &'a str,
    from: Option<&'a str>,
    to: &'a str,
}

impl Import<'_> {
    /// Takes over the difference between two states, and what is staged.
    pub(super) async fn bring(&self, known: &State, now: &State) -> Result<Vec<String>> {
        let own = own_part(self.repository);
        let read = |error| self.refused("cannot be read", error);
        let index = self.folder.read(own.join("index"), MAX_INDEX).map_err(read)?;
        let is_staged =
            index != read_bounded(&self.repository.git_dir().join("index"), MAX_INDEX).map_err(read)?;
        if known == now && !is_staged {
            return Ok(self.unfinished());
        }
        let log = self.folder.read(own.join("logs/HEAD"), MAX_LOG).ok().flatten().unwrap_or_default();
        self.check_objects()?;
        let passage = Passage::over(self.path, self.repository).await?;
        let mut notes = Vec::new();
        let tree = match &index {
            Some(index) if is_staged => passage.tree_of(index).await?,
            _ => None,
        };
        let moved = moved(known, now);
        let logged = logged(&log);
        let logged: Vec<String> =
            logged.into_iter().filter(|id| !known.refs.values().any(|old| old == id)).collect();
        let tips: BTreeSet<&str> = moved
            .iter()
            .map(|moved| moved.to)
            .chain(match &now.head {
                Checkout::Commit(id) => Some(id.as_str()),
                Checkout::Branch(_) => None,
            })
            .chain(tree.as_deref())
            .collect();
        passage.bring(self.repository, &tips, &logged).await?;
        self.continue_log(&log)?;
        let own_ref = self.own_ref(known, now);
        for moved in &moved {
            notes.extend(self.apply(moved, own_ref).await?);
        }
        self.check_out(now, &mut notes).await?;
        if is_staged {
            notes.extend(self.stage(index.as_deref(), tree.is_some()).await?);
        }
        notes.extend(self.unfinished());
        Ok(notes)
    }

    /// Names the ref that belongs to whoever works inside: the branch that was checked out when it began.
    fn own_ref<'s>(&self, known: &'s State, _now: &State) -> Option<&'s str> {
        match &known.head {
            Checkout::Branch(name) => Some(name),
            Checkout::Commit(_) => None,
        }
    }

    /// Moves one ref, or keeps aside what was made of it.
    async fn apply(&self, moved: &Moved<'_>, own: Option<&str>) -> Result<Option<String>> {
        let Moved { name, from, to } = moved;
        let is_own = own == Some(name);
        let is_new = from.is_none() && (name.starts_with("refs/heads/") || name.starts_with("refs/tags/"));
        if name.starts_with("refs/remotes/") {
            return Ok(None);
        }
        if is_own || is_new {
            let zero = "0".repeat(to.len());
            let line = format!("update {name} {to} {}\n", from.unwrap_or(&zero));
            let args = ["update-ref", "--create-reflog", "-m", "sandcastle: work of a sandbox", "--stdin"];
            let answer = self.repository.git().to_its_end().feed(args, line.into_bytes()).await?;
            if answer.is_success() {
                return Ok(None);
            }
        }
        let aside = format!("refs/sandcastle/{}/{}", self.name, name.trim_start_matches("refs/"));
        let args = ["update-ref", "-m", "sandcastle: work of a sandbox", &aside, to];
        self.repository.git().to_its_end().does("keep what was made inside", args).await?;
        if is_own {
            let what = format!("move `{name}` to {to:.12}: it was moved by somebody else meanwhile");
            return Err(
                Error::new(ErrorKind::Git, what).with_hint(format!("what was done inside is `{aside}`"))
            );
        }
        Ok(Some(format!(
            "`{name}` is not the agent's own and was not moved; what was made of it inside is kept as `{aside}`"
        )))
    }

    /// Has the work tree check out what is checked out inside; no file changes by that.
    async fn check_out(&self, now: &State, notes: &mut Vec<String>) -> Result<()> {
        let git = self.repository.git().to_its_end();
        let there = git.ask(["symbolic-ref", "--quiet", "HEAD"]).await?;
        let there = there.line().map(str::to_owned);
        let what = "check out what is checked out inside";
        match &now.head {
            Checkout::Branch(name) if there.as_deref() == Some(name) => Ok(()),
            Checkout::Branch(name) => {
                let is_same = match now.refs.get(name) {
                    Some(id) => self.repository.resolve(name).await?.is_some_and(|tip| tip.as_str() == id),
                    None => true,
                };
                if is_same {
                    git.does(what, ["symbolic-ref", "-m", "sandcastle: as inside", "HEAD", name]).await?;
                } else if let Some(id) = now.refs.get(name) {
                    git.does(what, ["update-ref", "--no-deref", "-m", "sandcastle: as inside", "HEAD", id])
                        .await?;
                    notes
                        .push(format!("`{name}` is checked out inside and is another commit here: {id:.12}"));
                }
                Ok(())
            }
            Checkout::Commit(id) => {
                let is_there = there.is_none()
                    && self.repository.resolve("HEAD").await?.is_some_and(|at| at.as_str() == id);
                if !is_there {
                    git.does(what, ["update-ref", "--no-deref", "-m", "sandcastle: as inside", "HEAD", id])
                        .await?;
                }
                Ok(())
            }
        }
    }

    /// Takes over the index. Its paths and its objects were checked with its tree; one that has none, in the middle of a merge,
    /// is replaced by that of the commit, and the files stay as they are.
    async fn stage(&self, index: Option<&[u8]>, has_tree: bool) -> Result<Option<String>> {
        if let (Some(index), true) = (index, has_tree) {
            let target = self.repository.git_dir().join("index");
            let lock = self.repository.git_dir().join("index.lock");
            let write = || -> io::Result<()> {
                let mut file = fs::File::options().write(true).create_new(true).open(&lock)?;
                let written = file.write_all(index).and_then(|()| fs::rename(&lock, &target));
                if written.is_err() {
                    let _ = fs::remove_file(&lock);
                }
                written
            };
            write().map_err(|error| self.refused("cannot be staged as inside", error))?;
            return Ok(None);
        }
        let git = self.repository.git().to_its_end();
        git.does("stage what is checked out", ["read-tree", "HEAD"]).await?;
        Ok(Some(
            "what was staged inside has conflicts and was not taken over; the files are as they were"
                .to_owned(),
        ))
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

/// A git folder of ours that has the objects of a stand-in and nothing else of it.
struct Passage {
    folder: TempDir,
    git: Git,
}

impl Passage {
    async fn over(stand_in: &Path, repository: &Repository) -> Result<Self> {
        let objects = [stand_in.join("objects"), repository.common_dir().join("objects")];
        let (folder, git) = Borrowed::passage(repository, &objects).await?;
        Ok(Self { folder, git })
    }

    /// Writes the tree of an index; `None` if it has none.
    async fn tree_of(&self, index: &[u8]) -> Result<Option<String>> {
        let file = self.folder.path().join("index");
        fs::write(&file, index)
            .map_err(|error| Error::new(ErrorKind::Io, "copy what was staged inside").with_source(error))?;
        let git = self.git.clone().env("GIT_INDEX_FILE", &file);
        Ok(git.ask(["write-tree"]).await?.line().filter(|id| is_id(id)).map(str::to_owned))
    }

    /// Fetches objects, those of `logged` if they are there.
    async fn bring(&self, repository: &Repository, tips: &BTreeSet<&str>, logged: &[String]) -> Result<()> {
        let there = self.there(logged).await?;
        let ids: BTreeSet<&str> = tips.iter().copied().chain(there.iter().map(String::as_str)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let refs = ids.iter().enumerate().map(|(number, id)| format!("{id} {INCOMING}/{number}\n"));
        fs::write(self.folder.path().join("packed-refs"), refs.collect::<String>())
            .map_err(|error| Error::new(ErrorKind::Io, "name what was made inside").with_source(error))?;
        let lenient = LENIENT.iter().flat_map(|id| ["-c".to_owned(), format!("fetch.fsck.{id}=ignore")]);
        let from = self.folder.path().to_string_lossy().into_owned();
        let args = [
            "-c",
            "fetch.fsckObjects=true",
            "-c",
            "fetch.writeCommitGraph=false",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-show-forced-updates",
            "--",
            &from,
        ];
        let args =
            lenient.chain(args.into_iter().map(str::to_owned)).chain([format!("+{INCOMING}/*:{INCOMING}/*")]);
        let target = Borrowed::knowing(repository).await?;
        let answer = target.git().reach(args).await?;
        if answer.is_success() {
            Ok(())
        } else {
            Err(answer.refused("take over what was made inside", self.folder.path()))
        }
    }

    /// Returns those of some commits that are there with all that they need.
    async fn there(&self, ids: &[String]) -> Result<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let answer = self
            .git
            .feed(["cat-file", "--batch-check=%(objectname) %(objecttype)"], lines.into_bytes())
            .await?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let commits = text.lines().filter_map(|line| line.strip_suffix(" commit"));
        Ok(commits.map(str::to_owned).collect())
    }
}

fn moved<'a>(known: &'a State, now: &'a State) -> Vec<Moved<'a>> {
    let moved = now.refs.iter().filter_map(|(name, to)| {
        let from = known.refs.get(name).map(String::as_str);
        (from != Some(to.as_str())).then_some(Moved { name, from, to })
    });
    moved.collect()
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
