//! Asking somebody: steps that are there for it, and answers that are not certain enough.
//!
//! A decision is written down before anything follows from it, so nobody is asked the same twice. Where nobody is there, the
//! question ends the way that it stands in, and other ways go on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::definition::{ApprovalStep, Step};
use super::super::event::WorkflowEvent;
use super::super::options::{ApprovalReason, ApprovalRequest, Decision};
use super::super::outcome::StepStatus;
use super::super::record::{Decided, Deed, Note, Verdict};
use super::fault::Halt;
use super::stage::Stage;
use super::work::shortfall_words;

impl Stage<'_> {
    /// Asks for consent where the workflow has a step for it.
    pub(super) async fn approve(&self, step: &Step, approval: &ApprovalStep) -> Result<(), Halt> {
        self.begin(step)?;
        let begun = Instant::now();
        let mut deed = Deed::default();
        let message = match &approval.message {
            None => format!("Go on with the step `{}`?", step.name),
            Some(text) => match self.render_text(text, "message") {
                Ok(message) => message,
                Err(fault) => return Err(self.fail(step, &deed, fault)),
            },
        };
        let request = ApprovalRequest { step: step.name.to_string(), reason: ApprovalReason::Step, message };
        let consent = self.ask(step, request, &mut deed, begun).await?;
        self.complete(step, json!({ "approved": true, "note": consent }), &deed)
    }

    /// Asks for consent to an answer that is not certain enough.
    pub(super) async fn consent(
        &self,
        step: &Step,
        output: Value,
        mut deed: Deed,
        (confidence, threshold): (f64, f64),
    ) -> Result<(), Halt> {
        let reason = ApprovalReason::Guardrail { confidence, threshold, output: output.clone() };
        let why = shortfall_words(confidence, threshold);
        let message =
            format!("The answer of the step `{}` is not certain enough ({why}). Go on with it?", step.name);
        let request = ApprovalRequest { step: step.name.to_string(), reason, message };
        let earlier = Duration::try_from_secs_f64(deed.seconds).unwrap_or_default();
        let begun = Instant::now().checked_sub(earlier).unwrap_or_else(Instant::now);
        self.ask(step, request, &mut deed, begun).await?;
        self.complete(step, output, &deed)
    }

    /// Asks somebody, and returns what was said with a yes. Everything else ends the step.
    async fn ask(
        &self,
        step: &Step,
        request: ApprovalRequest,
        deed: &mut Deed,
        begun: Instant,
    ) -> Result<String, Halt> {
        let decision = self.decide(step, &request).await;
        deed.took(begun.elapsed());
        let (status, halt) = match decision {
            Ok(Decision::Approve { note }) => return Ok(note),
            Ok(Decision::Reject { note }) => {
                (StepStatus::Rejected, Halt::Rejected { step: step.name.to_string(), note })
            }
            Ok(Decision::Later) => (StepStatus::AwaitingApproval, Halt::Awaiting(vec![request])),
            Err(halt @ Halt::Cancelled) => (StepStatus::Cancelled, halt),
            Err(halt) => return Err(halt),
        };
        self.give_up(step, deed, status, None)?;
        Err(halt)
    }

    async fn decide(&self, step: &Step, request: &ApprovalRequest) -> Result<Decision, Halt> {
        let name = step.name.as_str();
        let given = self.decisions.get(name).filter(|decision| **decision != Decision::Later).cloned();
        let known = self.past.as_ref().and_then(|past| past.decided.get(name));
        let decision = match (known, given) {
            (Some(known), _) => return Ok(repeated(known)),
            (None, Some(given)) => given,
            (None, None) => {
                self.tell(WorkflowEvent::ApprovalAsked { request: request.clone() });
                let Some(ask) = &self.approver else { return Ok(Decision::Later) };
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Err(Halt::Cancelled),
                    decision = ask(self.audience.shown(request)) => decision,
                }
            }
        };
        let (verdict, remark) = match &decision {
            Decision::Approve { note } => (Verdict::Approved, note),
            Decision::Reject { note } => (Verdict::Rejected, note),
            Decision::Later => return Ok(decision),
        };
        self.write(step, &Note::Decided { step: name.to_owned(), verdict, remark: remark.clone() })?;
        Ok(decision)
    }
}

/// Returns what was decided before.
fn repeated(known: &Decided) -> Decision {
    let note = known.remark.clone();
    match known.verdict {
        Verdict::Approved => Decision::Approve { note },
        Verdict::Rejected => Decision::Reject { note },
    }
}
