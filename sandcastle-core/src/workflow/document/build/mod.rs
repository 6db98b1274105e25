//! From the tree of a document to a workflow.
//!
//! The structure has been held against the table of keys by now, so what is not as it should be is left away here without a
//! word: a workflow comes out in any case, for the checks that say what else is wrong. Only what the table cannot know is
//! said here: models that are not declared, files that cannot be read, and schemas that contradict themselves.

mod fields;
mod steps;

use super::super::definition::{
    FallbackAction, Guardrails, ModelSource, Variable, Workflow, WorkflowVersion,
};
use super::super::providers::ModelSpec;
use super::contract;
use super::files::PromptFiles;
use super::hold::variable_of;
use super::report::{Path, Report, listed, shown};
use super::tree::{Content, Entry, Node};
use crate::workflow::nearest::nearest;

/// Builds the workflow that the root of a document describes.
pub(super) fn build(
    root: &Node,
    version: WorkflowVersion,
    files: &dyn PromptFiles,
    report: &mut Report,
) -> Workflow {
    let models = entries(root, "models").iter().map(|entry| (entry.key.as_str(), model_spec(&entry.value)));
    let mut builder = Builder { models: models.collect(), files, report };
    let at = Path::default();
    let vars = entries(root, "vars").iter().map(|entry| builder.variable(entry, &at.key("vars"))).collect();
    Workflow {
        version,
        name: root.string("name").unwrap_or_default(),
        description: root.string("description"),
        vars,
        guardrails: guardrails(root),
        max_parallel: root.whole("max_parallel"),
        steps: builder.steps(root.get("steps"), &at.key("steps")),
        outputs: root.templates("outputs"),
        source: None,
        file: None,
    }
}

struct Builder<'a> {
    models: Vec<(&'a str, Option<ModelSpec>)>,
    files: &'a dyn PromptFiles,
    report: &'a mut Report,
}

impl Builder<'_> {
    fn variable(&mut self, entry: &Entry, at: &Path) -> Variable {
        let (name, place) = (entry.key.clone(), Some(entry.place));
        let (schema, default) = match &entry.value.content {
            Content::Map(_) => contract::variable(&entry.value, &at.key(&name), self.report),
            _ => {
                let default = entry.value.to_json();
                (Variable::schema_of(&default), Some(default))
            }
        };
        Variable { name, schema, default, place }
    }

    /// Finds the model that a step asks.
    fn model(&mut self, step: &Node, at: &Path) -> ModelSource {
        let model = step.get("model");
        if let Some(node @ Node { content: Content::Map(_), .. }) = model {
            return ModelSource::Named(model_spec(node).unwrap_or_else(unknown_model));
        }
        let name = model.and_then(Node::str).unwrap_or("default");
        let found = self.models.iter().find(|(known, _)| *known == name);
        let spec = found.map(|(_, spec)| spec.clone().unwrap_or_else(unknown_model));
        if spec.is_none() {
            self.no_model(step, model, name, at);
        }
        ModelSource::Named(spec.unwrap_or_else(unknown_model))
    }

    fn no_model(&mut self, step: &Node, model: Option<&Node>, name: &str, at: &Path) {
        let names = || self.models.iter().map(|(name, _)| *name);
        match model {
            None => {
                let message = "names no model, and `models` has no `default`";
                let hint =
                    "declare `models: { default: { provider: ..., name: ... } }`, or give the step a `model`";
                self.report.error(at, step.place, message, hint);
            }
            Some(node) if node.str().is_some() && !self.report.has(&at.key("model")) => {
                let message = format!("`{}` is no name in `models`", shown(name));
                let hint = match nearest(name, names()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None if self.models.is_empty() => {
                        "declare it in `models`, or write `{ provider: ..., name: ... }` here".to_owned()
                    }
                    None => format!("declare it there, beside {}", listed(names())),
                };
                self.report.error(&at.key("model"), node.place, message, hint);
            }
            Some(_) => {}
        }
    }
}

fn entries<'n>(node: &'n Node, key: &str) -> &'n [Entry] {
    node.get(key).map(Node::entries).unwrap_or_default()
}

fn guardrails(root: &Node) -> Guardrails {
    let Some(node) = root.get("guardrails") else { return Guardrails::default() };
    let fallback_action = match node.get("fallback_action").and_then(Node::str) {
        Some("escalate_to_human") => FallbackAction::EscalateToHuman,
        _ => FallbackAction::Fail,
    };
    Guardrails { confidence_threshold: node.float("confidence_threshold"), fallback_action }
}

fn model_spec(node: &Node) -> Option<ModelSpec> {
    let mut spec = ModelSpec::new(node.string("provider")?, node.string("name")?);
    spec.api_key = node.get("api_key").and_then(Node::str).and_then(variable_of).map(str::to_owned);
    spec.base_url = node.string("base_url");
    spec.supports = steps::strategies(node, "supports");
    spec.timeout = node.seconds("timeout");
    Some(spec)
}

/// Stands in the place of a model that is described wrongly, in a workflow that is never run.
fn unknown_model() -> ModelSpec {
    ModelSpec::new("", "")
}
