//! Worktrees against real git: one scene, and a file per question.

mod crowds;
mod gathering;
mod keeping;
mod opening;
mod pruning;
mod shapes;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{BranchStrategy, Fate, Place, Plan};
use crate::error::Result;
use crate::git::{self, Repository};
use crate::id::RunId;
use crate::testing::ScratchRepo;

const LIMIT: Duration = Duration::from_secs(60);

/// A scratch repository, and the repository as the code sees it.
struct Scene {
    repo: ScratchRepo,
    repository: Repository,
}

impl Scene {
    async fn new() -> Self {
        let repo = ScratchRepo::new().await.unwrap();
        let repository = Repository::discover(repo.path()).await.unwrap();
        Self { repo, repository }
    }

    /// The same repository, named in the environment as well as by the folder.
    fn aimed(mut self) -> Self {
        let top = self.repository.top().unwrap().to_path_buf();
        let git_dir = self.repository.git_dir().to_path_buf();
        self.repository = self.repository.aimed_at(&top, &git_dir);
        self
    }

    async fn plan(&self, strategy: BranchStrategy) -> Result<Plan> {
        Plan::new(&self.repository, &strategy, &RunId::generate(), None).await
    }

    async fn open(&self, branch: &str) -> Result<Place> {
        self.plan(BranchStrategy::branch(branch)).await?.open(1, LIMIT).await
    }

    async fn git<const N: usize>(&self, args: [&str; N]) -> String {
        self.repo.git(args).await.unwrap()
    }

    async fn branches(&self) -> Vec<String> {
        let branches = self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]).await;
        branches.lines().map(str::to_owned).collect()
    }

    fn worktrees(&self) -> PathBuf {
        self.repo.path().join(".sandcastle/worktrees")
    }

    async fn commit(&self, file: &str) -> String {
        commit(self.repo.path(), file).await
    }
}

/// Does git's work as an agent or a person would.
async fn git_in<const N: usize>(top: &Path, args: [&str; N]) -> String {
    git::print(top, args).await.unwrap()
}

/// Commits a new file and returns the commit.
async fn commit(top: &Path, file: &str) -> String {
    fs::write(top.join(file), file).unwrap();
    git_in(top, ["add", "--all"]).await;
    git_in(top, ["commit", "--quiet", "--message", file]).await;
    git_in(top, ["rev-parse", "HEAD"]).await
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The bare repository that the scene pushes to and fetches from.
async fn remote(scene: &Scene) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git_in(folder.path(), ["init", "--quiet", "--bare", "--initial-branch=main"]).await;
    scene.git(["remote", "add", "origin", folder.path().to_str().unwrap()]).await;
    scene.git(["push", "--quiet", "origin", "main"]).await;
    folder
}

async fn finished(place: Place) -> super::Closed {
    place.close(Fate::Finished { landed: false }).await
}
