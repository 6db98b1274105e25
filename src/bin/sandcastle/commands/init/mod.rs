//! `sandcastle init`: makes the folder `.sandcastle/` of a repository, a small program that runs agents on it; or, in `github`,
//! the workflows by which labels on its pull requests start agents.

mod github;
mod questions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sandcastle::journal::Runs;
use sandcastle::sandbox::Program;
use serde_json::{Value, json};

use self::questions::{Answers, answers};
use super::images::{built, default_image};
use crate::cli::{InitArgs, SandboxChoice, Template, Tracker, word};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::images::{Engine, Image};
use crate::programs::{Silence, answer};
use crate::reporter::{Lines, Reporter};
use crate::scaffold::{
    Choices, File, LABEL, Label, Place, Source, agents, files, image_file, install_command, models, workflow,
    write_workflow,
};

/// How long GitHub may take to make a label.
const LABEL_LIMIT: Duration = Duration::from_secs(30);

/// What was done besides writing the scaffold.
#[derive(Debug, Default)]
struct Extras {
    label: Option<&'static str>,
    workflow: Option<PathBuf>,
    image_built: bool,
    warnings: Vec<String>,
}

pub(super) async fn init(args: InitArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let runs = Runs::of(&args.place.cwd).await.map_err(|error| Failure::at_entry(&error))?;
    let home = runs.config_dir().parent().unwrap_or(runs.config_dir());
    let source = check(&args)?;
    let image = match &args.image_name {
        Some(name) => Image::new(name)?,
        None => default_image(runs.config_dir()),
    };
    let answers = answers(&args).await?;
    agree(&args, &answers)?;
    let choices = choices(&args, &answers, source, &image, home)?;
    if choices.template == Template::Github {
        return github::init(&answers, &choices, home, reporter).await;
    }
    let place = Place::find(runs.config_dir())?;
    let files = files(&choices)?;
    place.fill(&files)?;
    let extras = extras(&args, &answers, &choices, home, reporter).await?;
    for warning in &extras.warnings {
        reporter.progress(&format!("warning: {warning}"));
    }
    let described = described(&choices, runs.config_dir(), &files, &extras);
    reporter.result(&described, &summary(&choices, runs.config_dir(), &extras))?;
    if answers.build_image && image_file(choices.sandbox).is_some() && !extras.image_built {
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// Checks the flags that are more than a word.
fn check(args: &InitArgs) -> Result<Source, Failure> {
    if let Some(model) = &args.model
        && (model.trim().is_empty() || model.chars().any(char::is_control))
    {
        return Err(Failure::usage(format!("failed to use the model `{}`", model.escape_debug())));
    }
    if args.template == Some(Template::Github) {
        github::check(args)?;
    } else if let (Some(sandbox), Some(tracker)) = (args.sandbox, args.issue_tracker) {
        can_apply(args, sandbox, tracker)?;
    }
    Source::new(args.sandcastle_path.as_deref(), args.sandcastle_git.clone(), args.rev.clone())
}

/// Refuses flags that mean nothing with what was chosen, now that it is known.
fn agree(args: &InitArgs, answers: &Answers) -> Result<(), Failure> {
    match answers.template {
        Template::Github => github::check(args),
        _ => can_apply(args, answers.sandbox, answers.tracker),
    }
}

fn can_apply(args: &InitArgs, sandbox: SandboxChoice, tracker: Tracker) -> Result<(), Failure> {
    let has_image = image_file(sandbox).is_some();
    let is_github = tracker == Tracker::GithubIssues;
    let (sandbox, tracker) =
        (format!("`--sandbox {}`", word(&sandbox)), format!("`--issue-tracker {}`", word(&tracker)));
    let wrong = [
        ("--image-name", args.image_name.is_some() && !has_image, &sandbox),
        ("--build-image true", args.build_image == Some(true) && !has_image, &sandbox),
        ("--create-label true", args.create_label == Some(true) && !is_github, &tracker),
        ("--workflow true", args.workflow == Some(true) && !is_github, &tracker),
    ];
    match wrong.iter().find(|(_, is_wrong, _)| *is_wrong) {
        Some((flag, _, with)) => {
            Err(Failure::usage(format!("failed to use `{flag}`: it means nothing with {with}")))
        }
        None => Ok(()),
    }
}

fn choices(
    args: &InitArgs,
    answers: &Answers,
    source: Source,
    image: &Image,
    home: &Path,
) -> Result<Choices, Failure> {
    let agent = agents::find(&answers.agent)
        .ok_or_else(|| Failure::usage(format!("failed to find an agent named `{}`", answers.agent)))?;
    Ok(Choices {
        agent,
        model: args.model.clone(),
        sandbox: answers.sandbox,
        image: image.to_string(),
        tracker: answers.tracker,
        label: if answers.create_label { Label::Needed } else { Label::Ignored },
        template: answers.template,
        source,
        install: install_command(home),
    })
}

/// Does what is asked for besides the scaffold. What fails is told and does not undo the scaffold.
async fn extras(
    args: &InitArgs,
    answers: &Answers,
    choices: &Choices,
    home: &Path,
    reporter: &Reporter,
) -> Result<Extras, Failure> {
    let mut extras = Extras::default();
    let is_github = answers.tracker == Tracker::GithubIssues;
    if is_github && args.workflow.unwrap_or(true) {
        match write_workflow(home, &workflow(choices)?) {
            Ok(Some(path)) => extras.workflow = Some(path),
            Ok(None) => {
                extras.warnings.push("there is a workflow `sandcastle.yml` already; it stays".to_owned())
            }
            Err(failure) => extras.warnings.push(failure.text),
        }
    }
    if is_github && answers.create_label {
        match make_label(home, LABEL, "For agents to work on").await {
            Ok(state) => extras.label = Some(state),
            Err(why) => extras.warnings.push(why),
        }
    }
    if answers.build_image && answers.tracker == Tracker::Custom {
        extras.warnings.push("the image is not built: its recipe waits for the issue tracker".to_owned());
    } else if answers.build_image
        && let Some(engine) = engine(choices.sandbox)
    {
        match built(engine, &Image::new(&choices.image)?, None, &home.join(".sandcastle"), reporter).await {
            Ok(()) => extras.image_built = true,
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) => extras.warnings.push(failure.text),
        }
    }
    Ok(extras)
}

fn engine(sandbox: SandboxChoice) -> Option<Engine> {
    match sandbox {
        SandboxChoice::Docker => Some(Engine::Docker),
        SandboxChoice::Podman => Some(Engine::Podman),
        SandboxChoice::None | SandboxChoice::Bubblewrap => None,
    }
}

/// Makes the label on GitHub, with the user's own `gh`.
async fn make_label(repository: &Path, label: &str, about: &str) -> Result<&'static str, String> {
    let gh = Program::new("gh")
        .args(["label", "create", label, "--color", "F9A825", "--description", about])
        .env("GH_PROMPT_DISABLED", "1")
        .cwd(repository);
    let failed = |why: &str| {
        format!("failed to make the label `{label}`: {why}; `gh label create {label}` makes it later")
    };
    match answer(&gh, LABEL_LIMIT).await {
        Ok(ended) if ended.status.success() => Ok("created"),
        Ok(ended) if ended.stderr.contains("already exists") => Ok("exists"),
        Ok(ended) => Err(failed(ended.complaint())),
        Err(Silence::Absent) => Err(failed("`gh` is not installed")),
        Err(Silence::TooLong(limit)) => Err(failed(&format!("`gh` took longer than {} s", limit.as_secs()))),
        Err(Silence::Failed(error)) => Err(failed(&error.to_string())),
    }
}

fn described(choices: &Choices, folder: &Path, files: &[File], extras: &Extras) -> Value {
    let models: serde_json::Map<String, Value> =
        models(choices).into_iter().map(|(role, model)| (role.to_owned(), json!(model))).collect();
    json!({
        "folder": folder.to_string_lossy(),
        "files": files.iter().map(|file| file.path.to_string_lossy()).collect::<Vec<_>>(),
        "agent": choices.agent.name,
        "models": models,
        "sandbox": word(&choices.sandbox),
        "image": image_file(choices.sandbox).map(|_| &choices.image),
        "image_built": extras.image_built,
        "issue_tracker": word(&choices.tracker),
        "template": word(&choices.template),
        "label": extras.label,
        "workflow": extras.workflow.as_ref().map(|path| path.to_string_lossy()),
        "warnings": extras.warnings,
        "next": next(choices, extras),
    })
}

fn summary(choices: &Choices, folder: &Path, extras: &Extras) -> String {
    let mut lines = Lines::default();
    lines.add("folder", folder.display());
    lines.add("agent", choices.agent.name);
    for (role, model) in models(choices) {
        lines.add("model", format_args!("{model} ({role})"));
    }
    lines.add("sandbox", word(&choices.sandbox));
    lines.some("image", image_file(choices.sandbox).map(|_| &choices.image));
    lines.add("tracker", word(&choices.tracker));
    lines.add("template", word(&choices.template));
    lines.some("workflow", extras.workflow.as_ref().map(|path| path.display()));
    let steps = next(choices, extras);
    let steps: Vec<String> =
        steps.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1)).collect();
    format!("{}\n\n{}", lines.behind(""), steps.join("\n"))
}

/// Words what is left to do for a person, in order.
fn next(choices: &Choices, extras: &Extras) -> Vec<String> {
    let mut steps = Vec::new();
    if choices.tracker == Tracker::Custom {
        steps.push("follow .sandcastle/SETUP_ISSUE_TRACKER.md".to_owned());
    }
    let hint = choices.agent.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    steps.push(format!("copy .sandcastle/.env.example to .sandcastle/.env and fill it in{hint}"));
    steps.push("read .sandcastle/prompts/ and make them yours".to_owned());
    if let Some(engine) = image_file(choices.sandbox).and_then(|_| engine(choices.sandbox))
        && !extras.image_built
    {
        steps.push(format!("sandcastle {} build-image --image-name {}", engine.name(), choices.image));
    }
    steps.push("cargo run --manifest-path .sandcastle/Cargo.toml".to_owned());
    steps
}
