//! A repository with a target `main` and a source `agent`, and what can be done with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Result;
use crate::git::Repository;
use crate::id::{BranchName, CommitId};
use crate::testing::ScratchRepo;
use crate::worktree::{Landed, Landing};

pub(super) struct Place {
    pub(super) scratch: ScratchRepo,
    pub(super) repository: Repository,
    /// The work tree of the agent, on the branch `agent`.
    pub(super) agent: PathBuf,
}

impl Place {
    pub(super) async fn new() -> Self {
        let scratch = ScratchRepo::new().await.unwrap();
        let agent = scratch.path().join(".sandcastle/worktrees/agent");
        scratch.git(["worktree", "add", "--quiet", "-b", "agent", agent.to_str().unwrap()]).await.unwrap();
        // As the folder of worktrees does itself.
        std::fs::write(scratch.path().join(".sandcastle/.gitignore"), "*\n").unwrap();
        let repository = Repository::discover(scratch.path()).await.unwrap();
        Self { scratch, repository, agent }
    }

    pub(super) fn host(&self) -> &Path {
        self.scratch.path()
    }

    pub(super) async fn git(&self, args: &[&str]) -> String {
        self.scratch.git(args).await.unwrap()
    }

    pub(super) async fn agent_git(&self, args: &[&str]) -> String {
        crate::git::print(&self.agent, args).await.unwrap()
    }

    /// Commits a file on the host.
    pub(super) async fn host_commits(&self, file: &str, content: &str) {
        commit(self.host(), file, content).await;
    }

    /// Commits a file as the agent.
    pub(super) async fn agent_commits(&self, file: &str, content: &str) {
        commit(&self.agent, file, content).await;
    }

    pub(super) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.host().join(file)).ok()
    }

    pub(super) async fn tip(&self, branch: &str) -> CommitId {
        self.repository.tip(&BranchName::from_git(branch)).await.unwrap().unwrap()
    }

    pub(super) async fn status(&self) -> String {
        self.git(&["status", "--porcelain"]).await
    }

    pub(super) async fn land(&self) -> Result<Landed> {
        self.land_within(Duration::from_secs(60)).await
    }

    pub(super) async fn land_within(&self, limit: Duration) -> Result<Landed> {
        let tip = self.tip("agent").await;
        land(&self.repository, "agent", &tip, "main", limit).await
    }
}

pub(super) async fn land(
    repository: &Repository,
    source: &str,
    tip: &CommitId,
    target: &str,
    limit: Duration,
) -> Result<Landed> {
    let (source, target) = (&BranchName::from_git(source), &BranchName::from_git(target));
    Landing { repository, source, tip, target, limit }.land().await
}

pub(super) async fn commit(tree: &Path, file: &str, content: &str) {
    std::fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
    std::fs::write(tree.join(file), content).unwrap();
    crate::git::print(tree, ["add", "--all", "."]).await.unwrap();
    crate::git::print(tree, ["commit", "--quiet", "-m", file]).await.unwrap();
}
