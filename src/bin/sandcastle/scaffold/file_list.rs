//! Which files each choice brings, and the templates that they are made from.

use super::Choices;
use super::sandboxes::image_file;
use crate::cli::{Template, Tracker};

/// The path of a file below `.sandcastle/`, and its template.
pub(super) type Entry = (&'static str, &'static str);

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("files/", $path, ".jinja"))
    };
}

/// The template of the workflow, which lies elsewhere.
pub(super) const WORKFLOW: &str = template!("shared/workflow.yml");

const IGNORED: Entry = (".gitignore", template!("shared/gitignore"));

const ALWAYS: &[Entry] = &[
    IGNORED,
    (".env.example", template!("shared/env.example")),
    ("src/agents.rs", template!("shared/agents.rs")),
    ("src/sandbox.rs", template!("shared/sandbox.rs")),
    ("src/interrupt.rs", template!("shared/interrupt.rs")),
    ("src/prompts.rs", template!("shared/prompts.rs")),
];

/// The manifest: what a scaffold is known by.
pub(super) const MANIFEST: Entry = ("Cargo.toml", template!("shared/Cargo.toml"));

const OUTPUTS: Entry = ("src/outputs.rs", template!("shared/outputs.rs"));
const ROUNDS: Entry = ("src/rounds.rs", template!("shared/rounds.rs"));
const CROWD: Entry = ("src/crowd.rs", template!("shared/crowd.rs"));
const PLAN: Entry = ("prompts/plan.md", template!("shared/plan.md"));
const IMPLEMENT_ISSUE: Entry = ("prompts/implement.md", template!("shared/implement-issue.md"));
const REVIEW: Entry = ("prompts/review.md", template!("shared/review.md"));
const MERGE: Entry = ("prompts/merge.md", template!("shared/merge.md"));
const STANDARDS: Entry = ("CODING_STANDARDS.md", template!("shared/CODING_STANDARDS.md"));

/// Returns the files of a scaffold, the manifest last: without it there is none.
pub(super) fn entries(choices: &Choices) -> Vec<Entry> {
    if choices.template == Template::Github {
        return [IGNORED].into_iter().chain(of_image(choices)).collect();
    }
    let mut entries = ALWAYS.to_vec();
    entries.extend(of_template(choices.template));
    entries.extend(of_image(choices));
    if choices.tracker == Tracker::Custom {
        entries.push(("SETUP_ISSUE_TRACKER.md", template!("shared/SETUP_ISSUE_TRACKER.md")));
    }
    entries.push(MANIFEST);
    entries
}

fn of_image(choices: &Choices) -> impl Iterator<Item = Entry> {
    let entries =
        |recipe| [(recipe, template!("shared/image")), (".dockerignore", template!("shared/dockerignore"))];
    image_file(choices.sandbox).map(entries).into_iter().flatten()
}

fn of_template(template: Template) -> &'static [Entry] {
    match template {
        Template::Blank => {
            &[("src/main.rs", template!("blank/main.rs")), ("prompts/task.md", template!("blank/task.md"))]
        }
        Template::SimpleLoop => &[
            ("src/main.rs", template!("simple-loop/main.rs")),
            ("prompts/work.md", template!("simple-loop/work.md")),
        ],
        Template::SequentialReviewer => &[
            ("src/main.rs", template!("sequential-reviewer/main.rs")),
            ("prompts/implement.md", template!("sequential-reviewer/implement.md")),
            REVIEW,
            STANDARDS,
        ],
        Template::ParallelPlanner => &[
            ("src/main.rs", template!("parallel-planner/main.rs")),
            OUTPUTS,
            ROUNDS,
            CROWD,
            PLAN,
            IMPLEMENT_ISSUE,
            MERGE,
        ],
        // It has no program.
        Template::Github => &[],
        Template::ParallelPlannerWithReview => &[
            ("src/main.rs", template!("parallel-planner-with-review/main.rs")),
            OUTPUTS,
            ROUNDS,
            CROWD,
            PLAN,
            IMPLEMENT_ISSUE,
            REVIEW,
            STANDARDS,
            MERGE,
        ],
    }
}
