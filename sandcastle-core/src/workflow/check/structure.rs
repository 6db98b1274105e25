//! What a workflow has to be before anybody reads its expressions: names, numbers, gates, and steps with something in them.

use std::collections::HashMap;

use serde_json::Value;

use super::super::definition::{
    AgentStep, Defaults, MAX_NAME, ParallelStep, RESERVED, Step, StepKind, Text, Workflow,
};
use super::super::expression::WORDS;
use super::super::finding::{Finding, Place};
use super::MAX_DEPTH;
use super::members::field_of;
use super::schema::{Found, Node, read};
use super::scope::ways;
use super::shape::Kinds;
use crate::workflow::nearest::shortened;

/// Holds a workflow to the rules.
pub(super) fn check(workflow: &Workflow, found: &mut Vec<Finding>) {
    let mut structure = Structure { workflow, found, names: HashMap::new() };
    structure.whole();
    structure.variables();
    structure.steps(&workflow.steps, "steps", 0);
}

struct Structure<'w, 'f> {
    workflow: &'w Workflow,
    found: &'f mut Vec<Finding>,
    /// Where each name was first seen.
    names: HashMap<&'w str, (String, Option<Place>)>,
}

impl<'w> Structure<'w, '_> {
    fn error(
        &mut self,
        path: impl Into<String>,
        place: Option<Place>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.found.push(Finding::error(path, place, message).with_hint(hint));
    }

    fn whole(&mut self) {
        let threshold = self.workflow.guardrails.confidence_threshold;
        if threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            self.error(
                "guardrails.confidence_threshold",
                None,
                "`confidence_threshold` is from 0 to 1",
                "such as 0.7",
            );
        }
        if self.workflow.max_parallel == Some(0) {
            self.error("max_parallel", None, "`max_parallel` is at least 1", "leave it out for 4");
        }
        if self.workflow.steps.is_empty() {
            self.error("steps", None, "a workflow has at least one step", "add one");
        }
    }

    fn variables(&mut self) {
        let mut names = Vec::new();
        for var in &self.workflow.vars {
            let path = format!("vars.{}", shortened(&var.name));
            if !is_name(&var.name) {
                let message = format!(
                    "the name `{}` has other characters than letters, digits and `_`",
                    shortened(&var.name)
                );
                self.error(path.clone(), var.place, message, "choose another name");
            }
            if var.name.len() > MAX_NAME {
                self.error(path.clone(), var.place, too_long(&var.name), "shorten it");
            }
            if names.contains(&var.name.as_str()) {
                self.error(
                    path.clone(),
                    var.place,
                    format!("there are two variables `{}`", shortened(&var.name)),
                    "choose another name",
                );
            }
            names.push(var.name.as_str());
            self.default(&path, var.place, &var.schema, var.default.as_ref());
        }
    }

    fn default(&mut self, path: &str, place: Option<Place>, schema: &Value, default: Option<&Value>) {
        match (jsonschema::validator_for(schema), default) {
            (Err(error), _) => {
                let message: String = error.to_string().chars().take(200).collect();
                self.error(
                    path,
                    place,
                    format!("this is no JSON Schema: {message}"),
                    "as in `{ type: string }`",
                );
            }
            (Ok(validator), Some(default)) => {
                if let Err(error) = validator.validate(default) {
                    let message: String = error.to_string().chars().take(200).collect();
                    self.error(
                        path,
                        place,
                        format!("the default does not fit: {message}"),
                        "change the default, or the schema",
                    );
                }
            }
            (Ok(_), None) => {}
        }
    }

    fn steps(&mut self, steps: &'w [Step], path: &str, depth: usize) {
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}[{index}]");
            if depth > MAX_DEPTH {
                let message = format!("conditions and parallel steps are more than {MAX_DEPTH} levels deep");
                return self.error(path, step.place, message, "split the workflow");
            }
            self.name(step, &path);
            for method in &step.misplaced {
                let message = format!("`{method}` does not belong to {}", kind_of(step));
                self.error(path.clone(), step.place, message, "leave it out");
            }
            self.kind(step, &path);
            self.contract(step, &path);
            self.gate(step, &path);
            for (way, steps) in ways(step) {
                self.steps(steps, &format!("{path}.{way}"), depth + 1);
            }
        }
    }

    fn name(&mut self, step: &'w Step, path: &str) {
        let name = step.name.as_str();
        let shown = shortened(name);
        if name.len() > MAX_NAME {
            self.error(path, step.place, too_long(name), "shorten it");
        } else if !is_name(name) {
            let hint = "a name has letters, digits and `_`, and does not begin with a digit";
            self.error(path, step.place, format!("`{shown}` is no name of a step"), hint);
        } else if RESERVED.contains(&name) {
            self.error(
                path,
                step.place,
                format!("expressions know `{name}` as something else"),
                "choose another name",
            );
        } else if WORDS.contains(&name) {
            self.error(path, step.place, format!("`{name}` is a word of expressions"), "choose another name");
        }
        match self.names.get(name) {
            Some((_, Some(place))) => {
                let message = format!("there is a step `{shown}` already, in line {}", place.line);
                self.error(path, step.place, message, "names are unique in the whole workflow");
            }
            Some((first, None)) => {
                let message = format!("there is a step `{shown}` already, `{first}`");
                self.error(path, step.place, message, "names are unique in the whole workflow");
            }
            None => drop(self.names.insert(name, (path.to_owned(), step.place))),
        }
    }

    fn kind(&mut self, step: &'w Step, path: &str) {
        let at = step.place;
        match &step.kind {
            StepKind::Model(model) if model.prompt.source.trim().is_empty() => {
                self.error(format!("{path}.prompt"), at, "the prompt is empty", "say what there is to do");
            }
            StepKind::Model(_) | StepKind::Approval(_) => {}
            StepKind::Agent(agent) => self.agent(step, agent, path),
            StepKind::Tool(tool) => self.env(&tool.env, path, at),
            StepKind::Condition(choice) => {
                if choice.then.is_empty() && choice.otherwise.is_empty() {
                    self.error(
                        path,
                        at,
                        "there is no step behind the condition",
                        "add steps to `then` or to `else`",
                    );
                }
            }
            StepKind::Parallel(parallel) => self.parallel(parallel, path, at),
        }
    }

    fn agent(&mut self, step: &Step, agent: &'w AgentStep, path: &str) {
        let at = step.place;
        if agent.prompt.source.trim().is_empty() {
            self.error(format!("{path}.prompt"), at, "the prompt is empty", "say what there is to do");
        }
        match agent.max_iterations {
            Some(0) => self.error(
                format!("{path}.max_iterations"),
                at,
                "`max_iterations` is at least 1",
                "leave it out for 1",
            ),
            Some(count) if count > 1 && step.contract.is_some() => {
                let message = "an agent whose output has a schema has one iteration";
                self.error(format!("{path}.max_iterations"), at, message, "leave `max_iterations` out");
            }
            _ => {}
        }
        self.env(&agent.env, path, at);
    }

    fn env(&mut self, env: &'w [(String, Text)], path: &str, place: Option<Place>) {
        for (name, text) in env {
            if !is_name(name) {
                let message = format!("`{}` is no name of an environment variable", shortened(name));
                let hint = "a name has letters, digits and `_`, and does not begin with a digit";
                self.error(format!("{path}.env"), text.place(0).or(place), message, hint);
            }
        }
    }

    fn parallel(&mut self, step: &'w ParallelStep, path: &str, place: Option<Place>) {
        if step.branches.is_empty() {
            self.error(format!("{path}.branches"), place, "there is no branch", "add branches with steps");
        }
        if step.limit == Some(0) {
            self.error(
                format!("{path}.limit"),
                place,
                "`limit` is at least 1",
                "leave it out for the limit of the workflow",
            );
        }
        for (index, branch) in step.branches.iter().enumerate() {
            let (name, place) = (shortened(&branch.name), branch.place.or(place));
            let path = format!("{path}.branches.{name}");
            if branch.name.trim().is_empty() {
                self.error(path.clone(), place, "a branch needs a name", "name it");
            }
            if branch.name.len() > MAX_NAME {
                self.error(path.clone(), place, too_long(&branch.name), "shorten it");
            }
            if branch.steps.is_empty() {
                self.error(
                    path.clone(),
                    place,
                    format!("the branch `{name}` has no step"),
                    "add one, or leave the branch out",
                );
            }
            if step.branches[..index].iter().any(|other| other.name == branch.name) {
                self.error(path, place, format!("there are two branches `{name}`"), "choose another name");
            }
        }
    }

    fn contract(&mut self, step: &Step, path: &str) {
        let Some(contract) = &step.contract else { return };
        if matches!(step.kind, StepKind::Model(_) | StepKind::Agent(_) | StepKind::Tool(_)) {
            return;
        }
        let message = format!("the output of {} has its own schema", kind_of(step));
        self.error(
            format!("{path}.output_schema"),
            contract.place.or(step.place),
            message,
            "leave `output_schema` out",
        );
    }

    fn gate(&mut self, step: &Step, path: &str) {
        if !step.confidence_gate {
            return;
        }
        let path = format!("{path}.confidence_gate");
        if self.workflow.guardrails.confidence_threshold.is_none() {
            let hint = "set `guardrails.confidence_threshold`, from 0 to 1";
            self.error(path.clone(), step.place, "there is no threshold for this gate", hint);
        }
        let hint = "the schema of its output needs a required `confidence`, a number without a default";
        match (&step.contract, &step.kind) {
            (Some(contract), _) => {
                if let Some(problem) = confidence_problem(contract.schema()) {
                    self.error(path, contract.place.or(step.place), problem, hint);
                }
            }
            (None, StepKind::Model(_)) => {}
            (None, _) => self.error(path, step.place, "this step has no confidence", hint),
        }
    }
}

fn kind_of(step: &Step) -> &'static str {
    match &step.kind {
        StepKind::Model(_) => "a model",
        StepKind::Agent(_) => "an agent",
        StepKind::Tool(_) => "a tool",
        StepKind::Condition(_) => "a condition",
        StepKind::Approval(_) => "an approval",
        StepKind::Parallel(_) => "a parallel step",
    }
}

/// What keeps the `confidence` of a schema from being there, as a number, in each answer.
fn confidence_problem(schema: &Value) -> Option<&'static str> {
    let (mut is_missing, mut is_other, mut is_optional) = (false, false, false);
    for fields in &read(&[Node::root(schema, Defaults::Left)]).objects {
        match field_of(fields, "confidence") {
            Found::Nowhere(_) => is_missing = true,
            Found::Field(shape) => {
                let number = Kinds { number: true, ..Kinds::default() };
                is_other |= shape.is_open() || shape.null || shape.kinds() != number;
                is_optional |= shape.absent.is_some();
            }
        }
    }
    if is_missing {
        Some("the output has no `confidence`")
    } else if is_other {
        Some("`confidence` is not always a number")
    } else if is_optional {
        Some("`confidence` is not required, so that an answer could leave it out")
    } else if schema.pointer("/properties/confidence/default").is_some() {
        Some("`confidence` has a default, so that an answer could leave it out")
    } else {
        None
    }
}

/// Says of a name that nobody wants to read it.
fn too_long(name: &str) -> String {
    format!("a name has at most {MAX_NAME} characters, and this one has {}", name.chars().count())
}

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
