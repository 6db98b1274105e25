//! A git folder that stands in for the repository's own inside a sandbox.
//!
//! It is mounted at the path of the repository's git folder. It has its branches and borrows its objects, which are
//! mounted beside it and can only be read; what is committed inside, and whatever else git does there, stays in the stand-in.
//! So no program inside can reach the configuration, the hooks, the branches, the objects or the other work trees of the
//! host, whatever it does to the folder that it takes for them. Afterwards [`StandIn::bring_back`] takes over what was made:
//! commits, new branches and tags, what is checked out, what is staged.
//!
//! Everything in the folder is hostile by then. It is read by our own code, without following a link, or by git in a folder of
//! ours that only looks for objects in it; those are checked by git as if they came from a server.

mod folder;
mod import;
mod layout;
mod state;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use self::folder::Folder;
use self::import::Import;
pub(crate) use self::layout::Seen;
use self::layout::own_part;
use super::refs::{Refs, branch_ref};
use super::repository::{Head, Repository};
use super::takeover::{Checkout, State};
use crate::error::{Error, ErrorKind, Result};
use crate::id::RunId;
use crate::process::ProcessIdentity;

/// The git folder within the folder of a stand-in.
const GIT: &str = "git";
/// What was last the same inside and outside.
const KNOWN: &str = "known.json";
/// The longest such file.
const MAX_KNOWN: u64 = 512 * 1024 * 1024;

/// A git folder for one sandbox. Dropping it leaves it where it is; [`StandIn::remove`] removes it.
#[derive(Debug)]
pub(crate) struct StandIn {
    folder: PathBuf,
    repository: Repository,
    known: Mutex<Level>,
    /// What the repository's own index was when both sides were last the same: what was put back there since has to be seen inside.
    index: Mutex<Option<u64>>,
    owner: ProcessIdentity,
    run: Option<String>,
    /// Who is inside, if that can outlive the owner.
    inhabitant: OnceLock<Inhabitant>,
}

/// A sandbox that has the folder, by what its provider calls it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Inhabitant {
    pub(crate) provider: String,
    pub(crate) id: String,
}

/// What is the same inside and outside, and whose it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Level {
    state: State,
    /// The refs of whoever works inside.
    own: BTreeSet<String>,
}

/// What is written beside the git folder, so that work is found when its maker was killed.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    top: PathBuf,
    level: Level,
    owner: ProcessIdentity,
    run: Option<String>,
    #[serde(default)]
    inhabitant: Option<Inhabitant>,
}

/// What a git folder stands in for.
#[derive(Debug)]
pub(crate) struct Original<'a> {
    /// The repository, aimed at the work tree.
    pub(crate) repository: &'a Repository,
    /// What is checked out and every ref, if that was looked at just now.
    pub(crate) seen: Option<(Head, &'a Refs)>,
    /// The run that it is made for.
    pub(crate) run: Option<&'a RunId>,
}

/// One that was found.
#[derive(Debug)]
pub(crate) enum Left {
    /// Its maker is alive.
    InUse,
    /// Its maker is gone; the run it was made for, if it says so.
    Abandoned(Box<StandIn>, Option<String>),
}

impl StandIn {
    /// Makes one in `folder`, which must not be there. It belongs to this process.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be written, [`ErrorKind::Git`] when the repository cannot be read.
    pub(crate) async fn make(folder: &Path, original: Original<'_>) -> Result<Self> {
        let Original { repository, seen, run } = original;
        let state = match seen {
            Some((head, refs)) => state_of(&head, refs),
            None => {
                let (head, refs) = repository.head_and_refs().await?;
                state_of(&head, &refs)
            }
        };
        let own = match &state.head {
            Checkout::Branch(name) => BTreeSet::from([name.clone()]),
            Checkout::Commit(_) => BTreeSet::new(),
        };
        let level = Level { state, own };
        let listing = repository.git().listing().await?;
        let stand_in = Self {
            folder: folder.to_path_buf(),
            repository: repository.clone(),
            known: Mutex::new(level.clone()),
            index: Mutex::new(index_of(repository)),
            owner: ProcessIdentity::own(),
            run: run.map(ToString::to_string),
            inhabitant: OnceLock::new(),
        };
        let write = || {
            fs::create_dir_all(folder)?;
            layout::lay_out(&stand_in.git(), repository, &listing.output, &level.state)
        };
        if let Err(error) = write().map_err(|error| stand_in.failed("make", error)).and(stand_in.note(&level))
        {
            let _ = fs::remove_dir_all(folder);
            return Err(error);
        }
        Ok(stand_in)
    }

    /// Looks at the one in `folder`; `None` if there is none. `repository` is any work tree of the repository.
    ///
    /// What is written there is a claim: the work tree has to be one that the repository lists, and nothing of the folder may
    /// have come with a commit, since agents make those.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::Git`] when its work tree has gone.
    pub(crate) async fn left_in(folder: &Path, repository: &Repository) -> Result<Option<Left>> {
        let failed = |error| {
            let what = format!("read the git folder of a sandbox in `{}`", folder.display());
            Error::new(ErrorKind::Io, what).with_source(error)
        };
        let Some(text) = super::read_bounded(&folder.join(KNOWN), MAX_KNOWN).map_err(failed)? else {
            return Ok(None);
        };
        let Known { top, level, owner, run, inhabitant } =
            serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
        if owner.is_alive() {
            return Ok(Some(Left::InUse));
        }
        if is_committed(folder, repository).await? {
            let what =
                format!("bring back what was done in a sandbox: `{}` came with a commit", folder.display());
            let hint = "no sandbox was ever there: look at who committed it, and remove it";
            return Err(Error::new(ErrorKind::Git, what).with_hint(hint));
        }
        let listed =
            repository.worktrees().await?.into_iter().find(|listed| listed.path == super::real_path(&top));
        let Some(git_dir) = listed.and_then(|listed| listed.git_dir) else {
            let (top, folder) = (top.display(), folder.display());
            let what = format!("bring back what was done in a sandbox: its worktree `{top}` has gone");
            return Err(
                Error::new(ErrorKind::Git, what).with_hint(format!("its git folder is `{folder}/{GIT}`"))
            );
        };
        let repository = repository.aimed_at(&top, &git_dir);
        let (folder, known) = (folder.to_path_buf(), Mutex::new(level));
        let index = Mutex::new(index_of(&repository));
        let inhabitant = inhabitant.map_or_else(OnceLock::new, OnceLock::from);
        let stand_in = Self { folder, repository, known, index, owner, run: run.clone(), inhabitant };
        Ok(Some(Left::Abandoned(Box::new(stand_in), run)))
    }

    /// Notes the sandbox that has it, so that it can be ended first when this process was killed.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be written.
    pub(crate) async fn give_to(&self, inhabitant: Inhabitant) -> Result<()> {
        let known = self.known.lock().await;
        let _ = self.inhabitant.set(inhabitant);
        self.note(&known)
    }

    /// Returns the sandbox that has it.
    pub(crate) fn inhabitant(&self) -> Option<&Inhabitant> {
        self.inhabitant.get()
    }

    /// Lists what has to be mounted, parents before children. The work tree is not part of it.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        layout::seen(&self.git(), &self.repository)
    }

    /// Takes over what was done inside since the last time, and returns what is to be warned of. What fails leaves everything
    /// inside as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when something was done inside and cannot be taken over; the message says where it is.
    ///
    /// # Cancel safety
    /// A dropped future leaves the rest to the next call.
    pub(crate) async fn bring_back(&self) -> Result<Vec<String>> {
        let mut known = self.known.lock().await;
        let git = Folder::open(&self.git()).map_err(|error| self.lost(error))?;
        let now = State::read(&git, &own_part(&self.repository)).map_err(|error| self.lost(error))?;
        let import =
            Import { folder: &git, path: &self.git(), repository: &self.repository, name: &self.name() };
        let mut own = known.own.clone();
        let notes = import.bring(&known.state, &now, &mut own).await.map_err(|error| {
            error.with_hint(format!("what was done inside is kept in `{}`", self.folder.display()))
        })?;
        if known.state != now {
            let level = Level { state: now, own };
            self.note(&level)?;
            *known = level;
        }
        *self.index.lock().await = index_of(&self.repository);
        Ok(notes)
    }

    /// Has git inside see the repository as it is now. What was done inside must have been brought back.
    ///
    /// # Errors
    /// As those of [`StandIn::make`].
    pub(crate) async fn follow(&self) -> Result<()> {
        let mut known = self.known.lock().await;
        let (head, refs) = self.repository.head_and_refs().await?;
        let (state, index) = (state_of(&head, &refs), index_of(&self.repository));
        let mut known_index = self.index.lock().await;
        if known.state == state && *known_index == index {
            return Ok(());
        }
        Folder::open(&self.git())
            .and_then(|git| layout::fill(&git, &self.repository, &state))
            .map_err(|error| self.failed("refresh", error))?;
        let level = Level { state, own: known.own.clone() };
        self.note(&level)?;
        (*known, *known_index) = (level, index);
        Ok(())
    }

    /// Removes it, with all that was not brought back.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when something of it stays.
    pub(crate) fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.folder).map_err(|error| self.failed("remove", error))
    }

    #[cfg(test)]
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn git(&self) -> PathBuf {
        self.folder.join(GIT)
    }

    /// Names it in refs.
    fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn note(&self, level: &Level) -> Result<()> {
        let top = self.repository.top().unwrap_or(self.repository.common_dir()).to_path_buf();
        let (owner, run) = (self.owner.clone(), self.run.clone());
        let inhabitant = self.inhabitant.get().cloned();
        let known = Known { top, level: level.clone(), owner, run, inhabitant };
        let write = || {
            let text = serde_json::to_vec(&known)?;
            Folder::open(&self.folder)?.replace(KNOWN, &text)
        };
        write().map_err(|error| self.failed("note the state of", error))
    }

    fn failed(&self, what: &str, error: std::io::Error) -> Error {
        let folder = self.folder.display();
        Error::new(ErrorKind::Io, format!("{what} the git folder of a sandbox in `{folder}`"))
            .with_source(error)
    }

    fn lost(&self, error: std::io::Error) -> Error {
        let folder = self.folder.display();
        let what = format!("bring back what was done in a sandbox: its git folder `{folder}` cannot be read");
        Error::new(ErrorKind::Git, what).with_source(error)
    }
}

/// Tells whether git has anything of a folder in the user's own work tree, where an agent's commits land.
async fn is_committed(folder: &Path, repository: &Repository) -> Result<bool> {
    let Ok(inside) = folder.strip_prefix(repository.home()) else { return Ok(false) };
    let users = repository.aimed_at(repository.home(), repository.common_dir());
    let git = users.git().clone().env("GIT_LITERAL_PATHSPECS", "1");
    let args = [Path::new("ls-files"), Path::new("--"), inside];
    Ok(!git.does("look for files that came with a commit", args).await?.stdout.is_empty())
}

/// Tells one state of an index from another; `None` if there is none.
fn index_of(repository: &Repository) -> Option<u64> {
    let bytes = super::read_bounded(&repository.git_dir().join("index"), layout::MAX_INDEX).ok()??;
    Some(std::hash::BuildHasher::hash_one(
        &std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default(),
        bytes,
    ))
}

fn state_of(head: &Head, refs: &Refs) -> State {
    let refs: std::collections::BTreeMap<String, String> = refs
        .iter()
        .filter(|(name, _)| !is_of_the_host(name))
        .map(|(name, id)| (name.to_owned(), id.to_string()))
        .collect();
    let head = match (&head.commit, head.branch.as_str()) {
        (Some(commit), "HEAD") => Checkout::Commit(commit.to_string()),
        _ => Checkout::Branch(branch_ref(&head.branch)),
    };
    State { head, refs }
}

/// Names the refs that nobody inside needs: what the user has put aside, and what was kept of other sandboxes.
fn is_of_the_host(name: &str) -> bool {
    name == "refs/stash" || name.starts_with("refs/sandcastle/")
}

#[cfg(test)]
mod tests;
