//! The questions of `init`, for what no flag said. Nobody is asked where nobody sits at a terminal.

use std::fmt;
use std::io::{self, IsTerminal};

use clap::ValueEnum;
use inquire::{Confirm, InquireError, Select};

use crate::cli::{InitArgs, SandboxChoice, Template, Tracker, word};
use crate::doctor::working_sandboxes;
use crate::failure::Failure;
use crate::scaffold::{LABEL, agents, image_file};

/// What flags or a person said.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) agent: String,
    pub(super) sandbox: SandboxChoice,
    pub(super) tracker: Tracker,
    pub(super) template: Template,
    pub(super) create_label: bool,
    pub(super) build_image: bool,
}

/// Collects the answers. Without a terminal every missing flag is named.
pub(super) async fn answers(args: &InitArgs) -> Result<Answers, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return without_asking(args);
    }
    let agent = match &args.agent {
        Some(agent) => agent.clone(),
        None => one_of("Which agent works?", agents::names().collect())?.to_owned(),
    };
    let sandbox = match args.sandbox {
        Some(sandbox) => sandbox,
        None => one_of_sandboxes(&working_sandboxes().await)?,
    };
    let tracker = match args.template {
        Some(Template::Github) => Tracker::GithubIssues,
        _ => choice("Where do tasks come from?", args.issue_tracker)?,
    };
    let template = choice("How do agents work together?", args.template)?;
    let create_label = match args.create_label {
        None if template == Template::Github => yes_or_no("Make the labels that start agents, on GitHub?")?,
        None if tracker == Tracker::GithubIssues => {
            yes_or_no(&format!("Make the label `{LABEL}`, and work only on issues that have it?"))?
        }
        given => given.unwrap_or_default(),
    };
    let build_image = match args.build_image {
        None if template == Template::Github => false,
        None if image_file(sandbox).is_some() && tracker != Tracker::Custom => {
            yes_or_no("Build the image now?")?
        }
        given => given.unwrap_or_default(),
    };
    Ok(Answers { agent, sandbox, tracker, template, create_label, build_image })
}

fn without_asking(args: &InitArgs) -> Result<Answers, Failure> {
    let (Some(agent), Some(sandbox), Some(tracker), Some(template)) =
        (&args.agent, args.sandbox, tracker(args), args.template)
    else {
        return Err(missing(args));
    };
    Ok(Answers {
        agent: agent.clone(),
        sandbox,
        tracker,
        template,
        create_label: args.create_label.unwrap_or_default(),
        build_image: args.build_image.unwrap_or_default(),
    })
}

/// Returns where tasks come from, as far as it is known: labels on pull requests are GitHub's.
fn tracker(args: &InitArgs) -> Option<Tracker> {
    args.issue_tracker.or((args.template == Some(Template::Github)).then_some(Tracker::GithubIssues))
}

/// Names what nobody can be asked for.
fn missing(args: &InitArgs) -> Failure {
    let flags = [
        ("--agent", args.agent.is_none()),
        ("--sandbox", args.sandbox.is_none()),
        ("--issue-tracker", tracker(args).is_none()),
        ("--template", args.template.is_none()),
    ];
    let missing: Vec<String> =
        flags.iter().filter(|(_, missing)| *missing).map(|(flag, _)| format!("`{flag}`")).collect();
    Failure::usage(format!("failed to ask for {}: there is no terminal", missing.join(", ")))
        .with_hint("give each as a flag; `sandcastle init --help` lists what it can be")
}

/// Asks for the sandbox; what works here is offered first, and what does not is said to.
fn one_of_sandboxes(working: &[&str]) -> Result<SandboxChoice, Failure> {
    let works = |sandbox: &SandboxChoice| working.contains(&word(sandbox).as_str());
    let note = |sandbox: &SandboxChoice| match sandbox {
        SandboxChoice::None => "",
        sandbox if works(sandbox) => " (works here)",
        _ => " (does not work here yet: see `sandcastle doctor`)",
    };
    let all = SandboxChoice::value_variants();
    let items = all.iter().map(|sandbox| Noted(Item(*sandbox), note(sandbox))).collect();
    let first = all.iter().position(works).unwrap_or_default();
    let question = "Where do agents work?";
    let chosen = Select::new(question, items).with_starting_cursor(first).prompt();
    chosen.map(|it| it.0.0).map_err(|error| unanswered(question, &error))
}

/// A choice with a note behind it.
struct Noted<T>(Item<T>, &'static str);

impl<T: ValueEnum> fmt::Display for Noted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}

/// A choice and what it means.
struct Item<T>(T);

impl<T: ValueEnum> fmt::Display for Item<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0.to_possible_value();
        let help = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string);
        write!(f, "{:<30}{}", word(&self.0), help.unwrap_or_default())
    }
}

fn choice<T: ValueEnum + Copy>(question: &str, given: Option<T>) -> Result<T, Failure> {
    match given {
        Some(given) => Ok(given),
        None => {
            one_of(question, T::value_variants().iter().map(|value| Item(*value)).collect()).map(|it| it.0)
        }
    }
}

fn one_of<T: fmt::Display>(question: &str, items: Vec<T>) -> Result<T, Failure> {
    Select::new(question, items).prompt().map_err(|error| unanswered(question, &error))
}

fn yes_or_no(question: &str) -> Result<bool, Failure> {
    Confirm::new(question).with_default(true).prompt().map_err(|error| unanswered(question, &error))
}

fn unanswered(question: &str, error: &InquireError) -> Failure {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            Failure::cancelled(format_args!("ask `{question}`: it was not answered; nothing was written"))
        }
        error => Failure::io(format_args!("ask `{question}`"), error),
    }
}
