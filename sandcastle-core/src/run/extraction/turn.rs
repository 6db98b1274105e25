//! The second phase of a run with an extraction: one turn, and its corrections, in the session of the work.
//!
//! It begins in the workplace of the last iteration, with everything as the work has left it, and is over before anything lands.
//! That nothing changes meanwhile is seen to by `run/quiet`, around each process.

use super::Extraction;
use crate::agent::TurnMode;
use crate::error::{Error, ErrorKind, Result};
use crate::id::SessionId;
use crate::output::OutputSpec;
use crate::run::driver::{self, Job, Judge};
use crate::run::iteration::Stage;
use crate::run::ledger::Ledger;
use crate::run::outcome::{Ending, StructuredOutputError};
use crate::run::plan::SchemaPlan;
use crate::session::SessionRequest;

/// What is asked for when the work is done, and by which words.
#[derive(Debug)]
pub(in crate::run) struct Question<'a> {
    pub(in crate::run) job: &'a Job,
    pub(in crate::run) extraction: &'a Extraction,
    pub(in crate::run) spec: &'a OutputSpec,
    pub(in crate::run) plan: SchemaPlan,
}

impl Question<'_> {
    /// Asks it after work that ended as `produced` says.
    ///
    /// # Errors
    /// [`ErrorKind::NoSession`] when there is no session to ask in; otherwise as those of the attempts at an output.
    pub(in crate::run) async fn ask_after(
        self,
        produced: Ending,
        stage: Stage<'_>,
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Ending> {
        ledger.collect_commits(stage.workplace).await;
        let last = ledger.work.iterations.last().and_then(|iteration| iteration.session_id.clone());
        let session = last.ok_or_else(|| no_session(stage.agent.name(), self.spec))?;
        ledger.extracting(&session);
        let said = std::mem::take(&mut ledger.work.text);
        let answered = self.ask_in(session, stage, judge, ledger).await;
        let answer = std::mem::replace(&mut ledger.work.text, said);
        let answered = answered.map_err(|error| with_answer(error, answer))?;
        Ok(Ending { completion_signal: produced.completion_signal, ..answered })
    }

    async fn ask_in(
        self,
        session: SessionId,
        stage: Stage<'_>,
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Ending> {
        let Self { job, extraction, spec, plan } = self;
        let plan = plan.asked_by(extraction.prompt(), spec)?;
        let stage = stage.in_mode(TurnMode::SpeakOnly);
        let said = (extraction.prompt().to_owned(), SessionRequest::Resume(session));
        driver::answered_or_stood_in_for(job, &stage, (spec, plan), said, judge, ledger).await
    }
}

/// Keeps what was said in the last turn with its refusal; the text of the run is that of its work.
fn with_answer(mut error: Error, answer: String) -> Error {
    if let Some(output) = error.source_as_mut::<StructuredOutputError>() {
        output.answer = Some(answer);
    }
    error
}

fn no_session(agent: &str, spec: &OutputSpec) -> Error {
    let tag = spec.tag();
    let what =
        format!("ask for `<{tag}>` after the work: the agent `{agent}` named no session to go on with");
    Error::new(ErrorKind::NoSession, what)
        .with_hint("what was produced is kept: see the branch, and the text of the work")
}
