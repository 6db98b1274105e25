//! What a work tree and the names of its repository were at one moment, so that what changes afterwards can be undone.
//!
//! [`Memory::of`] looks, [`Memory::restore`] looks again and puts back what differs: `files` byte for byte, what is `staged`, and
//! the `names` of commits. Whatever is undone becomes a commit on a branch first, so that nothing gets lost by it. What is `unkept`,
//! because git ignores it or it is another repository, cannot be put back; that it has changed is seen.

mod files;
mod names;
mod staged;
mod unkept;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::files::{Changed, Files, Look};
use self::names::{Names, Renamed};
use self::staged::Staged;
use self::unkept::Unkept;
use super::{Git, Refs, Repository};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

/// How often is looked again whether there is more: a file that says what is ignored may hide others.
const ROUNDS: u32 = 3;
/// How many branches may hold what was undone of one run.
const MAX_BRANCHES: u32 = 50;

/// What a work tree and the names of its repository were.
#[derive(Debug)]
pub(crate) struct Memory {
    repository: Repository,
    limit: Duration,
    files: Files,
    staged: Staged,
    names: Names,
    unkept: Unkept,
    /// A folder that changes meanwhile, and is nobody's work.
    ours: PathBuf,
    log_end: u64,
}

/// Says who can tell which refs were changed by whoever is watched.
#[derive(Clone, Debug)]
pub(crate) enum Witness {
    /// Nobody: others use the same refs. What was changed from the work tree that is looked at is picked.
    Nobody,
    /// These are the refs as they were right before what was done in a folder of its own was taken over.
    Outside(Refs),
}

/// What was undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Undone {
    pub(crate) paths: Vec<PathBuf>,
    /// Full names of refs, `HEAD`, and `index`.
    pub(crate) refs: Vec<String>,
    /// The branch that holds it all.
    pub(crate) rescue: Option<BranchName>,
    /// What could not be undone.
    pub(crate) left: Vec<String>,
}

impl Undone {
    pub(crate) fn is_nothing(&self) -> bool {
        self.paths.is_empty() && self.refs.is_empty() && self.left.is_empty()
    }
}

/// What is not as it was.
struct Difference {
    files: Option<Changed>,
    /// Files that are too large to be undone.
    large: Vec<PathBuf>,
    staged: Option<Staged>,
    names: Renamed,
}

impl Memory {
    /// Looks at a work tree and the names of its repository. Each call of git that reads files may take `limit`. What git does
    /// not keep in the folder `ours` is not looked at.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] or [`ErrorKind::Io`] when they cannot be read.
    pub(crate) async fn of(repository: &Repository, ours: &Path, limit: Duration) -> Result<Self> {
        let log_end = repository.head_log_end();
        let names = Names::of(repository).await?;
        let staged = Staged::of(repository).await?;
        let files = Files::of(repository, limit).await?;
        let unkept = files.unkept(ours, staged.repositories()).await?;
        let (repository, ours) = (repository.clone(), ours.to_path_buf());
        Ok(Self { repository, limit, files, staged, names, unkept, ours, log_end })
    }

    /// Puts back what is not as it was, and returns what that is. `name` is what the branch is called that holds it.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] or [`ErrorKind::Io`] when it cannot be looked at, or what would be undone not be kept; nothing more is
    /// undone then.
    ///
    /// # Cancel safety
    /// A dropped future leaves the rest as it is. What was to be undone is on its branch by then.
    pub(crate) async fn restore(&mut self, name: &str, witness: &Witness) -> Result<Undone> {
        let (mut undone, mut large) = (Undone::default(), Vec::new());
        for _ in 0..ROUNDS {
            let mut difference = self.difference(witness).await?;
            large = std::mem::take(&mut difference.large);
            if difference.is_none() {
                break;
            }
            undone.rescue = self.keep(&difference, name, undone.rescue.take()).await?;
            if !self.put_back(difference, &mut undone).await {
                break;
            }
        }
        undone.paths.sort();
        undone.paths.dedup();
        undone.refs.dedup();
        undone.left.extend(
            large
                .into_iter()
                .map(|path| format!("`{}` has changed, and is too large to have been kept", path.display())),
        );
        let repositories = self.staged.repositories();
        let unkept = self.unkept.now(self.files.unkept(&self.ours, repositories).await?);
        let unkept = unkept.iter().map(|path| path.display());
        undone.left.extend(unkept.map(|path| {
            format!(
                "`{path}` has changed, and git keeps no copy of it here: it is ignored, or another repository"
            )
        }));
        Ok(undone)
    }

    async fn difference(&self, witness: &Witness) -> Result<Difference> {
        let names = self.names.changed(&self.repository, self.log_end, witness).await?;
        let staged = Staged::of(&self.repository).await?;
        let staged = (!self.staged.is_like(&staged)).then_some(staged);
        let Look { changed, large } = self.files.look().await?;
        Ok(Difference { files: changed, large, staged, names })
    }

    /// Puts back what differs; tells whether all of it could be.
    async fn put_back(&mut self, difference: Difference, undone: &mut Undone) -> bool {
        let Difference { files, staged, names, .. } = difference;
        let before = undone.left.len();
        match names.put_back(&self.repository).await {
            Ok(left) => {
                undone.refs.extend(names.names().into_iter().filter(|name| !left.contains(name)));
                let left = left.into_iter();
                undone
                    .left
                    .extend(left.map(|name| format!("`{name}` has moved again and was left as it is")));
            }
            Err(error) => undone.left.push(format!("failed to {error}")),
        }
        if let Some(now) = staged {
            match self.staged.put_back(&self.repository, &now).await {
                Ok(()) => undone.refs.push("index".to_owned()),
                Err(error) => undone.left.push(format!("failed to {error}")),
            }
        }
        if let Some(changed) = files {
            match self.files.write(&changed).await {
                Ok(()) => undone.paths.extend(changed.paths),
                Err(error) => undone.left.push(format!("failed to {error}")),
            }
        }
        undone.left.len() == before
    }

    /// Makes a commit of what is about to be undone, and a branch for it; `None` where all of it is held by other names.
    async fn keep(
        &self,
        difference: &Difference,
        name: &str,
        kept: Option<BranchName>,
    ) -> Result<Option<BranchName>> {
        let lost = self.lost(&difference.names).await?;
        if difference.files.is_none() && difference.staged.is_none() && lost.is_empty() {
            return Ok(kept);
        }
        let git = signed(self.repository.git().clone().timeout(self.limit));
        let head = self.repository.head().await?.commit.or_else(|| self.names.head.commit.clone());
        let mut parents: Vec<String> = head.iter().map(ToString::to_string).collect();
        if let Some(kept) = &kept {
            parents.extend(self.repository.tip(kept).await?.map(|tip| tip.to_string()));
        }
        if difference.staged.is_some()
            && let Some(tree) = self.repository.git().ask(["write-tree"]).await?.line()
        {
            let head = &parents[..parents.len().min(1)];
            parents.push(commit(&git, tree, head, "staged while the agent could only speak").await?);
        }
        parents.extend(lost.into_iter().filter(|tip| !parents.contains(tip)).collect::<Vec<_>>());
        let tree = difference.files.as_ref().map_or(&self.files.tree, |changed| &changed.tree);
        let made = commit(&git, tree, &parents, "changed while the agent could only speak").await?;
        self.name(name, CommitId::from_git(made), kept).await.map(Some)
    }

    /// Lists the commits that nothing leads to once the names are put back.
    async fn lost(&self, names: &Renamed) -> Result<BTreeSet<String>> {
        let held: Vec<CommitId> = self.names.commits().map(CommitId::from_git).collect();
        let held: Vec<&CommitId> = held.iter().collect();
        let mut lost = BTreeSet::new();
        for tip in names.tips() {
            if let Some(commit) = self.repository.resolve(&tip).await?
                && !self.repository.is_held(&commit, &held).await?
            {
                lost.insert(commit.to_string());
            }
        }
        Ok(lost)
    }

    /// Gives a commit a name that no other has, or the one that was kept before.
    async fn name(&self, name: &str, commit: CommitId, kept: Option<BranchName>) -> Result<BranchName> {
        if let Some(kept) = kept {
            let tip = self.repository.tip(&kept).await?;
            if self.repository.move_branch(&kept, tip.as_ref(), &commit).await? {
                return Ok(kept);
            }
        }
        for number in 1..=MAX_BRANCHES {
            let branch = match number {
                1 => name.to_owned(),
                number => format!("{name}-{number}"),
            };
            let branch = BranchName::from_git(branch);
            if self.repository.create_branch(&branch, &commit).await? {
                return Ok(branch);
            }
        }
        let what = format!("name what is to be undone: there are {MAX_BRANCHES} branches `{name}` already");
        Err(Error::new(ErrorKind::Git, what))
    }
}

impl Difference {
    fn is_none(&self) -> bool {
        self.files.is_none() && self.staged.is_none() && self.names.is_empty()
    }
}

async fn commit(git: &Git, tree: &str, parents: &[String], message: &str) -> Result<String> {
    let parents = parents.iter().flat_map(|parent| ["-p", parent]);
    let args = ["commit-tree", tree].into_iter().chain(parents).chain(["-m", message]);
    let answer = git.does("keep what is to be undone", args).await?;
    Ok(answer.line().unwrap_or_default().to_owned())
}

/// Signs commits that nobody made.
fn signed(git: Git) -> Git {
    ["AUTHOR", "COMMITTER"].iter().fold(git, |git, role| {
        git.env(format!("GIT_{role}_NAME"), "sandcastle")
            .env(format!("GIT_{role}_EMAIL"), "sandcastle@localhost")
    })
}
