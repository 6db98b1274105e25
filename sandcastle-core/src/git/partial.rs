//! What a partial clone lacks.
//!
//! Such a clone has the commits, and files only as far as somebody has looked at them; git fetches the others when they are wanted,
//! with programs that the repository names. Nothing is fetched in that way here, so that it has to be told what is missing.

use super::overrides::Key;
use super::repository::Repository;
use crate::error::Error;
use crate::id::CommitId;

impl Repository {
    /// Says of an error, if that is so, that files of these commits are missing because the repository is a partial clone.
    pub(crate) async fn missing_in(&self, error: Error, commits: [&CommitId; 2]) -> Error {
        match self.partial_remote().await {
            Some(remote) if self.lacks_files_of(commits).await => error.with_hint(format!(
                "the repository is a partial clone, and nothing is fetched here while others work: \
                 `git fetch --refetch --no-filter {remote}` brings what is missing, or clone it without `--filter`"
            )),
            _ => error,
        }
    }

    /// Names a remote that has promised the objects which are missing here; `None` when there is none.
    async fn partial_remote(&self) -> Option<String> {
        let is_promised = |key: Key<'_>| (key.section, key.name) == ("remote", "promisor");
        let listing = self.git().listing().await.ok()?;
        if !listing.has(is_promised) {
            return None;
        }
        let named = listing.value("extensions.partialclone").and_then(|name| std::str::from_utf8(name).ok());
        let is_word = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        Some(named.filter(is_word).unwrap_or("origin").to_owned())
    }

    /// Tells whether anything is missing in commits, or in where they part.
    async fn lacks_files_of(&self, commits: [&CommitId; 2]) -> bool {
        let left = self.merge_base(commits[0], commits[1]).await.ok().flatten();
        let all = commits.into_iter().chain(&left).map(CommitId::as_str);
        let args = ["rev-list", "--objects", "--no-walk", "--missing=print", "--no-object-names"];
        let listed = self.git().ask(args.into_iter().chain(all)).await;
        listed
            .is_ok_and(|listed| listed.stdout.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"?")))
    }
}
