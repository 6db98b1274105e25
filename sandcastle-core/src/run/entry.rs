//! The checks that a run has to pass before anything is touched.
//!
//! They are made in this order, and the first that fails is the error:
//!
//! 1. the run is not cancelled already;
//! 2. numbers: at least one iteration, no limit of zero, no blank completion signal;
//! 3. sessions: not both resume and fork, one iteration only, an id of the right form, an agent that can;
//! 4. output: one iteration only, retries only with an agent that can resume;
//! 5. the folder exists;
//! 6. exactly one prompt, readable, with all its arguments, and not blank;
//! 7. the prompt contains the opening tag of the output;
//! 8. the agent can be given this prompt;
//! 9. the folder is in the work tree of a git repository.

use std::path::{Path, PathBuf};

use super::options::Settings;
use crate::agent::{Agent, AgentRequest};
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::{BranchName, SessionId};
use crate::output::OutputSpec;
use crate::prompt::{Branches, PromptTemplate};
use crate::session::SessionRequest;

/// Options that have passed.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) cwd: PathBuf,
    pub(super) prompt: String,
    /// Prompt arguments that the template does not mention.
    pub(super) unused_arguments: Vec<String>,
    pub(super) session: SessionRequest,
    pub(super) repository: Repository,
}

pub(super) async fn check(settings: &Settings, spec: Option<&OutputSpec>) -> Result<Checked> {
    if settings.cancel.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "start the run: it was cancelled before it began"));
    }
    check_numbers(settings)?;
    let session = check_session(settings)?;
    if let Some(spec) = spec {
        check_output(settings, spec)?;
    }
    let cwd = check_folder(settings.cwd.as_deref())?;
    let template = check_prompt(settings)?;
    let prompt = filled(&template, &BranchName::from_git("HEAD"));
    if let Some(spec) = spec {
        check_tag(&prompt, spec)?;
    }
    settings.agent.command(&AgentRequest::new(&prompt, &cwd, &session))?;
    let repository = Repository::discover(&cwd).await?;
    repository.top()?;
    let prompt = filled(&template, &repository.head().await?.branch);
    let unused_arguments = template.unused().into_iter().map(str::to_owned).collect();
    Ok(Checked { cwd, prompt, unused_arguments, session, repository })
}

/// The checks of a session that a person holds: as above, but a prompt is optional.
pub(super) async fn check_interactive(settings: &Settings) -> Result<Checked> {
    if settings.cancel.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "start the session: it was cancelled before it began"));
    }
    let session = check_session(settings)?;
    let cwd = check_folder(settings.cwd.as_deref())?;
    let template = if settings.prompts.is_empty() { None } else { Some(check_prompt(settings)?) };
    let repository = Repository::discover(&cwd).await?;
    repository.top()?;
    let branch = repository.head().await?.branch;
    let prompt = template.map(|template| filled(&template, &branch)).unwrap_or_default();
    Ok(Checked { cwd, prompt, unused_arguments: Vec::new(), session, repository })
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOptions, message)
}

fn check_numbers(settings: &Settings) -> Result<()> {
    if settings.max_iterations == 0 {
        return Err(invalid("run 0 iterations").with_hint("set `max_iterations` to 1 or more"));
    }
    let limits = [
        ("idle_timeout", Some(settings.idle_timeout)),
        ("completion_timeout", Some(settings.completion_timeout)),
        ("total_timeout", settings.total_timeout),
    ];
    if let Some((name, _)) = limits.iter().find(|(_, limit)| limit.is_some_and(|limit| limit.is_zero())) {
        return Err(invalid(format!("use a `{name}` of zero")).with_hint("a limit is longer than nothing"));
    }
    if settings.signals().iter().any(|signal| signal.trim().is_empty()) {
        return Err(invalid("use a blank completion signal").with_hint("it would be found in every answer"));
    }
    Ok(())
}

fn check_session(settings: &Settings) -> Result<SessionRequest> {
    let (verb, id) = match (&settings.resume, &settings.fork) {
        (None, None) => return Ok(SessionRequest::Fresh),
        (Some(_), Some(_)) => {
            return Err(invalid("resume and fork a session in one run").with_hint("choose one of the two"));
        }
        (Some(id), None) => ("resume", id),
        (None, Some(id)) => ("fork", id),
    };
    if id.is_empty() {
        return Err(invalid(format!("{verb} a session: {} named none", named(settings.agent.as_ref()))));
    }
    if settings.max_iterations > 1 {
        let count = settings.max_iterations;
        return Err(invalid(format!("{verb} a session with {count} iterations"))
            .with_hint("only the first iteration could be part of it: set `max_iterations` to 1"));
    }
    let can = settings.agent.capabilities();
    let (can, request) = match verb {
        "resume" => (can.resume, SessionRequest::Resume(SessionId::new(id)?)),
        _ => (can.fork, SessionRequest::Fork(SessionId::new(id)?)),
    };
    if can {
        Ok(request)
    } else {
        Err(invalid(format!("{verb} a session: {} cannot", named(settings.agent.as_ref()))))
    }
}

fn check_output(settings: &Settings, spec: &OutputSpec) -> Result<()> {
    if settings.max_iterations != 1 {
        let count = settings.max_iterations;
        return Err(invalid(format!(
            "ask for an output `<{}>` from a run of {count} iterations",
            spec.tag()
        ))
        .with_hint("set `max_iterations` to 1: an output is the answer of one agent process"));
    }
    if spec.retries() > 0 && !settings.agent.capabilities().resume {
        let retries = spec.retries();
        return Err(invalid(format!(
            "retry the output `<{}>` up to {retries} times: {} cannot resume a session",
            spec.tag(),
            named(settings.agent.as_ref())
        ))
        .with_hint("set `max_retries` to 0, or use an agent that can resume"));
    }
    Ok(())
}

fn check_folder(cwd: Option<&Path>) -> Result<PathBuf> {
    let path = match cwd {
        Some(path) => path.to_path_buf(),
        None => PathBuf::from("."),
    };
    let absolute = path.canonicalize().map_err(|error| {
        invalid(format!("work in `{}`", path.display()))
            .with_source(error)
            .with_hint("name an existing folder with `cwd`")
    })?;
    if absolute.is_dir() {
        Ok(absolute)
    } else {
        Err(invalid(format!("work in `{}`: it is not a folder", path.display())))
    }
}

fn check_prompt(settings: &Settings) -> Result<PromptTemplate> {
    match settings.prompts.as_slice() {
        [source] => source.read(&settings.prompt_args),
        [] => Err(Error::new(ErrorKind::Prompt, "run without a prompt")
            .with_hint("call `prompt` or `prompt_file` on the options")),
        more => Err(Error::new(ErrorKind::Prompt, format!("use {} prompts at once", more.len()))
            .with_hint("call either `prompt` or `prompt_file`, and only once")),
    }
}

fn filled(template: &PromptTemplate, branch: &BranchName) -> String {
    template.fill(&Branches { source: branch, target: branch }).for_checks()
}

fn check_tag(prompt: &str, spec: &OutputSpec) -> Result<()> {
    let opener = format!("<{}>", spec.tag());
    if prompt.contains(&opener) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Prompt, format!("ask for an output: the prompt does not contain `{opener}`"))
        .with_hint("nothing is added to a prompt: put the type's `prompt_snippet()` into it"))
}

fn named(agent: &dyn Agent) -> String {
    format!("the agent `{}`", agent.name())
}
