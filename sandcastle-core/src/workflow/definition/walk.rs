//! All steps of a workflow, those within others included.

use super::Workflow;
use super::step::{ModelSource, ModelStep, Step, StepKind};

impl Workflow {
    /// Returns every step, each before those in it.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = &Step> {
        let mut waiting: Vec<&Step> = self.steps.iter().rev().collect();
        std::iter::from_fn(move || {
            let step = waiting.pop()?;
            waiting.extend(step.inner().rev());
            Some(step)
        })
    }

    /// Returns the names of the variables that hold the keys of its models.
    pub(crate) fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.all_steps().filter_map(|step| match &step.kind {
            StepKind::Model(ModelStep { model: ModelSource::Named(spec), .. }) => spec.api_key.as_deref(),
            _ => None,
        })
    }
}

impl Step {
    /// Returns the steps that are directly in this one.
    fn inner(&self) -> impl DoubleEndedIterator<Item = &Self> {
        let lists: Vec<&[Self]> = match &self.kind {
            StepKind::Condition(step) => vec![&step.then, &step.otherwise],
            StepKind::Parallel(step) => step.branches.iter().map(|branch| &*branch.steps).collect(),
            StepKind::Model(_) | StepKind::Agent(_) | StepKind::Tool(_) | StepKind::Approval(_) => Vec::new(),
        };
        lists.into_iter().flatten()
    }
}

impl StepKind {
    /// Returns its name, as a document writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Model(_) => "model",
            Self::Agent(_) => "agent",
            Self::Tool(_) => "tool",
            Self::Condition(_) => "condition",
            Self::Approval(_) => "approval",
            Self::Parallel(_) => "parallel",
        }
    }
}
