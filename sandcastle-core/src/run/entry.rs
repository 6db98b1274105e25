//! The checks that a run has to pass before anything is touched.
//!
//! They are made in this order, and the first that fails is the error:
//!
//! 1. the run is not cancelled already;
//! 2. numbers: at least one iteration, no limit of zero, no blank completion signal, a budget that the agent can be held to;
//! 3. the site: hooks that can be run, nothing to copy into the user's own work tree, nothing that a lent worktree or
//!    sandbox has settled already;
//! 4. sessions: not both resume and fork, one iteration only, an id of the right form, an agent that can;
//! 5. output: one iteration only if the prompt asks for it, retries and an extraction only with an agent that can resume, and the
//!    strategy can be kept: by what the agent declares, and by a schema that its wire can carry;
//! 6. the folder exists;
//! 7. exactly one prompt, readable, with all its arguments, and not blank;
//! 8. the prompt contains the opening tag of the output if words carry its shape, as far as it is known before its shell
//!    expressions are run; so does the prompt of an extraction, which is not blank either;
//! 9. the agent can be given this prompt;
//! 10. the folder is in a git repository that the branch strategy can work in;
//! 11. the variables: names that are some, none set for both the sandbox and the agent;
//! 12. the session to resume or fork is there, if the home folder of the agent is known;
//! 13. no declared secret is in an argument: of the agent, of a hook, of a shell expression.
//!
//! One more is made in the sandbox, by `driver`, before the prompt's own commands are run: that the version of the agent's
//! program is one that keeps the strategy. What was made for the run goes again if it is not.

mod output;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::output::{check_output, check_question, check_words};
use super::arguments::check_shown;
use super::contract::Demand;
use super::environment::Environment;
use super::ground::Lot;
use super::liveness::Liveness;
use super::options::Settings;
use super::plan::SchemaPlan;
use super::sessions::Sessions;
use super::site::Site;
use super::spending;
use crate::agent::{Agent, AgentCommand, AgentRequest};
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::{BranchName, RunId, SessionId};
use crate::prompt::{Branches, Filled, PromptTemplate};
use crate::secret::Secrets;
use crate::session::SessionRequest;
use crate::worktree::{self, BranchStrategy, Plan};

/// Options that have passed.
#[derive(Debug)]
pub(super) struct Checked {
    /// The folder to work in, on this host, in the caller's own work tree.
    pub(super) cwd: PathBuf,
    /// The same folder, seen from the root of a work tree.
    pub(super) below: PathBuf,
    /// `None` only in a session that a person holds.
    pub(super) prompt: Option<PromptTemplate>,
    pub(super) session: SessionRequest,
    /// The repository as the caller sees it.
    pub(super) repository: Repository,
    pub(super) plan: Arc<Plan>,
    /// How the schema reaches the model; `None` when no output is asked for.
    pub(super) schema: Option<SchemaPlan>,
    pub(super) run: RunId,
    pub(super) environment: Environment,
    pub(super) secrets: Secrets,
    /// What a person should know and what does not keep the run from beginning.
    pub(super) warnings: Vec<String>,
}

/// Whether a prompt may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// An agent that works alone has to be told what to do.
    Always,
    /// A person can say it.
    Maybe,
}

pub(super) async fn check(settings: &Settings, demand: Option<Demand<'_>>) -> Result<Checked> {
    if settings.cancel.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "start the run: it was cancelled before it began"));
    }
    check_numbers(settings)?;
    check_all(settings, demand, Asked::Always).await
}

/// The checks of a session that a person holds: as above, but a prompt is optional, and what is about an agent that works
/// alone is refused.
pub(super) async fn check_interactive(settings: &Settings) -> Result<Checked> {
    if settings.cancel.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "start the session: it was cancelled before it began"));
    }
    check_unattended(settings)?;
    check_all(settings, None, Asked::Maybe).await
}

/// The checks that need neither the prompt nor the folder, for whoever knows those only later; says how the schema would
/// reach the model.
///
/// # Errors
/// As those of a run before anything is touched.
#[cfg(feature = "workflow")]
pub(crate) fn check_ahead(
    options: &super::RunOptions,
    spec: Option<&crate::output::OutputSpec>,
) -> Result<Option<crate::strategy::StrategyChoice>> {
    check_numbers(&options.settings)?;
    check_site(&options.settings)?;
    let demand = spec.map(|spec| Demand { spec, extraction: None });
    demand.map(|demand| Ok(check_output(&options.settings, demand)?.choice().clone())).transpose()
}

async fn check_all(settings: &Settings, demand: Option<Demand<'_>>, asked: Asked) -> Result<Checked> {
    check_site(settings)?;
    let session = check_session(settings)?;
    let schema = demand.map(|demand| check_output(settings, demand)).transpose()?;
    let lent = settings.ground.lender()?;
    if let Some(lot) = lent {
        lot.place()?;
    }
    let cwd = check_folder(settings.site.cwd.as_deref().or(lent.map(|lot| lot.cwd.as_path())))?;
    let mut warnings = Vec::new();
    let (prompt, commands) = match asked {
        Asked::Maybe if settings.prompts.is_empty() => (None, Vec::new()),
        _ => {
            let prompt = check_prompt(settings)?;
            let output = demand.zip(schema.as_ref());
            let mut commands = vec![check_filled(settings, &prompt, output, &cwd, &session, &mut warnings)?];
            commands.extend(check_question(settings, output, &cwd, &mut warnings)?);
            (Some(prompt), if asked == Asked::Always { commands } else { Vec::new() })
        }
    };
    if let Some(lot) = lent {
        check_lot(lot, &cwd)?;
    }
    let repository = Repository::discover(&cwd).await?;
    let run = RunId::generate();
    let plan = match lent {
        Some(lot) => Arc::clone(&lot.plan),
        None => {
            let (strategy, name) = (settings.site.strategy(), settings.site.name.as_deref());
            Arc::new(Plan::new(&repository, &strategy, &run, name).await?)
        }
    };
    let (environment, secrets) = check_variables(settings, &repository).await?;
    check_history(settings, &session, &cwd, &environment)?;
    warnings.extend(check_shown(settings, prompt.as_ref(), &commands, &secrets)?);
    let below = below(&repository, &cwd);
    Ok(Checked { cwd, below, prompt, session, repository, plan, schema, run, environment, secrets, warnings })
}

/// Checks the variables, and finds the secrets among them.
async fn check_variables(settings: &Settings, repository: &Repository) -> Result<(Environment, Secrets)> {
    let mut site = settings.site.clone();
    if let Some(lot) = settings.ground.lender()? {
        site.inherit(&lot.site);
    }
    let (sandbox, agent) = (settings.sandbox.as_ref(), settings.agent.as_ref());
    let mut environment = Environment::of(&ConfigDir::of(repository), Some(sandbox), Some(agent), &site.env)?;
    if !environment.knows_the_author() {
        environment.identify(&repository.identity().await?);
    }
    let secrets = environment.secrets(&site.secrets)?;
    Ok((environment, secrets))
}

/// Checks that the session which is asked for is there, if it is known where the agent will be at home.
fn check_history(
    settings: &Settings,
    session: &SessionRequest,
    cwd: &Path,
    environment: &Environment,
) -> Result<()> {
    let lent = settings.ground.lender()?.and_then(|lot| lot.sandbox()).and_then(|sandbox| sandbox.home());
    let Some(home) = lent.or_else(|| settings.sandbox.home()) else { return Ok(()) };
    let (agent, store) = (Arc::clone(&settings.agent), settings.session_store.clone());
    Sessions::new(agent, store, cwd.to_path_buf()).check(session, &home, environment.variables())
}

/// Fills a prompt in as far as it is known by now: branches are not.
pub(super) fn as_far_as_known(prompt: &PromptTemplate) -> Filled {
    let branch = BranchName::from_git("");
    prompt.fill(&Branches { source: &branch, target: &branch })
}

/// Returns what will be said, as far as it is known.
pub(super) fn known_text(prompt: &PromptTemplate) -> String {
    as_far_as_known(prompt).for_checks()
}

/// Checks what will be said, as far as it is known: branches and the output of shell expressions are not.
fn check_filled(
    settings: &Settings,
    prompt: &PromptTemplate,
    output: Option<(Demand<'_>, &SchemaPlan)>,
    cwd: &Path,
    session: &SessionRequest,
    warnings: &mut Vec<String>,
) -> Result<AgentCommand> {
    let unused = prompt.unused().into_iter();
    warnings
        .extend(unused.map(|key| format!("the prompt has no `{{{{{key}}}}}`: its argument was not used")));
    let filled = as_far_as_known(prompt);
    let text = filled.for_checks();
    let output = output.filter(|(demand, _)| demand.extraction.is_none());
    if !filled.has_expressions() {
        check_words(&text, output, warnings)?;
    }
    let schema = output.and_then(|(_, schema)| schema.argument());
    settings.agent.command(&AgentRequest::new(&text, cwd, session).with_schema(schema))
}

/// Says that an agent will not take `command` for one.
pub(super) fn slash_warning(command: &str) -> String {
    format!("the prompt begins with `{command}`: it is sent as plain text and not as a command")
}

/// Checks what is set up around the agent.
fn check_site(settings: &Settings) -> Result<()> {
    match settings.ground.lender()? {
        None => check_own_site(&settings.site),
        Some(lot) => check_lent_site(&settings.site, lot),
    }
}

/// Checks a site whose work tree is still to be made.
pub(super) fn check_own_site(site: &Site) -> Result<()> {
    site.hooks.check()?;
    site.timeouts.check()?;
    worktree::check_paths(&site.copy)?;
    if !site.copy.is_empty() && site.strategy() == BranchStrategy::head() {
        return Err(invalid("use `copy_to_worktree` with the branch strategy `head`, which has no worktree")
            .with_hint("choose the strategy `merge_to_head` or `branch`"));
    }
    Ok(())
}

/// Checks a site in a work tree that is there, and refuses what was settled when that was made.
pub(super) fn check_lent_site(site: &Site, lot: &Lot) -> Result<()> {
    site.hooks.check()?;
    site.timeouts.check()?;
    let settled = [
        ("branch_strategy", site.strategy.is_some()),
        ("copy_to_worktree", !site.copy.is_empty()),
        ("history", lot.sandbox().is_some() && !site.history.is_empty()),
        ("host_worktree_ready", site.hooks.has_worktree_ready()),
        ("host_sandbox_ready", lot.sandbox().is_some() && site.hooks.has_host_sandbox_ready()),
        ("sandbox_ready", lot.sandbox().is_some() && site.hooks.has_sandbox_ready()),
    ];
    match settled.into_iter().find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((option, _)) => {
            let maker = lot.maker;
            Err(invalid(format!("use `{option}` in a {maker} that is there already"))
                .with_hint(format!("set it where the {maker} is made")))
        }
    }
}

/// Checks that a folder is in the work tree that is lent.
pub(super) fn check_lot(lot: &Lot, cwd: &Path) -> Result<()> {
    let place = lot.place()?;
    if cwd.starts_with(place.top()) {
        return Ok(());
    }
    let (own, asked) = (place.top().display(), cwd.display());
    Err(invalid(format!("work in `{asked}`: the {} is `{own}`", lot.maker))
        .with_hint("name a folder in it, or none"))
}

/// Returns a folder as seen from the root of its work tree.
pub(super) fn below(repository: &Repository, cwd: &Path) -> PathBuf {
    let below = repository.top().ok().and_then(|top| cwd.strip_prefix(top).ok());
    below.unwrap_or(Path::new("")).to_path_buf()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOptions, message)
}

fn check_numbers(settings: &Settings) -> Result<()> {
    if settings.max_iterations == 0 {
        return Err(invalid("run 0 iterations").with_hint("set `max_iterations` to 1 or more"));
    }
    let limits = [
        ("idle_timeout", settings.idle_timeout),
        ("completion_timeout", settings.completion_timeout),
        ("total_timeout", settings.total_timeout),
    ];
    if let Some((name, _)) = limits.iter().find(|(_, limit)| limit.is_some_and(|limit| limit.is_zero())) {
        return Err(invalid(format!("use a `{name}` of zero")).with_hint("a limit is longer than nothing"));
    }
    if settings.signals().iter().any(|signal| signal.trim().is_empty()) {
        return Err(invalid("use a blank completion signal").with_hint("it would be found in every answer"));
    }
    spending::check(settings)
}

/// Refuses what does not apply where a person decides how long and how often the agent works.
fn check_unattended(settings: &Settings) -> Result<()> {
    let set = [
        ("max_iterations", settings.max_iterations != 1),
        ("completion_signal", settings.completion_signals.is_some()),
        ("idle_timeout", settings.idle_timeout.is_some()),
        ("liveness", settings.liveness != Liveness::default()),
        ("completion_timeout", settings.completion_timeout.is_some()),
        ("max_cost", settings.budget.max_cost.is_some()),
        ("max_tokens", settings.budget.max_tokens.is_some()),
    ];
    match set.into_iter().find(|(_, is_set)| *is_set) {
        None => check_numbers(settings),
        Some((option, _)) => Err(invalid(format!("use `{option}` in a session that a person holds"))
            .with_hint("the person ends it; `total_timeout` limits it")),
    }
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

/// Checks the folder to work in; without one it is that of this process.
pub(super) fn check_folder(cwd: Option<&Path>) -> Result<PathBuf> {
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

fn named(agent: &dyn Agent) -> String {
    format!("the agent `{}`", agent.name())
}
