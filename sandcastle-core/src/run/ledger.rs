//! What a run has done so far.
//!
//! Everything is written down here as it happens, so that a failure at any point can hand over all of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::audience::Audience;
use super::event::RunEvent;
use super::log::Header;
use super::options::Settings;
use super::outcome;
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::id::{BranchName, CommitId, RunId, SessionId};
use crate::secret::Secrets;
use crate::work::{Commit, Iteration, Usage, Work};

/// The most warnings of an agent that are kept; all of them are in the log.
const MAX_AGENT_WARNINGS: usize = 100;

/// The record of one run, and those who are told about it.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) work: Work,
    repository: Repository,
    base: Option<CommitId>,
    audience: Audience,
    /// What each session had used when it was last heard of.
    totals: HashMap<SessionId, Usage>,
}

impl Ledger {
    pub(super) fn new(repository: Repository, audience: Audience) -> Self {
        let work = Work { log_file: audience.log_file().map(Into::into), ..Work::default() };
        Self { work, repository, base: None, audience, totals: HashMap::new() }
    }

    /// Notes where the branch is before the agent begins.
    pub(super) async fn begin(&mut self, settings: &Settings) -> Result<()> {
        let head = self.repository.head().await?;
        self.base = head.commit;
        self.work.branch = Some(head.branch.clone());
        let agent = settings.agent.name().to_owned();
        self.audience.header(&Header {
            run: &RunId::generate(),
            name: settings.name.as_deref(),
            agent: &agent,
            model: settings.agent.model(),
            sandbox: settings.sandbox.name(),
            strategy: "head",
            branch: &head.branch,
        });
        self.tell(&RunEvent::Started { agent, branch: head.branch });
        if let Some(path) = self.work.log_file.clone() {
            self.tell(&RunEvent::LogOpened { path });
        }
        Ok(())
    }

    /// Tells everybody who listens.
    pub(super) fn tell(&mut self, event: &RunEvent) {
        self.audience.tell(event);
        self.work.warnings.extend(self.audience.troubles());
    }

    /// Returns what is masked.
    pub(super) fn secrets(&self) -> &Secrets {
        self.audience.secrets()
    }

    /// Tells a line of the agent as it is to those who want it.
    pub(super) fn tell_raw_line(&mut self, line: &[u8]) {
        self.audience.tell_raw_line(line);
        self.work.warnings.extend(self.audience.troubles());
    }

    /// Notes something that went wrong without failing the run.
    pub(super) fn warn(&mut self, message: String) {
        let message = match self.audience.secrets().mask(&message) {
            Cow::Owned(masked) => masked,
            Cow::Borrowed(_) => message,
        };
        self.tell(&RunEvent::Warning { message: message.clone() });
        self.work.warnings.push(message);
    }

    /// Notes what the agent itself has warned of, each thing once.
    pub(super) fn agent_warned(&mut self, agent: &str, message: &str) {
        let warning = format!("`{agent}` warned: {}", self.audience.secrets().mask(message));
        if self.work.warnings.len() < MAX_AGENT_WARNINGS && !self.work.warnings.contains(&warning) {
            self.work.warnings.push(warning);
        }
    }

    /// Notes an agent process that has ended.
    pub(super) fn record(&mut self, iteration: Iteration) {
        self.work.usage += iteration.usage;
        self.work.iterations.push(iteration);
    }

    /// Lists the commits that the branch has gained since the run began, and returns those that are new since last time.
    ///
    /// A commit that was amended or reset away is no longer listed, but stays in the record of its attempt.
    pub(super) async fn collect_commits(&mut self) -> Vec<Commit> {
        match self.commits_by_now().await {
            Ok((branch, commits)) => {
                self.note_branch(branch);
                let known: HashSet<&CommitId> = self.work.commits.iter().map(|commit| &commit.sha).collect();
                let new = commits.iter().filter(|commit| !known.contains(&commit.sha)).cloned().collect();
                self.work.commits = commits;
                new
            }
            Err(error) => {
                self.warn(format!("the new commits could not be listed: {error}"));
                Vec::new()
            }
        }
    }

    async fn commits_by_now(&self) -> Result<(BranchName, Vec<Commit>)> {
        let head = self.repository.head().await?;
        let commits = self.repository.commits_since(self.base.as_ref(), &head).await?;
        Ok((head.branch, commits))
    }

    fn note_branch(&mut self, now: BranchName) {
        let left = self.work.branch.as_ref().filter(|before| **before != now);
        if let Some(before) = left {
            self.warn(format!("the agent left the branch `{before}` for `{now}`, whose commits are listed"));
        }
        self.work.branch = Some(now);
    }

    /// Turns the running total of a session into what this process used.
    ///
    /// A session that is new here goes on counting from the total of its `origin`, if it is a copy of one.
    pub(super) fn used_in_session(
        &mut self,
        session: &SessionId,
        origin: Option<&SessionId>,
        total: Usage,
    ) -> Usage {
        let inherited = origin.and_then(|origin| self.total_of(origin));
        let before = self.totals.insert(session.clone(), total).or(inherited).unwrap_or_default();
        total.since(&before)
    }

    /// Notes what a session had used before this run.
    pub(super) fn used_before(&mut self, session: SessionId, total: Usage) {
        self.totals.entry(session).or_insert(total);
    }

    /// Returns what a session had used when it was last heard of.
    pub(super) fn total_of(&self, session: &SessionId) -> Option<Usage> {
        self.totals.get(session).copied()
    }

    /// Ends the record with a failure, which takes the work along.
    pub(super) fn fail(mut self, error: Error) -> Error {
        let error = outcome::masked(error, self.audience.secrets());
        self.audience.failed(&error);
        error.with_work(self.closed())
    }

    /// Ends the record with success.
    pub(super) fn succeed(mut self) -> Work {
        self.audience.succeeded(&self.work);
        self.closed()
    }

    /// Returns the work, its sentences masked. What the agent said is the caller's data and stays what it is.
    fn closed(mut self) -> Work {
        self.work.warnings.extend(self.audience.troubles());
        for message in self.work.attempts.iter_mut().filter_map(|attempt| attempt.message.as_mut()) {
            *message = self.audience.secrets().mask(message).into_owned();
        }
        self.work
    }
}
