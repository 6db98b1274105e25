//! The issue trackers: the commands that agents and prompts use, and what they need.

use serde_json::{Value, json};

use super::render::LABEL;
use super::{Choices, Label};
use crate::cli::Tracker;

/// Lists open issues as JSON. A prompt's commands cannot contain backticks.
const GITHUB_LIST: &str = "gh issue list --state open{label} --limit 100 --json number,title,body,labels,comments \
    --jq '[.[] | {id: .number, title, body, labels: [.labels[].name], comments: [.comments[].body]}]'";

/// The package archive of the GitHub CLI.
const GITHUB_IMAGE: &str = r#"RUN keyring=/usr/share/keyrings/githubcli-archive-keyring.gpg \
    && curl -fsSL https://cli.github.com/packages/githubcli-archive-keyring.gpg -o "$keyring" \
    && chmod go+r "$keyring" \
    && echo "deb [arch=$(dpkg --print-architecture) signed-by=$keyring] https://cli.github.com/packages stable main" \
        > /etc/apt/sources.list.d/github-cli.list \
    && apt-get update \
    && apt-get install -y --no-install-recommends gh \
    && rm -rf /var/lib/apt/lists/*"#;

const BEADS_IMAGE: &str = r"RUN apt-get update \
    && apt-get install -y --no-install-recommends libicu72 \
    && rm -rf /var/lib/apt/lists/* \
    && npm install -g @beads/bd";

/// Prints where to read on, and fails: a run that lists tasks ends before its agent is started.
const CUSTOM_LIST: &str =
    "echo 'no issue tracker is set up: see .sandcastle/SETUP_ISSUE_TRACKER.md' >&2; exit 1";

/// Returns what the templates of the scaffold read.
pub(super) fn described(choices: &Choices) -> Value {
    let (list, view, close, image) = match choices.tracker {
        Tracker::GithubIssues => {
            let label = match choices.label {
                Label::Needed => format!(" --label {LABEL}"),
                Label::Ignored => String::new(),
            };
            (
                GITHUB_LIST.replace("{label}", &label),
                "gh issue view <id> --comments",
                "gh issue close <id> --comment 'Completed by Sandcastle'",
                GITHUB_IMAGE,
            )
        }
        Tracker::Beads => (
            "bd ready --json".to_owned(),
            "bd show <id>",
            "bd close <id> --reason 'Completed by Sandcastle'",
            BEADS_IMAGE,
        ),
        Tracker::Custom => (
            CUSTOM_LIST.to_owned(),
            "(the command that shows task <id>)",
            "(the command that closes task <id>)",
            "# Install what the commands of your tracker need here.",
        ),
    };
    json!({ "list": list, "view": view, "close": close, "image": image })
}

/// Returns the lines of a tracker in `.env.example`.
pub(super) fn env(tracker: Tracker) -> &'static [&'static str] {
    match tracker {
        Tracker::GithubIssues => &[
            "",
            "# A token for this repository that reads and writes issues and reads metadata.",
            "GH_TOKEN=",
        ],
        Tracker::Beads => &[],
        Tracker::Custom => &["", "# Name the variables of your issue tracker here."],
    }
}
