//! A step that does something: it takes its turn, is done, and its answer is weighed against the threshold.

use std::time::Instant;

use serde_json::Value;

use super::super::definition::{FallbackAction, Step, StepKind};
use super::super::event::WorkflowEvent;
use super::super::record::{Deed, Note};
use super::fault::{Fault, Halt};
use super::stage::Stage;
use super::{agent, contract, model, tool};

impl Stage<'_> {
    /// Does a step.
    pub(super) async fn work(&self, step: &Step) -> Result<(), Halt> {
        if let Some(held) = self.past.as_ref().and_then(|past| past.held.get(step.name.as_str())) {
            let (name, kind) = (step.name.to_string(), step.kind.name().to_owned());
            self.tell(WorkflowEvent::StepStarted { step: name, kind, again: false });
            self.learn_env(step);
            return self.weigh(step, held.output.clone(), held.deed.clone()).await;
        }
        let permit = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(Halt::Cancelled),
            permit = self.permits.acquire() => permit,
        };
        self.begin(step)?;
        let mut deed = Deed::default();
        let begun = Instant::now();
        let done = match &step.kind {
            StepKind::Model(kind) => model::ask(self, step, kind, &mut deed).await,
            StepKind::Agent(kind) => agent::run(self, step, kind, &mut deed).await,
            StepKind::Tool(kind) => tool::run(self, step, kind, &mut deed).await,
            StepKind::Condition(_) | StepKind::Approval(_) | StepKind::Parallel(_) => Ok(Value::Null),
        };
        deed.took(begun.elapsed());
        // A person may take long, and somebody else can work meanwhile.
        drop(permit);
        match done {
            Ok(answer) => self.judge(step, answer, deed).await,
            Err(fault) => Err(self.fail(step, &deed, fault)),
        }
    }

    /// Makes an output of an answer, and keeps it where somebody is to be asked about it.
    async fn judge(&self, step: &Step, answer: Value, mut deed: Deed) -> Result<(), Halt> {
        if step.confidence_gate {
            deed.confidence = answer.get("confidence").and_then(Value::as_f64);
        }
        let output = contract::output(step, self.workflow.version, answer);
        let escalates = self.workflow.guardrails.fallback_action == FallbackAction::EscalateToHuman;
        if escalates && self.shortfall(&deed).is_some() {
            let (step_name, output, deed) = (step.name.to_string(), output.clone(), deed.clone());
            self.write(step, &Note::Held { step: step_name, output, deed })?;
        }
        self.weigh(step, output, deed).await
    }

    /// Holds the confidence of an answer against the threshold.
    async fn weigh(&self, step: &Step, output: Value, deed: Deed) -> Result<(), Halt> {
        let Some((confidence, threshold)) = self.shortfall(&deed) else {
            return self.complete(step, output, &deed);
        };
        match self.workflow.guardrails.fallback_action {
            FallbackAction::EscalateToHuman => {
                self.consent(step, output, deed, (confidence, threshold)).await
            }
            FallbackAction::Fail => {
                let said = format!("is not certain enough: {}", shortfall_words(confidence, threshold));
                Err(self.fail(step, &deed, Fault::ruled(said)))
            }
        }
    }

    /// Returns the confidence and the threshold, if that is not reached.
    fn shortfall(&self, deed: &Deed) -> Option<(f64, f64)> {
        let (confidence, threshold) = (deed.confidence?, self.workflow.guardrails.confidence_threshold?);
        (confidence < threshold).then_some((confidence, threshold))
    }
}

/// Words an answer that is not certain enough.
pub(super) fn shortfall_words(confidence: f64, threshold: f64) -> String {
    format!("its confidence is {confidence}, and the threshold is {threshold}")
}
