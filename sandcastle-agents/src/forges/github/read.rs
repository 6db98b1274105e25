//! Reads a pull request: itself, what was said of it, its threads and its issues, all pages of them.
//!
//! Names of branches and repositories and ids of commits are checked before anything is made of them. What nobody has
//! submitted yet, drafts of whom the token belongs to, is left out: it was not said.

use reqwest::Url;
use sandcastle_core::forge::{
    BranchTip, Comment, CommentId, Head, HeadOrigin, LinkedIssue, PullRequest, PullRequestState,
    ReviewSummary, ReviewThread, ThreadComment, ThreadState,
};
use sandcastle_core::{BranchName, CommitId};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::address::{RepositoryName, web_address};
use super::client::Client;
use super::closing;
use super::failure::Failure;
use super::page::{Connection, List};
use super::wire::{
    Author, CLOSED_ISSUES, ClosedIssue, ClosedIssues, Issue, IssueComment, OfRepository, OfThread, Pull,
    Repository, Review, Side, THREAD_COMMENTS, THREADS, Thread, ThreadNote, Threads,
};

/// Who is said to have written what nobody is left of.
const GHOST: &str = "ghost";

/// What nobody but its author sees.
const PENDING: &str = "PENDING";

/// Reads pull requests of one repository.
pub(super) struct Reader<'r> {
    pub(super) client: Client,
    pub(super) repository: &'r RepositoryName,
}

impl Reader<'_> {
    /// Reads pull request `number` with everything that belongs to it.
    pub(super) async fn read(mut self, number: u64) -> Result<PullRequest, Failure> {
        let pull: Pull = self.client.get(&self.url(["pulls", &number.to_string()])).await?;
        if pull.number != number {
            return Err(Failure::strange(format!("it is about pull request #{}", pull.number)));
        }
        let mut read = checked(pull)?;
        read.comments = self.comments(number).await?;
        read.reviews = self.reviews(number).await?;
        read.threads = self.threads(number).await?;
        read.issues = self.issues(number, &read.body).await?;
        Ok(read)
    }

    async fn comments(&mut self, number: u64) -> Result<Vec<Comment>, Failure> {
        let url = self.url(["issues", &number.to_string(), "comments"]);
        let comments: Vec<IssueComment> = self.client.list(url).await?;
        let comment =
            |IssueComment { user, body }| Comment { author: login(user), body: body.unwrap_or_default() };
        Ok(comments.into_iter().map(comment).collect())
    }

    async fn reviews(&mut self, number: u64) -> Result<Vec<ReviewSummary>, Failure> {
        let url = self.url(["pulls", &number.to_string(), "reviews"]);
        let reviews: Vec<Review> = self.client.list(url).await?;
        let said = reviews.into_iter().filter(|review| review.state != PENDING).filter_map(|review| {
            let body = review.body.filter(|body| !body.trim().is_empty())?;
            Some(ReviewSummary { author: login(review.user), verdict: review.state.to_lowercase(), body })
        });
        Ok(said.collect())
    }

    async fn threads(&mut self, number: u64) -> Result<Vec<ReviewThread>, Failure> {
        let mut list = List::from(String::new());
        while let Some(cursor) = list.turn()? {
            let page: Threads = self.of_pull(THREADS, number, &cursor).await?;
            self.client.count(page.review_threads.nodes.0.len())?;
            list.add(page.review_threads.nodes.0.into_iter().flatten(), page.review_threads.page_info.next());
        }
        let mut threads = Vec::new();
        for thread in list.items {
            threads.extend(self.thread(thread).await?);
        }
        Ok(threads)
    }

    /// A thread with the rest of its comments; `None` when nothing in it was said yet.
    async fn thread(&mut self, thread: Thread) -> Result<Option<ReviewThread>, Failure> {
        let state = if thread.is_resolved { ThreadState::Resolved } else { ThreadState::Unresolved };
        let mut list = List::from(String::new());
        let _beginning = list.turn()?;
        let mut page = thread.comments;
        loop {
            self.client.count(page.nodes.0.len())?;
            list.add(page.nodes.0.into_iter().flatten(), page.page_info.next());
            let Some(cursor) = list.turn()? else { break };
            let variables = json!({ "thread": thread.id, "after": cursor });
            let rest: OfThread = self.client.query(THREAD_COMMENTS, &variables).await?;
            page = rest.node.ok_or_else(|| Failure::strange("a thread is there no more"))?.comments;
        }
        let said = list.items.into_iter().filter(|note: &ThreadNote| note.state != PENDING);
        let comments: Vec<_> = said.map(comment).collect();
        let line = thread.line.or(thread.original_line);
        let read = ReviewThread { id: thread.id, state, path: thread.path, line, comments };
        Ok((!read.comments.is_empty()).then_some(read))
    }

    /// The issues of this repository that are closed with the pull request: those that GitHub links, and those that its
    /// description names. What issues of other repositories say may be for other eyes.
    async fn issues(&mut self, number: u64, body: &str) -> Result<Vec<LinkedIssue>, Failure> {
        let mut list = List::from(String::new());
        while let Some(cursor) = list.turn()? {
            let page: ClosedIssues = self.of_pull(CLOSED_ISSUES, number, &cursor).await?;
            let Connection { nodes, page_info } = page.closing_issues_references;
            self.client.count(nodes.0.len())?;
            list.add(nodes.0.into_iter().flatten(), page_info.next());
        }
        let is_here = |issue: &ClosedIssue| self.repository.is(&issue.repository.name_with_owner);
        let linked = list.items.into_iter().filter(is_here);
        let mut issues: Vec<_> = linked
            .map(|ClosedIssue { number, title, body, .. }| LinkedIssue { number, title, body })
            .collect();
        for named in closing::named(body) {
            if issues.iter().all(|issue| issue.number != named) {
                issues.extend(self.issue(named).await?);
            }
        }
        Ok(issues)
    }

    /// An issue that somebody named, if there is one that may be read.
    async fn issue(&self, number: u64) -> Result<Option<LinkedIssue>, Failure> {
        let asked = self.client.get::<Issue>(&self.url(["issues", &number.to_string()])).await;
        match asked {
            Ok(issue) => Ok(issue.pull_request.is_none().then(|| LinkedIssue {
                number: issue.number,
                title: issue.title,
                body: issue.body.unwrap_or_default(),
            })),
            Err(failure) if failure.is_absence() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn of_pull<T: DeserializeOwned>(
        &self,
        query: &str,
        number: u64,
        cursor: &str,
    ) -> Result<T, Failure> {
        let RepositoryName { owner, name } = self.repository;
        let variables = json!({ "owner": owner, "name": name, "number": number, "after": after(cursor) });
        let answer: OfRepository<T> = self.client.query(query, &variables).await?;
        let pull = answer.repository.and_then(|repository| repository.pull_request);
        pull.ok_or_else(|| Failure::strange("it knows nothing of the pull request"))
    }

    fn url<'p>(&'p self, parts: impl IntoIterator<Item = &'p str>) -> Url {
        self.repository.url(self.client.address(), parts)
    }
}

/// Where a list goes on: at its beginning, which has no cursor, or behind one.
fn after(cursor: &str) -> Option<&str> {
    (!cursor.is_empty()).then_some(cursor)
}

/// What is known of a pull request itself, checked.
fn checked(pull: Pull) -> Result<PullRequest, Failure> {
    let here = pull.base.repo.as_ref().map(|repository| repository.full_name.clone());
    let here =
        here.ok_or_else(|| Failure::strange("it does not say which repository the pull request is for"))?;
    let origin = origin(pull.head.repo.as_ref(), &here)?;
    let (base, head) = (tip(pull.base)?, tip(pull.head)?);
    let mut read = PullRequest::new(pull.number, base, Head::new(head.branch, head.commit, origin));
    read.state = match (pull.merged_at, pull.state.as_str()) {
        (Some(_), _) => PullRequestState::Merged,
        (None, "open") => PullRequestState::Open,
        (None, _) => PullRequestState::Closed,
    };
    read.id = pull.node_id;
    read.title = pull.title;
    read.body = pull.body.unwrap_or_default();
    read.author = login(pull.user);
    read.url = web_address(&pull.html_url).ok_or_else(|| Failure::strange("it has no address for people"))?;
    read.is_draft = pull.draft;
    Ok(read)
}

fn tip(side: Side) -> Result<BranchTip, Failure> {
    let branch = BranchName::new(side.branch).map_err(Failure::strange)?;
    let commit = CommitId::new(side.sha).map_err(Failure::strange)?;
    Ok(BranchTip { branch, commit })
}

fn origin(head: Option<&Repository>, here: &str) -> Result<HeadOrigin, Failure> {
    let Some(head) = head else { return Ok(HeadOrigin::Gone) };
    let name = RepositoryName::read(&head.full_name)
        .ok_or_else(|| Failure::strange("it names a repository that cannot be one"))?;
    Ok(if name.is(here) { HeadOrigin::Same } else { HeadOrigin::Fork(head.full_name.clone()) })
}

fn comment(note: ThreadNote) -> ThreadComment {
    ThreadComment { id: CommentId::new(note.id), author: login(note.author), body: note.body }
}

fn login(author: Option<Author>) -> String {
    author.map_or_else(|| GHOST.to_owned(), |author| author.login)
}
