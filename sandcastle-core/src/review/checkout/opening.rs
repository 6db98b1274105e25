//! How the branch of a pull request comes here.

use super::pushing::Destination;
use super::{Checkout, CheckoutOptions, tracked};
use crate::error::{Error, ErrorKind, Result};
use crate::forge::{HeadOrigin, PullRequest};
use crate::git::{Remote, Repository, branch_ref};
use crate::id::{BranchName, CommitId};
use crate::worktree::{Landing, checked_branch};

/// How often it is looked again at a branch that somebody else moves meanwhile.
const LOOKS: u32 = 3;

/// Opens a pull request here.
pub(super) async fn open(pull_request: &PullRequest, options: &CheckoutOptions) -> Result<Checkout> {
    let opening = Opening { pull_request, options, repository: Repository::discover(&options.folder).await? };
    let remote = opening.repository.remote(&options.remote).await?.opened_by(options.token.clone());
    let destination = opening.destination().await?;
    let branch = opening.branch_name().await?;
    let base = opening.fetch(&remote).await?;
    opening.bring_up(&branch).await?;
    Ok(Checkout {
        number: pull_request.number,
        branch,
        start: pull_request.head.commit.clone(),
        base,
        tracked_base: tracked(&remote, &pull_request.base.branch),
        destination,
        limit: options.limit,
        repository: opening.repository,
    })
}

struct Opening<'a> {
    pull_request: &'a PullRequest,
    options: &'a CheckoutOptions,
    repository: Repository,
}

impl Opening<'_> {
    /// Finds out where the branch can be pushed to, before an agent can say something else.
    async fn destination(&self) -> Result<Destination> {
        let name = self.options.push_remote.as_ref().unwrap_or(&self.options.remote);
        let remote = self.repository.remote_to_push(name).await?.opened_by(self.options.token.clone());
        Ok(Destination::of(&self.pull_request.head, remote))
    }

    /// Fetches head and base, and returns the commit of the base.
    async fn fetch(&self, remote: &Remote) -> Result<CommitId> {
        let (repository, limit) = (&self.repository, self.options.limit);
        let (head, base) = (self.head_ref(), branch_ref(&self.pull_request.base.branch));
        let wanted = [head.as_str(), base.as_str()];
        let (head, base) = self.checked(remote.fetch(repository, &wanted, limit).await?)?;
        if repository.is_comparable(&head, &base).await? {
            return Ok(base);
        }
        let whole = remote.fetch_whole(repository, &wanted, limit).await.map_err(|error| {
            error.with_hint(
                "the repository is a shallow clone, and lacks what both sides share: clone all of it \
                 (`fetch-depth: 0` for `actions/checkout`)",
            )
        });
        self.checked(whole?).map(|(_, base)| base)
    }

    /// Checks that what was fetched is what the pull request is about.
    fn checked(&self, fetched: Vec<CommitId>) -> Result<(CommitId, CommitId)> {
        let (expected, number) = (&self.pull_request.head.commit, self.pull_request.number);
        let Ok([head, base]) = <[CommitId; 2]>::try_from(fetched) else {
            return Err(Error::new(ErrorKind::Git, format!("fetch pull request {number}")));
        };
        if head == *expected {
            return Ok((head, base));
        }
        let what = format!(
            "work on pull request {number}: it stands at `{head:.12}` on `{}`, and was read when it stood at `{expected:.12}`",
            self.options.remote
        );
        Err(Error::new(ErrorKind::Git, what)
            .with_hint("it has moved on: begin again, so that it is read again"))
    }

    /// Names the head as the remote does: a branch of a fork is there only as a ref of the pull request.
    fn head_ref(&self) -> String {
        match self.pull_request.head.origin {
            HeadOrigin::Same => branch_ref(&self.pull_request.head.branch),
            HeadOrigin::Fork(_) | HeadOrigin::Gone => format!("refs/pull/{}/head", self.pull_request.number),
        }
    }

    /// Names the local branch. Whoever may open a pull request chooses the name of its branch, and git takes more names than a
    /// run does; one that is checked out in the folder needs no worktree, and may have any.
    async fn branch_name(&self) -> Result<BranchName> {
        let head = &self.pull_request.head;
        let named = match (&self.options.branch, &head.origin) {
            (Some(branch), _) => Some(branch),
            (None, HeadOrigin::Same) => Some(&head.branch),
            (None, HeadOrigin::Fork(_) | HeadOrigin::Gone) => None,
        };
        let Some(named) = named else { return self.numbered_branch() };
        match checked_branch(named) {
            Ok(branch) => Ok(branch),
            Err(_) if self.repository.head().await?.branch == *named => Ok(named.clone()),
            Err(_) if self.options.branch.is_none() => self.numbered_branch(),
            Err(error) => Err(error),
        }
    }

    fn numbered_branch(&self) -> Result<BranchName> {
        BranchName::new(format!("pull/{}", self.pull_request.number))
    }

    /// Makes the branch, or has it contain the commit of the pull request.
    async fn bring_up(&self, branch: &BranchName) -> Result<()> {
        let (repository, head) = (&self.repository, &self.pull_request.head.commit);
        for _ in 0..LOOKS {
            match repository.tip(branch).await? {
                None if self.make(branch).await? => return Ok(()),
                // Somebody else has just made it.
                None => {}
                Some(tip) if repository.is_ancestor(head, &tip).await? => return Ok(()),
                Some(tip) if repository.is_ancestor(&tip, head).await? => return self.forward(branch).await,
                Some(tip) => return Err(self.gone_another_way(branch, &tip)),
            }
        }
        Err(Error::new(ErrorKind::Git, format!("make the branch `{branch}`: it comes and goes")))
    }

    /// Makes the branch; tells whether it is ours.
    async fn make(&self, branch: &BranchName) -> Result<bool> {
        let made = self.repository.create_branch(branch, &self.pull_request.head.commit).await;
        made.map_err(|error| error.with_hint("have the pull request on a branch of another name"))
    }

    /// Moves a branch that is behind, and its checkout with it.
    async fn forward(&self, branch: &BranchName) -> Result<()> {
        let head = &self.pull_request.head.commit;
        let source = BranchName::from_git(head.as_str());
        let limit = self.options.limit;
        let landing =
            Landing { repository: &self.repository, source: &source, tip: head, target: branch, limit };
        landing.land().await.map(drop).map_err(|error| {
            let what = format!("bring the branch `{branch}` up to the pull request, at `{head:.12}`");
            let kind = if error.kind() == ErrorKind::StepTimeout { error.kind() } else { ErrorKind::Git };
            Error::new(kind, what).with_source(error).with_hint(
                "put right what is in the way, or have the pull request on a branch of another name",
            )
        })
    }

    fn gone_another_way(&self, branch: &BranchName, tip: &CommitId) -> Error {
        let head = &self.pull_request.head.commit;
        let what = format!(
            "use the branch `{branch}`: it stands at `{tip:.12}` and pull request {} at `{head:.12}`, and neither has the other",
            self.pull_request.number
        );
        Error::new(ErrorKind::Git, what)
            .with_hint("rename it with `git branch -m`, or have the pull request on a branch of another name")
            .with_hint(format!("`git log --oneline --left-right {tip:.12}...{head:.12}` shows what each has"))
    }
}
