//! `sandcastle init --template github`: workflows by which labels on pull requests start agents.
//!
//! It writes the workflows and, for a sandbox that has an image, its recipe; a recipe that is there stays. There is no program in
//! `.sandcastle/`, so a scaffold that is there is no obstacle.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::make_label;
use super::questions::Answers;
use crate::cli::{InitArgs, Tracker, word};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::{Lines, Reporter};
use crate::scaffold::{
    Choices, Source, add_missing, files, image_file, labels, models, workflows, write_workflows,
};

/// What was done.
#[derive(Debug)]
struct Made {
    files: Vec<PathBuf>,
    labels: Vec<String>,
    warnings: Vec<String>,
}

/// Refuses flags that mean nothing here.
pub(super) fn check(args: &InitArgs) -> Result<(), Failure> {
    let has_image = args.sandbox.is_none_or(|sandbox| image_file(sandbox).is_some());
    let wrong = [
        ("--issue-tracker", args.issue_tracker.is_some_and(|tracker| tracker != Tracker::GithubIssues)),
        ("--workflow", args.workflow.is_some()),
        ("--build-image true", args.build_image == Some(true)),
        ("--image-name", args.image_name.is_some() && !has_image),
    ];
    match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
        Some((flag, _)) => {
            Err(Failure::usage(format!("failed to use `{flag}`: it means nothing with `--template github`")))
        }
        None => Ok(()),
    }
}

pub(super) async fn init(
    answers: &Answers,
    choices: &Choices,
    home: &Path,
    reporter: &Reporter,
) -> Result<Exit, Failure> {
    // Agents need nothing of a tracker: they are told what they have to know, and have no token.
    let without_tracker = Choices { tracker: Tracker::Custom, ..choices.clone() };
    let (workflows, recipe) = (workflows(choices)?, files(&without_tracker)?);
    let mut made =
        Made { files: write_workflows(home, &workflows)?, labels: Vec::new(), warnings: Vec::new() };
    let config = Path::new(".sandcastle");
    made.files.extend(add_missing(&home.join(config), &recipe)?.iter().map(|path| config.join(path)));
    if answers.create_label {
        make_labels(home, &mut made).await;
    }
    for warning in &made.warnings {
        reporter.progress(&format!("warning: {warning}"));
    }
    reporter.result(&described(choices, home, &made), &summary(choices, home, &made))?;
    Ok(Exit::Done)
}

async fn make_labels(home: &Path, made: &mut Made) {
    for (label, about) in labels() {
        match make_label(home, &label, &about).await {
            Ok(_) => made.labels.push(label),
            Err(why) => made.warnings.push(why),
        }
    }
}

fn described(choices: &Choices, home: &Path, made: &Made) -> Value {
    json!({
        "folder": home.to_string_lossy(),
        "files": made.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        "agent": choices.agent.name,
        "models": models(choices).into_iter().map(|(role, model)| (role.to_owned(), json!(model)))
            .collect::<serde_json::Map<_, _>>(),
        "sandbox": word(&choices.sandbox),
        "image": image_file(choices.sandbox).map(|_| &choices.image),
        "template": word(&choices.template),
        "labels": made.labels,
        "warnings": made.warnings,
        "next": next(choices, made),
    })
}

fn summary(choices: &Choices, home: &Path, made: &Made) -> String {
    let mut lines = Lines::default();
    lines.add("folder", home.display());
    lines.all("file", made.files.iter().map(|file| file.display()));
    lines.add("agent", choices.agent.name);
    lines.add("sandbox", word(&choices.sandbox));
    let steps = next(choices, made);
    let steps: Vec<String> =
        steps.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1)).collect();
    format!("{}\n\n{}", lines.behind(""), steps.join("\n"))
}

/// Words what is left to do for a person, in order.
fn next(choices: &Choices, made: &Made) -> Vec<String> {
    let mut steps =
        vec!["read .github/workflows/agent-*.yml and commit them to the default branch".to_owned()];
    steps.push(format!(
        "set {} as a secret of the repository, with `gh secret set`",
        choices.agent.keys().join(" or ")
    ));
    let all = labels();
    let missing = all.iter().map(|(label, _)| label).filter(|label| !made.labels.contains(label));
    steps.extend(missing.map(|label| format!("gh label create {label}")));
    if matches!(choices.source, Source::Git { rev: None, .. }) {
        steps.push(
            "pin the command in each workflow: add `--rev` and a commit behind `cargo install`".to_owned(),
        );
    }
    steps.push("give a pull request one of the labels that start an agent".to_owned());
    steps
}
