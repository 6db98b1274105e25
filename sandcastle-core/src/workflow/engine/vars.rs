//! The variables of a run: what is declared, what is set, and whether it fits.

use serde_json::{Map, Value};

use super::super::definition::{Variable, Workflow};
use super::super::finding::Finding;
use crate::output::OutputSpec;

/// Returns the value of each variable, and what is wrong with what they are set to.
pub(super) fn resolve(workflow: &Workflow, set: &Map<String, Value>) -> (Map<String, Value>, Vec<Finding>) {
    let (mut vars, mut findings) = (Map::new(), Vec::new());
    let is_declared = |name: &str| workflow.vars.iter().any(|variable| variable.name == name);
    findings.extend(set.keys().filter(|name| !is_declared(name)).map(|name| undeclared(workflow, name)));
    for variable in &workflow.vars {
        match set.get(&variable.name).or(variable.default.as_ref()) {
            Some(value) => match fitting(variable, value) {
                Ok(value) => _ = vars.insert(variable.name.clone(), value),
                Err(problems) => findings.extend(problems),
            },
            None => {
                let message = format!("the variable `{}` is not set, and has no default", variable.name);
                findings.push(Finding::error(path(&variable.name), variable.place, message));
            }
        }
    }
    (vars, findings)
}

fn fitting(variable: &Variable, value: &Value) -> Result<Value, Vec<Finding>> {
    let failed = |message: String| Finding::error(path(&variable.name), variable.place, message);
    let spec = OutputSpec::json("value", variable.schema.clone())
        .map_err(|error| vec![failed(format!("the variable cannot be checked: failed to {error}"))])?;
    spec.fill_defaults().read_block(&value.to_string()).map_err(|error| {
        let name = &variable.name;
        let problems =
            error.problems.iter().map(|problem| failed(format!("the variable `{name}`: {problem}")));
        problems.collect()
    })
}

fn undeclared(workflow: &Workflow, name: &str) -> Finding {
    let finding = Finding::error(path(name), None, format!("the workflow has no variable `{name}`"));
    let names: Vec<_> = workflow.vars.iter().map(|variable| format!("`{}`", variable.name)).collect();
    if names.is_empty() {
        return finding.with_hint("it declares none: see `vars`");
    }
    finding.with_hint(format!("it has {}", names.join(", ")))
}

fn path(name: &str) -> String {
    format!("vars.{name}")
}
