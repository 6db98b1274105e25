//! From choices to the texts of files.
//!
//! The marks of templates are `<%= value %>` and `<% statement %>`: those of Jinja mean something in prompts and workflows.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use sandcastle::registry;
use serde_json::{Value, json};

use super::file_list::{WORKFLOW, entries};
use super::{Choices, File, Label, roles, sandboxes, trackers};
use crate::cli::{Template, Tracker};
use crate::failure::Failure;

/// The label of issues that are for agents.
pub(crate) const LABEL: &str = "Sandcastle";

/// What a scaffold depends on besides the library, as the library itself does.
const DEPENDENCIES: &[&str] = &[
    r#"schemars = { version = "1.2", features = ["preserve_order"] }"#,
    r#"serde = { version = "1.0", features = ["derive"] }"#,
    r#"tokio = { version = "1", features = ["macros", "rt-multi-thread", "signal", "sync"] }"#,
];

/// Renders every file of a scaffold.
pub(crate) fn files(choices: &Choices) -> Result<Vec<File>, Failure> {
    let values = values(choices);
    let render = |(path, template): (&'static str, &'static str)| {
        let content = rendered(path, template, &values)?;
        Ok(File { path: path.into(), content })
    };
    entries(choices).into_iter().map(render).collect()
}

/// Renders the workflow.
pub(crate) fn workflow(choices: &Choices) -> Result<String, Failure> {
    rendered("sandcastle.yml", WORKFLOW, &values(choices))
}

/// Renders one template; `name` stands for it in a failure.
pub(super) fn rendered(name: &str, template: &str, values: &Value) -> Result<String, Failure> {
    environment()?.render_named_str(name, template, Serde(values)).map_err(|error| {
        // A mistake of ours, and not of whoever runs the command.
        Failure::io(format_args!("render `{name}`"), format_args!("{error:#}"))
    })
}

fn environment() -> Result<Environment<'static>, Failure> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .block_delimiters("<%", "%>")
        .variable_delimiters("<%=", "%>")
        .comment_delimiters("<%#", "%>")
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    environment.set_syntax(syntax.map_err(|error| Failure::io("prepare the templates", error))?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(environment)
}

/// Returns everything that the templates can name.
fn values(choices: &Choices) -> Value {
    let env = choices.agent.env().iter().chain(trackers::env(choices.tracker));
    let is_github = choices.tracker == Tracker::GithubIssues;
    json!({
        "agent": choices.agent.described(),
        "roles": roles::described(choices),
        "retries": retries(choices),
        "sandbox": sandboxes::described(choices),
        "tracker": trackers::described(choices),
        "label": (is_github && choices.label == Label::Needed).then_some(LABEL),
        "lists": choices.template != Template::Blank,
        "worktrees": has_worktrees(choices.template),
        "review": has_review(choices.template),
        "imports": imports(choices),
        "install": install(choices),
        "env": env.collect::<Vec<_>>(),
        "sandcastle": choices.source.dependency(),
        "dependencies": DEPENDENCIES,
        "rust_version": env!("CARGO_PKG_RUST_VERSION"),
    })
}

/// Returns how often an answer may be corrected: not at all where a conversation cannot be continued.
fn retries(choices: &Choices) -> &'static str {
    let can_resume = registry::find(choices.agent.name).is_ok_and(|entry| entry.capabilities.resume);
    if can_resume { ", max_retries = 2" } else { "" }
}

/// Tells whether agents work in worktrees, which have to be made ready.
fn has_worktrees(template: Template) -> bool {
    template != Template::Blank
}

fn has_review(template: Template) -> bool {
    matches!(template, Template::SequentialReviewer | Template::ParallelPlannerWithReview)
}

/// Returns the command that makes a worktree ready, as a literal of Rust.
fn install(choices: &Choices) -> Option<String> {
    choices.install.filter(|_| has_worktrees(choices.template)).map(|command| format!("{command:?}"))
}

/// Words what `sandbox.rs` imports of the library, in the order of rustfmt.
fn imports(choices: &Choices) -> String {
    let sandbox = sandboxes::described(choices)["type"].as_str().unwrap_or_default().to_owned();
    let mut names = vec![sandbox];
    if has_worktrees(choices.template) {
        names.push("Hooks".to_owned());
    }
    if install(choices).is_some() {
        names.push("Hook".to_owned());
    }
    names.sort_unstable();
    if names.len() == 1 { names.remove(0) } else { format!("{{{}}}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_versions_are_those_of_this_workspace() {
        let manifest = include_str!("../../../../Cargo.toml");
        for line in &DEPENDENCIES[..2] {
            assert!(manifest.contains(&format!("\n{line}\n")), "{line}");
        }
        assert!(manifest.contains("\ntokio = { version = \"1\", "));
        assert!(manifest.contains(&format!("\nrepository = \"{}\"\n", env!("CARGO_PKG_REPOSITORY"))));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md").exists());
    }
}
