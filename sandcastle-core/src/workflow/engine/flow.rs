//! The way through the steps: one after the other, one of two ways, several at once.
//!
//! Nothing is detached: ways that are gone at the same time are futures of the one that runs the workflow. A step that fails
//! ends them through the token that all of them listen to, and they come to their own ends before the run does.

use std::time::Instant;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::json;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use super::super::definition::{ConditionStep, ParallelStep, Step, StepKind};
use super::super::outcome::StepStatus;
use super::super::record::Deed;
use super::fault::{Fault, Halt};
use super::stage::Stage;
use super::trace;

impl Stage<'_> {
    /// Does steps in their order.
    pub(super) fn steps<'s>(&'s self, steps: &'s [Step]) -> BoxFuture<'s, Result<(), Halt>> {
        Box::pin(async move {
            for step in steps {
                self.step(step).instrument(trace::step(step)).await?;
            }
            Ok(())
        })
    }

    async fn step(&self, step: &Step) -> Result<(), Halt> {
        if self.stop.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        let is_done = self.take_over(step);
        match &step.kind {
            StepKind::Condition(condition) => self.choose(step, condition, is_done).await,
            StepKind::Parallel(parallel) => self.part(step, parallel, is_done).await,
            _ if is_done => Ok(()),
            StepKind::Approval(approval) => self.approve(step, approval).await,
            StepKind::Model(_) | StepKind::Agent(_) | StepKind::Tool(_) => self.work(step).await,
        }
    }

    /// Takes what an earlier run has done of a step; `false` if it is still to be done.
    fn take_over(&self, step: &Step) -> bool {
        let done = self.past.as_ref().and_then(|past| past.done.get(step.name.as_str()));
        if let Some(done) = done {
            self.learn_env(step);
            self.know(step, done.output.clone(), &done.deed, StepStatus::Resumed);
        }
        done.is_some()
    }

    /// Goes one of two ways. The choice is an output like any other, so a resumed run goes the same way.
    async fn choose(&self, step: &Step, condition: &ConditionStep, is_done: bool) -> Result<(), Halt> {
        if !is_done {
            self.begin(step)?;
            let mut deed = Deed::default();
            let begun = Instant::now();
            let answer = self.evaluate(&condition.test);
            deed.took(begun.elapsed());
            match answer {
                Ok(answer) => {
                    let taken = if answer { "then" } else { "else" };
                    self.complete(step, json!({ "taken": taken }), &deed)?;
                }
                Err(fault) => return Err(self.fail(step, &deed, fault)),
            }
        }
        let is_then =
            self.state().scope.values.get(step.name.as_str()).is_some_and(|it| it["taken"] == "then");
        self.steps(if is_then { &condition.then } else { &condition.otherwise }).await
    }

    /// Goes several ways at once, and joins them.
    async fn part(&self, step: &Step, parallel: &ParallelStep, is_done: bool) -> Result<(), Halt> {
        if !is_done {
            self.begin(step)?;
        }
        let begun = Instant::now();
        let ended = self.branches(parallel).await;
        let mut deed = Deed::default();
        deed.took(begun.elapsed());
        match ended {
            Ok(()) if is_done => Ok(()),
            Ok(()) => {
                let names: Vec<_> = parallel.branches.iter().map(|branch| branch.name.as_str()).collect();
                self.complete(step, json!({ "branches": names }), &deed)
            }
            Err(halt) => {
                let said = match &halt {
                    Halt::Failed { step, .. } => Some(format!("was left, because the step `{step}` failed")),
                    _ => None,
                };
                self.give_up(step, &deed, halt.status(), said.as_deref())?;
                Err(halt)
            }
        }
    }

    async fn branches(&self, parallel: &ParallelStep) -> Result<(), Halt> {
        let limit = parallel.limit.unwrap_or(Semaphore::MAX_PERMITS).clamp(1, Semaphore::MAX_PERMITS);
        let turns = Semaphore::new(limit);
        let branch = async |steps| {
            // Nobody closes it.
            let _turn = turns.acquire().await;
            self.steps(steps).await
        };
        let mut under_way: FuturesUnordered<_> =
            parallel.branches.iter().map(|it| branch(it.steps.as_slice())).collect();
        let mut joined = None;
        while let Some(ended) = under_way.next().await {
            let Err(halt) = ended else { continue };
            if halt.ends_all() {
                self.stop.cancel();
            }
            joined = Some(match joined {
                None => halt,
                Some(earlier) => Halt::and(earlier, halt),
            });
        }
        joined.map_or(Ok(()), Err)
    }

    /// Notes that a step has failed, or was ended, and says what follows.
    pub(super) fn fail(&self, step: &Step, deed: &Deed, fault: Fault) -> Halt {
        let is_ended = fault.error.is_cancelled() && self.stop.is_cancelled();
        let (status, said) = match is_ended {
            true => (StepStatus::Cancelled, None),
            false => (StepStatus::Failed, Some(&*fault.said)),
        };
        if let Err(halt) = self.give_up(step, deed, status, said) {
            return halt;
        }
        match is_ended {
            true => Halt::Cancelled,
            false => Halt::Failed { step: step.name.to_string(), fault },
        }
    }
}
