//! A remote with a pull request, somebody who works on it, and a clone.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::forge::{BranchTip, Head, HeadOrigin, PullRequest};
use crate::git::print;
use crate::id::{BranchName, CommitId};
use crate::review::{Checkout, CheckoutOptions};
use crate::testing::ScratchRepo;

/// The number of the pull request.
pub(super) const NUMBER: u64 = 7;

/// A bare repository, which has `main`, `feature` and the pull request from it; the work tree of its author; and a clone that
/// has `main` alone.
pub(super) struct Place {
    pub(super) author: ScratchRepo,
    folder: tempfile::TempDir,
}

impl Place {
    /// Makes it: `feature` has two commits more than `main`, which has moved on by one.
    pub(super) async fn new() -> Self {
        let author = ScratchRepo::new().await.unwrap();
        let place = Self { author, folder: tempfile::tempdir().unwrap() };
        let remote = place.remote();
        place
            .author
            .git(["init", "--quiet", "--bare", "-b", "main", remote.to_str().unwrap()])
            .await
            .unwrap();
        place.author.git(["remote", "add", "origin", remote.to_str().unwrap()]).await.unwrap();
        place.author_commits("shared.txt", "1\n2\n3\n").await;
        place.publish("main").await;
        place.author.git(["switch", "--quiet", "-c", "feature"]).await.unwrap();
        place.author_commits("feature.txt", "a\n").await;
        place.author_commits("feature.txt", "a\nb\n").await;
        place.publish("feature").await;
        place.author.git(["switch", "--quiet", "main"]).await.unwrap();
        place.author_commits("main.txt", "m\n").await;
        place.publish("main").await;
        place.author.git(["switch", "--quiet", "feature"]).await.unwrap();
        place.clone_with(&["--single-branch", "--branch", "main"]).await;
        place
    }

    pub(super) fn remote(&self) -> PathBuf {
        self.folder.path().join("owner/repo.git")
    }

    pub(super) fn here(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    pub(super) fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Clones anew, by a URL, which a shallow clone needs.
    pub(super) async fn clone_with(&self, options: &[&str]) {
        let _ = std::fs::remove_dir_all(self.here());
        let (url, here) = (format!("file://{}", self.remote().display()), self.here());
        let args = ["clone", "--quiet"].into_iter().chain(options.iter().copied());
        self.author.git(args.chain([&*url, here.to_str().unwrap()])).await.unwrap();
        for (key, value) in [("user.name", "Here"), ("user.email", "here@example.invalid")] {
            self.git(&["config", key, value]).await;
        }
    }

    /// Commits a file where the author is, and returns the commit.
    pub(super) async fn author_commits(&self, file: &str, content: &str) -> CommitId {
        self.author.write(file, content).unwrap();
        self.author.git(["add", "--all"]).await.unwrap();
        self.author.git(["commit", "--quiet", "--message", file]).await.unwrap();
        CommitId::from_git(self.author.git(["rev-parse", "HEAD"]).await.unwrap())
    }

    /// Pushes what the author has to a branch, and has the pull request follow.
    pub(super) async fn publish(&self, branch: &str) {
        let to = if branch == "feature" {
            format!("refs/pull/{NUMBER}/head")
        } else {
            format!("refs/heads/{branch}")
        };
        let refspecs = [format!("+HEAD:refs/heads/{branch}"), format!("+HEAD:{to}")];
        let refspecs = if branch == "feature" { &refspecs[..] } else { &refspecs[..1] };
        let args = ["push", "--quiet", "origin"].into_iter().chain(refspecs.iter().map(String::as_str));
        self.author.git(args).await.unwrap();
    }

    pub(super) async fn git(&self, args: &[&str]) -> String {
        print(&self.here(), args).await.unwrap()
    }

    /// Commits a file in the clone, on what is checked out there.
    pub(super) async fn commits(&self, file: &str, content: &str) -> CommitId {
        std::fs::write(self.here().join(file), content).unwrap();
        self.git(&["add", "--all"]).await;
        self.git(&["commit", "--quiet", "--message", file]).await;
        CommitId::from_git(self.git(&["rev-parse", "HEAD"]).await)
    }

    pub(super) async fn remote_tip(&self, branch: &str) -> CommitId {
        let name = format!("refs/heads/{branch}");
        CommitId::from_git(print(&self.remote(), ["rev-parse", "--verify", &name]).await.unwrap())
    }

    pub(super) async fn here_tip(&self, branch: &str) -> CommitId {
        CommitId::from_git(self.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")]).await)
    }

    /// Reads the pull request as a code host would tell of it.
    pub(super) async fn pull_request(&self, origin: HeadOrigin) -> PullRequest {
        let branch = |name| BranchName::new(name).unwrap();
        let base = BranchTip { branch: branch("main"), commit: self.remote_tip("main").await };
        PullRequest::new(NUMBER, base, Head::new(branch("feature"), self.remote_tip("feature").await, origin))
    }

    pub(super) fn options(&self) -> CheckoutOptions {
        CheckoutOptions::new(self.here())
    }

    /// Opens the pull request, from a branch of the same repository.
    pub(super) async fn open(&self) -> Result<Checkout> {
        Checkout::open(&self.pull_request(HeadOrigin::Same).await, &self.options()).await
    }

    /// Everything that the clone has, to see that nothing has changed.
    pub(super) async fn state(&self) -> [String; 3] {
        let refs = self.git(&["for-each-ref", "refs/heads"]).await;
        [refs, self.git(&["status", "--porcelain"]).await, self.git(&["rev-parse", "HEAD"]).await]
    }
}

/// Checks that an error says something, in its words, its causes or its hints.
#[track_caller]
pub(super) fn says(error: &Error, expected: &str) {
    let said = format!("{error:#}");
    assert!(said.contains(expected), "does not say `{expected}`: {said}");
}
