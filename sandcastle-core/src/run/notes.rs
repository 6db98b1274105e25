//! What a run writes into its journal, so that it can be recovered when this process is killed.
//!
//! What is about to be owned is noted before it is, and what was done after it is. Only the words are here; when they are
//! written is the affair of the `ledger` and of those who tell it what happens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::driver::Job;
use super::event::RunEvent;
use super::ledger::Ledger;
use crate::id::SessionId;
use crate::journal::{self, Begun, Fate, Format, Note, NotedCommit};
use crate::output::locate::Locator;
use crate::output::{OutputFormat, OutputSpec};
use crate::sandbox::SandboxHandle;
use crate::worktree::{Landed, Landing, Origin, Place, Plan};

/// Describes a run before it does anything.
pub(super) fn begun(job: &Job) -> Begun {
    let Job { settings, checked, .. } = job;
    let plan = &checked.plan;
    let repository = checked.repository.top().unwrap_or(checked.repository.home());
    Begun {
        name: settings.site.name.as_deref().map(|name| checked.secrets.mask(name).into_owned()),
        agent: settings.agent.name().to_owned(),
        model: settings.agent.model().map(str::to_owned),
        sandbox: settings.sandbox.name().to_owned(),
        strategy: plan.strategy().to_owned(),
        cwd: checked.cwd.clone().into(),
        repository: repository.to_path_buf().into(),
        source_branch: Some(plan.source_branch(1).to_string()),
        target_branch: plan.merges().then(|| plan.target_branch().to_string()),
    }
}

impl Ledger {
    /// Returns the variable that everything which the run starts has to carry.
    pub(super) fn mark(&self) -> (OsString, OsString) {
        self.journal.mark().variable()
    }

    fn note(&mut self, note: &Note) {
        if let Some(warning) = self.journal.note(note) {
            self.warn(warning);
        }
    }

    /// Notes the worktree that is about to be made or used.
    pub(super) fn opening(&mut self, plan: &Plan, number: u32) {
        let Some(path) = plan.folder(number) else { return };
        let origin = if path.exists() { journal::Origin::Reused } else { journal::Origin::Fresh };
        let branch = plan.source_branch(number).to_string();
        let base = plan.base().map(ToString::to_string);
        self.note(&Note::Worktree { path: path.into(), branch, base, origin });
    }

    /// Notes that the run works in the user's own work tree, if it does, and from where its commits are counted there.
    pub(super) fn note_in_place(&mut self, place: &Place, origin: &Origin) {
        if place.is_in_place() {
            self.note(&Note::InPlace {
                path: place.top().to_path_buf().into(),
                branch: place.branch().to_string(),
                base: origin.base().map(ToString::to_string),
                log_end: origin.log_end(),
            });
        }
    }

    /// Notes that there is no worktree to be done with: it was not made.
    pub(super) fn not_opened(&mut self, plan: &Plan, number: u32) {
        if let Some(path) = plan.folder(number).filter(|path| !path.exists()) {
            self.note_closed(&path, false);
        }
    }

    pub(super) fn note_closed(&mut self, path: &Path, preserved: bool) {
        let fate = if preserved { Fate::Preserved } else { Fate::Removed };
        self.note(&Note::WorktreeClosed { path: path.to_path_buf().into(), fate });
    }

    /// Notes a sandbox that can outlive this process.
    pub(super) fn note_sandbox(&mut self, provider: &str, sandbox: &dyn SandboxHandle) {
        if let Some(id) = sandbox.id() {
            self.note(&Note::Sandbox { provider: provider.to_owned(), id });
        }
    }

    /// Notes that a sandbox is gone.
    pub(super) fn note_sandbox_closed(&mut self, sandbox: &dyn SandboxHandle) {
        if let Some(id) = sandbox.id() {
            self.note(&Note::SandboxClosed { id });
        }
    }

    /// Notes a folder of this host that a schema is about to be kept in.
    pub(super) fn note_scratch(&mut self, folder: &Path) {
        self.note(&Note::Scratch { path: folder.to_path_buf().into() });
    }

    pub(super) fn note_scratch_removed(&mut self) {
        self.note(&Note::ScratchRemoved);
    }

    /// Notes the conversation that the agent named.
    pub(super) fn named_session(&mut self, id: &SessionId, file: impl FnOnce() -> Option<PathBuf>) {
        let file = file().map(Into::into);
        self.note(&Note::Session { id: id.to_string(), file });
    }

    /// Notes that the work is done, and tells everybody; what follows is the question for the output, in this session.
    pub(super) fn extracting(&mut self, session: &SessionId) {
        self.note(&Note::Extracting { session: session.to_string() });
        self.tell(&RunEvent::ExtractionStarted { session: session.clone() });
    }

    /// Notes what is asked for.
    pub(super) fn asked(&mut self, spec: &OutputSpec) {
        let format = match spec.format() {
            OutputFormat::Json => Format::Json,
            OutputFormat::Text => Format::Text,
        };
        self.note(&Note::Output { tag: spec.tag().to_owned(), format, schema: spec.schema().clone() });
    }

    /// Notes the answer of a turn that is over, while its process may go on.
    pub(super) fn answered_with(&mut self, locator: Option<&Locator>) {
        if let Some(Ok(block)) = locator.cloned().map(Locator::finish) {
            self.note(&Note::Answered { block: block.into_string() });
        }
    }

    pub(super) fn note_accepted(&mut self, block: &str, spec: &OutputSpec) {
        if let Ok(value) = spec.read_block(block) {
            self.note(&Note::Accepted { value });
        }
    }

    pub(super) fn note_commits(&mut self) {
        let commits: Vec<NotedCommit> = self.work.commits.iter().map(NotedCommit::from).collect();
        if !commits.is_empty() {
            self.note(&Note::Commits { commits });
        }
    }

    /// Notes a branch that is about to be moved.
    pub(super) fn landing(&mut self, landing: &Landing<'_>) {
        self.note(&Note::Landing {
            source: landing.source.to_string(),
            tip: landing.tip.to_string(),
            target: landing.target.to_string(),
        });
    }

    pub(super) fn note_landed(&mut self, landing: &Landing<'_>, landed: &Landed) {
        let commit = match landed {
            Landed::Nothing => landing.tip,
            Landed::FastForward { to } => to,
            Landed::Merged { commit } => commit,
        };
        self.note(&Note::Landed { target: landing.target.to_string(), commit: commit.to_string() });
    }
}
