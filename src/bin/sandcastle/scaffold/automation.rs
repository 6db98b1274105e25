//! The workflows of GitHub Actions by which labels on a pull request start agents: one file for each kind of work, from one
//! template.
//!
//! Actions are pinned by the commits of their releases. What is chosen becomes part of shell scripts there, and is a quoted word
//! in them or refused.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::render::rendered;
use super::{Choices, File, Source};
use crate::failure::Failure;
use crate::reporter::next::quoted;

const TEMPLATE: &str = include_str!("files/github/agent.yml.jinja");

/// The actions, by the commits of these releases: `git ls-remote --tags https://github.com/actions/checkout v4.2.2` shows the
/// first one.
const CHECKOUT: &str = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2";
const UPLOAD: &str = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2";
const DOWNLOAD: &str = "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0";

/// One kind of work.
struct Kind {
    name: &'static str,
    /// What an agent does with a pull request.
    does: &'static str,
    /// Whether it makes commits.
    pushes: bool,
    /// Whether it is for pull requests in conflict with their base, for which GitHub starts nothing by a label.
    merges: bool,
    /// The file with its replies, if it makes some.
    replies: Option<&'static str>,
}

const KINDS: [Kind; 4] = [
    Kind { name: "explore", does: "looks into a pull request", pushes: false, merges: false, replies: None },
    Kind {
        name: "review",
        does: "reviews a pull request",
        pushes: true,
        merges: false,
        replies: Some("replies.json"),
    },
    Kind {
        name: "implement",
        does: "works in the feedback on a pull request",
        pushes: true,
        merges: false,
        replies: Some("implement_thread_replies.json"),
    },
    Kind {
        name: "update-branch",
        does: "brings the branch of a pull request up to date",
        pushes: true,
        merges: true,
        replies: None,
    },
];

/// Names the labels of the workflows, with what they mean: those that start one, and those that say how it stands.
pub(crate) fn labels() -> Vec<(String, String)> {
    let starting = KINDS.iter().map(|kind| (label(kind), format!("An agent {}", kind.does)));
    let telling = [
        ("agent:in-progress", "An agent is at work"),
        ("agent:blocked", "An agent failed; a comment says why"),
    ];
    starting.chain(telling.map(|(label, about)| (label.to_owned(), about.to_owned()))).collect()
}

fn label(kind: &Kind) -> String {
    format!("agent:{}", kind.name)
}

/// Renders the workflows; their paths are seen from the root of the repository.
///
/// # Errors
/// When what was chosen cannot stand in a workflow.
pub(crate) fn workflows(choices: &Choices) -> Result<Vec<File>, Failure> {
    let render = |kind: &Kind| {
        let path = PathBuf::from(format!(".github/workflows/agent-{}.yml", kind.name));
        let content = rendered("agent.yml", TEMPLATE, &values(choices, kind)?)?;
        Ok(File { path, content })
    };
    KINDS.iter().map(render).collect()
}

fn values(choices: &Choices, kind: &Kind) -> Result<Value, Failure> {
    let image = super::image_file(choices.sandbox).map(|_| word(&choices.image)).transpose()?;
    let model = choices.model.as_deref().unwrap_or(choices.agent.strong);
    Ok(json!({
        "kind": kind.name,
        "does": kind.does,
        "label": label(kind),
        "pushes": kind.pushes,
        "merges": kind.merges,
        "replies": kind.replies,
        "agent": choices.agent.described(),
        "model": word(model)?,
        "sandbox": super::sandboxes::described(choices),
        "image": image,
        "source": source(&choices.source)?,
        "checkout": CHECKOUT,
        "upload": UPLOAD,
        "download": DOWNLOAD,
    }))
}

/// Words where `cargo install` gets the command from.
fn source(source: &Source) -> Result<String, Failure> {
    match source {
        Source::Git { address, rev: None } => Ok(format!("--git {}", word(address)?)),
        Source::Git { address, rev: Some(rev) } => {
            Ok(format!("--git {} --rev {}", word(address)?, word(rev)?))
        }
        Source::Path(_) => Err(Failure::usage(
            "failed to use `--sandcastle-path` with `--template github`: a workflow has no such folder",
        )
        .with_hint("name a git address with `--sandcastle-git`, and a commit of it with `--rev`")),
    }
}

/// Writes a word for a shell in a workflow, which reads its own expressions before any shell does.
fn word(text: &str) -> Result<String, Failure> {
    if text.contains("${{") {
        return Err(Failure::usage(format!(
            "failed to write `{text}` into a workflow: it has `${{{{` in it"
        )));
    }
    Ok(quoted(text))
}
