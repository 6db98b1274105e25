//! A work tree and a copy of it somewhere else that shares no files with it: bundles to and fro.
//!
//! What is sent is the branch that is checked out, and the files as they are. What comes back is whatever was made of it. Both
//! sides make the same commit of the same files, so that it is known without asking what the other has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Mutex;

use super::command::Git;
use super::passage::Passage;
use super::refs::branch_ref;
use super::repository::Repository;
use super::takeover::{Checkout, State, Takeover, is_id, is_name};
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;

/// The name of a bundle that came.
const INCOMING: &str = "incoming.bundle";
/// The name of one that goes.
const OUTGOING: &str = "outgoing.bundle";

/// Keeps a work tree and its copy elsewhere at one level.
#[derive(Debug)]
pub(crate) struct Exchange {
    repository: Repository,
    /// Where bundles lie on their way; outside of the work tree, so that they are there when it has gone.
    folder: PathBuf,
    limit: Duration,
    /// What is sent besides the branch, once and without a name.
    besides: Vec<CommitId>,
    level: Mutex<Level>,
}

/// What both sides have.
#[derive(Clone, Debug, Default)]
struct Level {
    state: Option<State>,
    /// The commits of the files and of what is staged.
    files: Option<String>,
    staged: Option<String>,
    own: BTreeSet<String>,
    besides: Vec<CommitId>,
}

/// What is to be sent.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// A file with the bundle; empty if the other side has it all.
    pub(crate) bundle: PathBuf,
    /// `sha1` or `sha256`.
    pub(crate) format: String,
    /// What is to be checked out: the full name of a branch, or a commit.
    pub(crate) head: String,
    /// The commits of the files: those that are there, and those that are to be.
    pub(crate) there: Option<String>,
    pub(crate) files: String,
    pub(crate) staged: Option<String>,
    level: Level,
}

impl Parcel {
    /// Returns the commit that is to be checked out.
    pub(crate) fn commit(&self) -> Option<&str> {
        let State { head, refs } = self.level.state.as_ref()?;
        match head {
            Checkout::Branch(name) => refs.get(name).map(String::as_str),
            Checkout::Commit(id) => Some(id),
        }
    }
}

impl Exchange {
    /// Begins with a work tree that nobody else has yet. Bundles lie in `folder`.
    pub(crate) fn new(repository: Repository, folder: PathBuf, limit: Duration) -> Self {
        Self { repository, folder, limit, besides: Vec::new(), level: Mutex::default() }
    }

    /// Sends these commits as well.
    pub(crate) fn with(self, besides: Vec<CommitId>) -> Self {
        Self { besides, ..self }
    }

    /// Returns where a bundle is to be put that comes.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.folder.join(INCOMING)
    }

    /// Lists the commits that the other side need not send.
    pub(crate) async fn known(&self) -> Vec<String> {
        self.level.lock().await.ids().into_iter().map(str::to_owned).collect()
    }

    /// Makes a parcel of what the other side does not have; `None` if it has everything.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git cannot read the work tree or write the bundle.
    pub(crate) async fn pack(&self) -> Result<Option<Parcel>> {
        let old = self.level.lock().await.clone();
        let (head, refs) = self.repository.head_and_refs().await?;
        let commit = head.commit.as_ref().map(ToString::to_string);
        let name = branch_ref(&head.branch);
        let is_on_branch = refs.get(&name).is_some() || commit.is_none();
        let checkout = match (&commit, is_on_branch) {
            (Some(commit), false) => Checkout::Commit(commit.clone()),
            _ => Checkout::Branch(name.clone()),
        };
        let mut state = State { head: checkout, refs: old.state.clone().unwrap_or_default().refs };
        if let (true, Some(commit)) = (is_on_branch, &commit) {
            state.refs.insert(name.clone(), commit.clone());
        }
        let snapshot = self.repository.snapshot(self.limit).await?;
        let git = signed(self.repository.git().clone());
        let files = made(&git, "files", &snapshot.files, commit.as_deref()).await?;
        let staged = match &snapshot.staged {
            Some(tree) => Some(made(&git, "staged", tree, commit.as_deref()).await?),
            None => commit.clone(),
        };
        let mut own = old.own.clone();
        if old.state.is_none() && is_on_branch {
            own.insert(name.clone());
        }
        let (files_there, staged_there) = (Some(files.clone()), staged.clone());
        let besides = self.besides.clone();
        let level =
            Level { state: Some(state.clone()), files: files_there, staged: staged_there, own, besides };
        if (&old.state, &old.files, &old.staged) == (&level.state, &level.files, &level.staged) {
            return Ok(None);
        }
        let bundle = self.folder.join(OUTGOING);
        let write =
            |error| Error::new(ErrorKind::Io, format!("write `{}`", bundle.display())).with_source(error);
        std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(&bundle, "")).map_err(write)?;
        let mut names = vec![("refs/sandcastle/files", files.as_str())];
        names.extend(staged.as_deref().map(|staged| ("refs/sandcastle/staged", staged)));
        names.extend(commit.as_deref().filter(|_| is_on_branch).map(|commit| (name.as_str(), commit)));
        let besides: Vec<String> =
            (0..self.besides.len()).map(|number| format!("refs/sandcastle/besides/{number}")).collect();
        names.extend(besides.iter().map(String::as_str).zip(self.besides.iter().map(CommitId::as_str)));
        Passage::beside(&self.repository).await?.bundle(&bundle, &names, &old.ids()).await?;
        let listing = self.repository.git().listing().await?;
        let format = listing.own_value("extensions.objectformat").unwrap_or(b"sha1");
        let head = match &state.head {
            Checkout::Branch(name) => name.clone(),
            Checkout::Commit(id) => id.clone(),
        };
        let format = String::from_utf8_lossy(format).into_owned();
        Ok(Some(Parcel { bundle, format, head, there: old.files, files, staged, level }))
    }

    /// Notes that a parcel has arrived.
    pub(crate) async fn arrived(&self, parcel: Parcel) {
        *self.level.lock().await = parcel.level;
        let _ = std::fs::remove_file(&parcel.bundle);
    }

    /// Takes over what the other side says that it has; the bundle with it is in [`Exchange::incoming`]. Returns what is to be
    /// warned of.
    ///
    /// # Errors
    /// [`ErrorKind::Sync`] when it cannot be taken over. The bundle is kept then, and nothing in the work tree has changed,
    /// unless the message says so.
    pub(crate) async fn take(&self, said: &str) -> Result<Vec<String>> {
        let mut level = self.level.lock().await;
        let offer = Offer::read(said).ok_or_else(|| {
            Error::new(ErrorKind::Sync, "bring back what was done inside: what git says there makes no sense")
        })?;
        let taken = self.take_offer(&level, &offer).await;
        let (own, notes) = taken.map_err(|error| self.kept(error))?;
        level.state = Some(offer.state);
        level.files = Some(offer.files);
        level.staged = offer.staged;
        level.own = own;
        let _ = std::fs::remove_file(self.incoming());
        Ok(notes)
    }

    /// Removes the folder of the bundles, unless one lies in it that could not be taken over.
    pub(crate) fn forget(&self) {
        let is_kept = std::fs::metadata(self.incoming()).is_ok_and(|bundle| bundle.len() > 0);
        if !is_kept {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    async fn take_offer(&self, level: &Level, offer: &Offer) -> Result<(BTreeSet<String>, Vec<String>)> {
        let known = level.state.clone().unwrap_or_default();
        known.check_size(&offer.state)?;
        let passage = Passage::beside(&self.repository).await?;
        if std::fs::metadata(self.incoming()).is_ok_and(|bundle| bundle.len() > 0) {
            passage.unbundle(&self.incoming(), &level.ids()).await?;
        }
        let mut tips = known.tips(&offer.state);
        tips.insert(&offer.files);
        tips.extend(offer.staged.as_deref());
        passage.bring(&self.repository, &tips, &[]).await?;
        self.bring_files(level, &offer.files).await?;
        let mut own = level.own.clone();
        let name =
            self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut takeover = Takeover { repository: &self.repository, name: &name, own: &mut own };
        let mut notes = takeover.take(&known, &offer.state).await?;
        notes.extend(self.stage(offer).await?);
        if offer.leaves_files {
            notes.push(
                "there are files inside that git cannot add, and that were not brought back".to_owned(),
            );
        }
        Ok((own, notes))
    }

    /// Changes the files that differ, or none of them: git refuses as a whole if one was changed here meanwhile.
    async fn bring_files(&self, level: &Level, files: &str) -> Result<()> {
        let Some(before) = level.files.as_deref().filter(|before| *before != files) else { return Ok(()) };
        let folder = tempfile::tempdir()
            .map_err(|error| Error::new(ErrorKind::Io, "make a temporary folder").with_source(error))?;
        let git = self.repository.git().clone().timeout(self.limit);
        let git = git.env("GIT_INDEX_FILE", folder.path().join("index"));
        git.does("read the files as they were", ["read-tree", before]).await?;
        // Ends with 1 where a file was changed, which the next call finds.
        git.ask(["update-index", "-q", "--refresh"]).await?;
        git.to_its_end()
            .does("write the files that were changed inside", ["read-tree", "-m", "-u", before, files])
            .await?;
        Ok(())
    }

    async fn stage(&self, offer: &Offer) -> Result<Option<String>> {
        let git = self.repository.git().to_its_end();
        let staged = offer.staged.as_deref().unwrap_or("HEAD");
        git.does("stage what was staged inside", ["read-tree", staged]).await?;
        git.ask(["update-index", "-q", "--refresh"]).await?;
        let begun = offer.begun.as_deref().map(|begun| format!("{begun} was begun inside and not ended"));
        Ok(begun)
    }

    fn kept(&self, error: Error) -> Error {
        let bundle = self.incoming();
        let what =
            format!("bring back what was done inside; it is kept as the bundle `{}`", bundle.display());
        let look =
            format!("`git fetch {} 'refs/*:refs/inside/*'` brings it into the repository", bundle.display());
        Error::new(ErrorKind::Sync, what).with_source(error).with_hint(look)
    }
}

impl Level {
    fn ids(&self) -> BTreeSet<&str> {
        let refs = self.state.iter().flat_map(|state| state.refs.values());
        let files = refs.chain(&self.files).chain(&self.staged).map(String::as_str);
        files.chain(self.besides.iter().map(CommitId::as_str)).collect()
    }
}

/// What the other side has.
#[derive(Debug)]
struct Offer {
    state: State,
    files: String,
    staged: Option<String>,
    begun: Option<String>,
    /// Whether there are files that git there could not add.
    leaves_files: bool,
}

impl Offer {
    /// Reads the lines that are said before a bundle.
    fn read(said: &str) -> Option<Self> {
        let (mut head, mut files, mut staged, mut begun, mut leaves_files) = (None, None, None, None, false);
        let mut refs = BTreeMap::new();
        for line in said.lines() {
            let (what, value) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "head" if is_name(value) && value.starts_with("refs/heads/") => {
                    head = Some(Checkout::Branch(value.to_owned()));
                }
                "head" if is_id(value) => head = Some(Checkout::Commit(value.to_owned())),
                "files" if is_id(value) => files = Some(value.to_owned()),
                "staged" if is_id(value) => staged = Some(value.to_owned()),
                "begun" => begun = begun_as(value),
                "left" => leaves_files = !value.is_empty(),
                "ref" => {
                    let (id, name) = value.split_once(' ')?;
                    if is_id(id) && is_name(name) && !name.starts_with("refs/sandcastle/") {
                        refs.insert(name.to_owned(), id.to_owned());
                    }
                }
                _ => {}
            }
        }
        Some(Self { state: State { head: head?, refs }, files: files?, staged, begun, leaves_files })
    }
}

fn begun_as(mark: &str) -> Option<String> {
    let what = match mark {
        "rebase-merge" | "rebase-apply" => "a rebase",
        "MERGE_HEAD" => "a merge",
        "CHERRY_PICK_HEAD" => "a cherry-pick",
        "REVERT_HEAD" => "a revert",
        _ => return None,
    };
    Some(what.to_owned())
}

/// Makes the commit that the other side makes of the same tree.
async fn made(git: &Git, message: &str, tree: &str, parent: Option<&str>) -> Result<String> {
    let parent = parent.into_iter().flat_map(|parent| ["-p", parent]);
    let args = ["commit-tree", "-m", message].into_iter().chain(parent).chain([tree]);
    let answer = git.does("make a commit of the files", args).await?;
    Ok(answer.line().unwrap_or_default().to_owned())
}

fn signed(git: Git) -> Git {
    ["AUTHOR", "COMMITTER"].iter().fold(git, |git, role| {
        git.env(format!("GIT_{role}_NAME"), "sandcastle")
            .env(format!("GIT_{role}_EMAIL"), "sandcastle@localhost")
            .env(format!("GIT_{role}_DATE"), "@0 +0000")
    })
}
