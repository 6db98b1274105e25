//! What lies between two commits.
//!
//! Compared in a folder of our own, so that nothing the repository has set up changes what is said, or runs.

use std::collections::BTreeSet;

use super::borrowed::Borrowed;
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;

/// How two commits are compared: as git does it where nothing is set up, whatever the user has.
const DIFF: [&str; 16] = [
    "-c",
    "diff.suppressBlankEmpty=false",
    "diff-tree",
    "-r",
    "--patch",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--find-renames=50%",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-relative",
];

/// How files with marks of conflicts are looked for. One of seven equals signs alone may underline a heading.
const MARKS: [&str; 7] = [
    "grep",
    "--files-with-matches",
    "--null",
    "--no-recurse-submodules",
    "--no-textconv",
    "--extended-regexp",
    "-e^(<<<<<<<|>>>>>>>)( |$)",
];

impl Repository {
    /// Returns the last commit that both have; `None` when they have none in common.
    pub(crate) async fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>> {
        let answer = self.git().ask(["merge-base", one, other]).await?;
        match answer.code {
            Some(0 | 1) => Ok(answer.line().map(CommitId::from_git)),
            _ => Err(answer.refused("compare the branches", self.git().cwd())),
        }
    }

    /// Returns what has changed from one commit to another, in git's format.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git fails, or it is more than 64 MiB.
    pub(crate) async fn diff_between(&self, old: &CommitId, new: &CommitId) -> Result<Vec<u8>> {
        let borrowed = Borrowed::from(self).await?;
        // Which files are text is said by attributes of the new side, as a code host has it.
        let git = borrowed.git().clone().env("GIT_ATTR_SOURCE", new.as_str());
        let what = format!("compare `{old:.12}` with `{new:.12}`");
        let answer = match git.ask(DIFF.into_iter().chain(["--end-of-options", old, new])).await {
            Ok(answer) if answer.is_success() => return Ok(answer.stdout),
            Ok(answer) => answer,
            Err(error) => return Err(Error::new(ErrorKind::Git, what).with_source(error)),
        };
        Err(answer.refused(&what, self.git().cwd()))
    }

    /// Returns those of these files of a commit that have marks of a conflict in them.
    pub(crate) async fn marked_files(&self, commit: &CommitId, paths: &[String]) -> Result<Vec<String>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let borrowed = Borrowed::from(self).await?;
        let named = paths.iter().map(|path| format!(":(top,literal){path}"));
        let args = MARKS.iter().map(|arg| (*arg).to_owned()).chain([commit.to_string(), "--".to_owned()]);
        let answer = borrowed.git().ask(args.chain(named)).await?;
        if !matches!(answer.code, Some(0 | 1)) {
            return Err(answer.refused("look for marks of conflicts", self.git().cwd()));
        }
        let before = format!("{commit}:");
        let files = answer.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        Ok(files.filter_map(|file| file.strip_prefix(&before).map(str::to_owned)).collect())
    }

    /// Tells whether what `one` and `other` have in common, and what not, can be known: a shallow clone may lack a commit that
    /// they share.
    pub(crate) async fn is_comparable(&self, one: &CommitId, other: &CommitId) -> Result<bool> {
        let ends = self.shallow_ends()?;
        if ends.is_empty() {
            return Ok(true);
        }
        let Some(base) = self.merge_base(one, other).await? else { return Ok(false) };
        // Where every commit on the way from it to both is there with its parents, nothing that they share is missing.
        let range = ["rev-list", one, other, &format!("^{base}")];
        let between = self.git().does("list the commits of both sides", range).await?.stdout;
        let between = String::from_utf8_lossy(&between);
        let ends: BTreeSet<&str> = ends.iter().map(CommitId::as_str).collect();
        Ok(!between.lines().any(|commit| ends.contains(commit)))
    }
}
