//! Who works in a template, and how strong a model each needs.

use serde_json::{Value, json};

use super::Choices;
use crate::cli::Template;

struct Role {
    name: &'static str,
    about: &'static str,
    strength: Strength,
}

#[derive(Clone, Copy)]
enum Strength {
    Strong,
    Cheap,
}

const fn role(name: &'static str, about: &'static str, strength: Strength) -> Role {
    Role { name, about, strength }
}

const WORKER: Role = role("worker", "Works on the task.", Strength::Strong);
const PLANNER: Role = role("planner", "Says which issues can be worked on now.", Strength::Strong);
const IMPLEMENTER: Role = role("implementer", "Writes the code.", Strength::Cheap);
const REVIEWER: Role = role("reviewer", "Reviews and improves it.", Strength::Strong);
const MERGER: Role = role("merger", "Brings the branches together.", Strength::Strong);

fn roles(template: Template) -> &'static [Role] {
    match template {
        Template::Blank | Template::SimpleLoop | Template::Github => &[WORKER],
        Template::SequentialReviewer => &[IMPLEMENTER, REVIEWER],
        Template::ParallelPlanner => &[PLANNER, IMPLEMENTER, MERGER],
        Template::ParallelPlannerWithReview => &[PLANNER, IMPLEMENTER, REVIEWER, MERGER],
    }
}

/// Returns the model of each role.
pub(crate) fn models(choices: &Choices) -> Vec<(&'static str, &str)> {
    let model = |role: &Role| match (&choices.model, role.strength) {
        (Some(model), _) => model.as_str(),
        (None, Strength::Strong) => choices.agent.strong,
        (None, Strength::Cheap) => choices.agent.cheap,
    };
    roles(choices.template).iter().map(|role| (role.name, model(role))).collect()
}

/// Returns what the templates of the scaffold read. A model is a literal of Rust.
pub(super) fn described(choices: &Choices) -> Vec<Value> {
    let models = models(choices);
    let roles = roles(choices.template).iter().zip(models);
    roles
        .map(|(role, (name, model))| json!({ "name": name, "about": role.about, "model": format!("{model:?}") }))
        .collect()
}
