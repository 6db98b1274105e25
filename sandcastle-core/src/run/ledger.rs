//! What a run has done so far.
//!
//! Everything is written down here as it happens, so that a failure at any point can hand over all of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use std::path::Path;

use super::audience::Audience;
use super::driver::Job;
use super::event::RunEvent;
use super::log::{Header, LogName, RunLog};
use super::notes;
use super::outcome;
use super::plan::SchemaPlan;
use super::sessions::Captured;
use super::setup::Notice;
use super::workplace::Workplace;
use crate::config::ConfigDir;
use crate::error::{Error, Result};
use crate::id::{BranchName, CommitId, SessionId};
use crate::journal::{Journal, Outcome};
use crate::output::OutputSpec;
use crate::secret::Secrets;
use crate::strategy::{OutputStrategy, StrategyChoice};
use crate::work::{Commit, Iteration, Usage, Work};
use crate::worktree::{Closed, Gathered, Landed, Landing, Origin, Place, Plan};

/// The most warnings of an agent that are kept; all of them are in the log.
const MAX_AGENT_WARNINGS: usize = 100;

/// The record of one run, and those who are told about it.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) work: Work,
    /// Commits of iterations that are over and have landed.
    landed: Vec<Commit>,
    /// Where the run began, if all its iterations work on one branch.
    origin: Option<Origin>,
    /// Whether each iteration has a branch of its own.
    merges: bool,
    audience: Audience,
    pub(super) journal: Journal,
    /// What was found when nothing had happened since.
    gathered: Option<Gathered>,
    /// How many of the agent processes are over whose sessions were captured.
    captured: usize,
    /// How the schema of the output reaches the model.
    strategy: Option<StrategyChoice>,
    /// What each session had used when it was last heard of.
    totals: HashMap<SessionId, Usage>,
    /// Whether it was told that the budget is spent.
    pub(super) budget_told: bool,
}

impl Ledger {
    /// Opens the log, and tells everybody that the run begins.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the log cannot be opened.
    pub(super) fn open(job: &Job) -> Result<Self> {
        let Job { settings, checked, .. } = job;
        let (plan, name) = (&checked.plan, settings.site.name.as_deref());
        let (source, target) = (plan.source_branch(1), plan.target_branch());
        let config = ConfigDir::of(&checked.repository);
        let log_name = LogName { target: plan.merges().then_some(target), source: &source, name };
        let log = RunLog::open(settings.logging.as_ref(), &config, &log_name)?;
        let journal = Journal::begin(&config, &checked.run, &notes::begun(job))?;
        let audience = Audience::new(log, settings.on_event.clone(), checked.secrets.clone());
        let mut ledger = Self::of(audience, journal, plan.merges());
        ledger.work.run_id = Some(checked.run.clone());
        ledger.work.branch = Some(source.clone());
        let agent = settings.agent.name().to_owned();
        ledger.audience.header(&Header {
            run: &checked.run,
            name,
            agent: &agent,
            model: settings.agent.model(),
            sandbox: settings.sandbox.name(),
            strategy: plan.strategy(),
            branch: &source,
        });
        ledger.tell(&RunEvent::Started { agent, branch: source });
        if let Some(path) = ledger.work.log_file.clone() {
            ledger.tell(&RunEvent::LogOpened { path });
        }
        for warning in &checked.warnings {
            ledger.warn(warning.clone());
        }
        Ok(ledger)
    }

    fn of(audience: Audience, journal: Journal, merges: bool) -> Self {
        let work = Work { log_file: audience.log_file().map(Into::into), ..Work::default() };
        Self {
            work,
            landed: Vec::new(),
            origin: None,
            merges,
            audience,
            journal,
            gathered: None,
            captured: 0,
            strategy: None,
            totals: HashMap::new(),
            budget_told: false,
        }
    }

    /// Notes a work tree that is there.
    pub(super) fn opened(&mut self, place: &Place) {
        let (path, branch) = (place.top().to_path_buf(), place.branch().clone());
        self.work.branch = Some(branch.clone());
        if place.is_in_place() {
            // Hooks work here before the iteration begins.
            let origin = self.origin.clone().unwrap_or_else(|| place.origin().clone());
            self.note_in_place(place, &origin);
        } else {
            self.tell(&RunEvent::WorktreeReady { path, branch, fresh: place.is_fresh() });
        }
    }

    /// Notes where an iteration begins, and returns what its commits are counted from.
    pub(super) fn began(&mut self, place: &Place, origin: Origin) -> Origin {
        self.gathered = None;
        let origin = if self.merges { origin } else { self.origin.get_or_insert(origin).clone() };
        self.note_in_place(place, &origin);
        origin
    }

    /// Notes what became of a work tree.
    pub(super) fn closed(&mut self, path: &Path, closed: Closed) {
        self.note_closed(path, closed.preserved.is_some());
        closed.notes.into_iter().for_each(|note| self.warn(note));
        if closed.preserved.is_some() {
            self.work.preserved_worktree = closed.preserved;
        }
    }

    /// Notes that the commits of an iteration are where they belong, except for those that were left out.
    pub(super) fn landed(&mut self, landing: &Landing<'_>, landed: &Landed, gathered: &Gathered) {
        self.note_landed(landing, landed);
        let (source, target) = (landing.source, landing.target);
        let all = self.work.commits.len() - self.landed.len();
        let commits = u32::try_from(all.saturating_sub(gathered.left_out)).unwrap_or(u32::MAX);
        self.landed.clone_from(&self.work.commits);
        if gathered.left_out > 0 {
            self.warn(format!(
                "of the {all} commits that are listed, {} are not in `{target}`",
                gathered.left_out
            ));
        }
        match (commits, gathered.left_out) {
            (0, 1..) if gathered.branch == "HEAD" => return,
            (0, 1..) => return self.note_branch(gathered.branch.clone()),
            _ => self.work.branch = Some(target.clone()),
        }
        // What the target had already was brought there by somebody else.
        if commits > 0 && *landed != Landed::Nothing {
            self.tell(&RunEvent::Merged { source: source.clone(), target: target.clone(), commits });
        }
    }

    /// Notes that nothing of an iteration has landed. Without anything of value its own branch is gone, too.
    pub(super) fn replaced(&mut self, plan: &Plan) {
        if plan.merges() && self.work.commits.is_empty() && self.work.preserved_worktree.is_none() {
            self.work.branch = Some(plan.target_branch().clone());
        }
    }

    /// Tells a notice of the making of a place.
    pub(super) fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Event(event) => self.tell(&event),
            Notice::Warning(message) => self.warn(message),
        }
    }

    /// Returns how the schema reached the model, as far as that is decided. What it says of the schema is masked.
    pub(super) fn strategy(&self) -> Option<&StrategyChoice> {
        self.strategy.as_ref()
    }

    /// Notes how the schema of the output reaches the model from now on. Where words were asked for there was no choice, and
    /// nothing to tell.
    pub(super) fn chose(&mut self, plan: &SchemaPlan) {
        let choice = plan.choice().masked(self.secrets());
        if plan.wanted() != OutputStrategy::Tag {
            self.tell(&RunEvent::StrategyChosen { choice: Box::new(choice.clone()) });
        }
        self.strategy = Some(choice);
    }

    /// Notes the answer that was accepted.
    pub(super) fn accepted(&mut self, block: String, spec: &OutputSpec) {
        self.note_accepted(&block, spec);
        self.work.answer = Some(block);
    }

    /// Returns the sessions that were held since this was asked last.
    pub(super) fn sessions_to_capture(&mut self) -> Vec<SessionId> {
        let held =
            self.work.iterations[self.captured..].iter().filter_map(|iteration| iteration.session_id.clone());
        let mut ids: Vec<SessionId> = held.collect();
        ids.dedup();
        self.captured = self.work.iterations.len();
        ids
    }

    /// Notes where a session was captured.
    pub(super) fn captured(&mut self, id: &SessionId, captured: Captured) {
        captured.warnings.into_iter().for_each(|warning| self.warn(warning));
        let Some(file) = captured.file else { return };
        for iteration in &mut self.work.iterations {
            if iteration.session_id.as_ref() == Some(id) {
                iteration.session_file = Some(file.clone());
            }
        }
        self.tell(&RunEvent::SessionCaptured { id: id.clone(), file });
    }

    /// Returns the number of the agent process that comes next.
    pub(super) fn next_process(&self) -> u32 {
        u32::try_from(self.work.iterations.len()).unwrap_or(u32::MAX).saturating_add(1)
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

    /// Lists the commits that the agent has made since the run began, and returns those that are new since last time.
    ///
    /// A commit that was amended or reset away is no longer listed, but stays in the record of its attempt.
    pub(super) async fn collect_commits(&mut self, workplace: &Workplace) -> Vec<Commit> {
        let known: HashSet<CommitId> = self.work.commits.iter().map(|commit| commit.sha.clone()).collect();
        match self.collect(workplace).await {
            Ok(_) => {
                let is_new = |commit: &&Commit| !known.contains(&commit.sha);
                self.work.commits.iter().filter(is_new).cloned().collect()
            }
            Err(_) => Vec::new(),
        }
    }

    /// Notes that an agent process begins, which may commit.
    pub(super) fn playing(&mut self) {
        self.gathered = None;
    }

    /// Lists the commits that the agent has made since the run began. If that is not possible, it is told.
    pub(super) async fn collect(&mut self, workplace: &Workplace) -> Result<Gathered> {
        if let Some(gathered) = self.gathered.clone() {
            return Ok(gathered);
        }
        let mut gathered = match workplace.gather().await {
            Ok(gathered) => gathered,
            Err(error) => {
                self.warn_once(format!("the new commits could not be listed: {error}"));
                return Err(error);
            }
        };
        for note in &gathered.notes {
            self.warn_once(note.clone());
        }
        // A subject is there to be shown: in errors, in the journal, to whoever lists runs. Git has it as it was written.
        for commit in &mut gathered.commits {
            commit.subject = self.audience.secrets().mask(&commit.subject).into_owned();
        }
        self.work.commits = self.landed.iter().chain(&gathered.commits).cloned().collect();
        self.note_commits();
        if !self.merges {
            self.note_branch(gathered.branch.clone());
        }
        self.gathered = Some(gathered.clone());
        Ok(gathered)
    }

    fn note_branch(&mut self, now: BranchName) {
        let left = self.work.branch.as_ref().filter(|before| **before != now);
        if let Some(before) = left {
            self.warn(format!("the agent left the branch `{before}` for `{now}`, whose commits are listed"));
        }
        self.work.branch = Some(now);
    }

    pub(super) fn warn_once(&mut self, message: String) {
        let shown = self.audience.secrets().mask(&message).into_owned();
        if !self.work.warnings.contains(&shown) {
            self.warn(message);
        }
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
        let used = self.used_by_now(session, origin, total);
        self.totals.insert(session.clone(), total);
        used
    }

    /// As [`used_in_session`](Self::used_in_session), while the process goes on.
    pub(super) fn used_by_now(&self, session: &SessionId, origin: Option<&SessionId>, total: Usage) -> Usage {
        let inherited = || origin.and_then(|origin| self.total_of(origin));
        total.since(&self.total_of(session).or_else(inherited).unwrap_or_default())
    }

    /// Notes what a session had used before this run.
    pub(super) fn used_before(&mut self, session: SessionId, total: Usage) {
        self.totals.entry(session).or_insert(total);
    }

    /// Returns what a session had used when it was last heard of.
    pub(super) fn total_of(&self, session: &SessionId) -> Option<Usage> {
        self.totals.get(session).copied()
    }

    /// Returns what came of the work and of putting it away. Of two failures the first is the one of the run, and the other
    /// is told.
    pub(super) fn settled<T>(&mut self, worked: Result<T>, closed: Result<()>) -> Result<T> {
        match (worked, closed) {
            (Ok(done), Ok(())) => Ok(done),
            (Ok(_), Err(error)) | (Err(error), Ok(())) => Err(error),
            (Err(error), Err(also)) => {
                self.warn(format!("afterwards it failed to {also}"));
                Err(error)
            }
        }
    }

    /// Ends the record with a failure, which takes the work along.
    pub(super) fn fail(mut self, error: Error) -> Error {
        let mut error = outcome::masked(error, self.audience.secrets());
        outcome::complete(&mut error, &self.work, self.strategy.as_ref());
        self.audience.failed(&error);
        let how = if error.is_cancelled() { Outcome::Cancelled } else { Outcome::Failed };
        let said = error.to_string();
        error.with_work(self.into_work(how, Some(said)))
    }

    /// Ends the record with success.
    pub(super) fn succeed(mut self) -> Work {
        self.work.answer = None;
        self.audience.succeeded(&self.work);
        self.into_work(Outcome::Done, None)
    }

    /// Returns the work, its sentences masked. What the agent said is the caller's data and stays what it is.
    fn into_work(mut self, how: Outcome, error: Option<String>) -> Work {
        self.work.warnings.extend(self.journal.end(how, error));
        self.work.warnings.extend(self.audience.troubles());
        for message in self.work.attempts.iter_mut().filter_map(|attempt| attempt.message.as_mut()) {
            *message = self.audience.secrets().mask(message).into_owned();
        }
        self.work
    }
}
