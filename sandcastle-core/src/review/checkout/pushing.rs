//! How the branch of a pull request goes back.

use std::collections::BTreeSet;

use super::Checkout;
use crate::error::{Error, ErrorKind, Result};
use crate::forge::{Head, HeadOrigin};
use crate::git::{Push, Pushed, Remote};
use crate::id::{BranchName, CommitId};

/// How many files an error names.
const MAX_NAMED: usize = 5;

/// Where the branch is pushed to.
#[derive(Debug)]
pub(super) enum Destination {
    /// A branch of a remote that has the pull request's head.
    Remote(Remote, BranchName),
    /// A fork that no remote here is.
    Fork { fork: String, remote: String },
    /// There is no repository any more that the head was in.
    Gone,
}

impl Destination {
    /// Finds it. The branch of a fork is pushed to a remote that is that very fork.
    pub(super) fn of(head: &Head, remote: Remote) -> Self {
        match &head.origin {
            HeadOrigin::Same => Self::Remote(remote, head.branch.clone()),
            HeadOrigin::Fork(fork) if remote.is_repository(fork) => Self::Remote(remote, head.branch.clone()),
            HeadOrigin::Fork(fork) => Self::Fork { fork: fork.clone(), remote: remote.name().to_owned() },
            HeadOrigin::Gone => Self::Gone,
        }
    }
}

/// Pushes.
pub(super) async fn push(checkout: &Checkout) -> Result<CommitId> {
    let (remote, branch) = match &checkout.destination {
        Destination::Remote(remote, branch) => (remote, branch),
        Destination::Fork { fork, remote } => return Err(of_a_fork(checkout, fork, remote)),
        Destination::Gone => {
            let what = format!("push `{}`: the repository it came from is there no more", checkout.branch);
            return Err(Error::new(ErrorKind::Git, what).with_hint("open a pull request from another branch"));
        }
    };
    let (from, to) = (&checkout.start, checkout.tip().await?);
    if !checkout.repository.is_ancestor(from, &to).await? {
        let what = format!("push `{}`: `{from:.12}`, where it began, is no longer in it", checkout.branch);
        return Err(Error::new(ErrorKind::Git, what).with_hint(
            "what others have seen is not taken away: put the new commits on top of it, or push by hand",
        ));
    }
    let pointers = checkout.repository.new_pointers(&to, [from, &checkout.base]).await?;
    if !pointers.is_empty() {
        return Err(without_contents(checkout, (remote, branch), &pointers));
    }
    let push = Push { branch, from, to: &to, limit: checkout.limit };
    match remote.push(&checkout.repository, &push).await? {
        Pushed::Done => Ok(to),
        Pushed::MovedOn(tip) => Err(moved_on(checkout, branch, tip.as_ref())),
    }
}

/// Says that what is pushed would be of no use to whoever fetches it.
fn without_contents(
    checkout: &Checkout,
    (remote, branch): (&Remote, &BranchName),
    pointers: &BTreeSet<Vec<u8>>,
) -> Error {
    let (local, remote) = (&checkout.branch, remote.name());
    let shown = |path: &Vec<u8>| format!("`{}`", String::from_utf8_lossy(path).escape_debug());
    let mut named: Vec<String> = pointers.iter().take(MAX_NAMED).map(shown).collect();
    let more = pointers.len().saturating_sub(MAX_NAMED);
    named.extend((more > 0).then(|| format!("{more} more")));
    let files = named.join(", ");
    let what =
        format!("push `{local}`: the contents of {files} are kept by git-lfs, which does not push them here");
    Error::new(ErrorKind::Git, what).with_hint(format!(
        "the commits are on the branch `{local}`: `git push {remote} {local}:{branch}`, where git-lfs is installed, takes both"
    ))
}

fn moved_on(checkout: &Checkout, branch: &BranchName, tip: Option<&CommitId>) -> Error {
    let now = match tip {
        Some(tip) => format!("it stands at `{tip:.12}` now"),
        None => "it has gone".to_owned(),
    };
    let what = format!("push `{branch}`: the branch has moved on from `{:.12}`, {now}", checkout.start);
    Error::new(ErrorKind::Git, what).with_hint(format!(
        "the commits are on the branch `{}`; merge what came in, or begin again",
        checkout.branch
    ))
}

fn of_a_fork(checkout: &Checkout, fork: &str, remote: &str) -> Error {
    let fork = fork.escape_debug();
    let what = format!(
        "push `{}`: pull request {} comes from the fork `{fork}`, and the remote `{remote}` is another repository",
        checkout.branch, checkout.number
    );
    Error::new(ErrorKind::Git, what).with_hint(format!(
        "add a remote for `{fork}` that you may push to, and name it as the one to push to"
    ))
}
