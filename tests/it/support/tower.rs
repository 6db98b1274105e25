//! The branches of the pull request that the GitHub of loopback has, in a repository and its remote.

use std::path::Path;

use sandcastle::testing::ScratchRepo;

/// Where the pull request stands: `tower` is to be brought into `release`.
#[derive(Debug)]
pub(crate) struct Tower {
    pub(crate) head: String,
    pub(crate) base: String,
}

impl Tower {
    /// Builds both branches, pushes them to a new remote, and forgets `tower` here; `release` is checked out. These lines of
    /// `src/lib.rs` have changed in `release` since `tower` was begun.
    pub(crate) async fn build(repository: &ScratchRepo, remote: &Path, changed: &[(usize, &str)]) -> Self {
        let remote = remote.to_str().unwrap();
        let git = async |args: &[&str]| repository.git(args).await.unwrap().trim().to_owned();
        let commit = async |text: &str| {
            repository.write("src/lib.rs", text).unwrap();
            git(&["add", "-A"]).await;
            git(&["commit", "-q", "-m", "Build"]).await;
            git(&["rev-parse", "HEAD"]).await
        };
        git(&["checkout", "-q", "-b", "release"]).await;
        let mut base = commit(&lines(&[])).await;
        git(&["checkout", "-q", "-b", "tower"]).await;
        repository.write("docs/moat.md", "A moat.\n").unwrap();
        let head = commit(&lines(&[(2, "a wall")])).await;
        git(&["checkout", "-q", "release"]).await;
        if !changed.is_empty() {
            base = commit(&lines(changed)).await;
        }
        git(&["init", "-q", "--bare", remote]).await;
        git(&["remote", "add", "origin", remote]).await;
        git(&["push", "-q", "origin", "release", "tower", "tower:refs/pull/12/head"]).await;
        git(&["branch", "-q", "-D", "tower"]).await;
        Self { head, base }
    }
}

/// The lines of `src/lib.rs`, of which the pull request changes the second.
pub(crate) fn lines(changed: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let other = changed.iter().find(|(at, _)| *at == number).map(|(_, text)| (*text).to_owned());
        other.unwrap_or_else(|| format!("line {number}")) + "\n"
    };
    (1..=20).map(line).collect()
}
