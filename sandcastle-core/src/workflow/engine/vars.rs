//! The variables of a run: what is declared, what is set, and whether it fits.

use serde_json::{Map, Value};

use super::super::definition::{Variable, Workflow};
use super::super::finding::Finding;
use crate::output::OutputSpec;

/// What the variables are set to.
#[derive(Clone, Debug, Default)]
pub(super) struct Set<'o> {
    pub(super) values: Option<&'o Map<String, Value>>,
    /// Texts that are read as the declared types want it.
    pub(super) texts: &'o [(String, String)],
}

/// Returns the value of each variable, and what is wrong with what they are set to.
pub(super) fn resolve(workflow: &Workflow, set: &Set<'_>) -> (Map<String, Value>, Vec<Finding>) {
    let (mut vars, mut findings) = (Map::new(), Vec::new());
    let values = set.values.into_iter().flatten().map(|(name, _)| name);
    for name in values.chain(set.texts.iter().map(|(name, _)| name)) {
        if !workflow.vars.iter().any(|variable| variable.name == *name) {
            findings.push(undeclared(workflow, name));
        }
    }
    for variable in &workflow.vars {
        match value_of(variable, set) {
            Some(value) => match fitting(variable, value) {
                Ok(value) => _ = vars.insert(variable.name.clone(), value),
                Err(problems) => findings.extend(problems),
            },
            None => {
                let message = format!("the variable `{}` is not set, and has no default", variable.name);
                findings.push(Finding::error(path(&variable.name), None, message));
            }
        }
    }
    (vars, findings)
}

fn value_of(variable: &Variable, set: &Set<'_>) -> Option<Value> {
    let text = set.texts.iter().rev().find(|(name, _)| *name == variable.name).map(|(_, text)| text);
    let given = set.values.and_then(|values| values.get(&variable.name)).cloned();
    text.map(|text| read(variable, text)).or(given).or_else(|| variable.default.clone())
}

/// Reads a text by the declared type: as it is where it may be a text, and otherwise as JSON if it is that.
fn read(variable: &Variable, text: &str) -> Value {
    let may_be_text = match variable.schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => false,
    };
    let value = if may_be_text { None } else { serde_json::from_str(text).ok() };
    value.unwrap_or_else(|| text.into())
}

fn fitting(variable: &Variable, value: Value) -> Result<Value, Vec<Finding>> {
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
