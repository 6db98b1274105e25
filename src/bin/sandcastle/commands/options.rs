//! From flags to the options of a run, with what the environment adds to them.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use sandcastle::sandbox::{Bubblewrap, Network, NoSandbox, SandboxProvider};
use sandcastle::{BranchStrategy, Hooks, Logging, RunOptions, Timeouts, registry};

use super::container;
use crate::cli::{
    AgentArgs, BranchArgs, BranchChoice, LimitArgs, NetworkChoice, PromptArgs, Sandbox, SessionArgs,
    SiteArgs, Step,
};
use crate::failure::Failure;

/// Builds options from the flags that all commands with an agent share.
pub(super) async fn options(
    agent: &AgentArgs,
    prompt: &PromptArgs,
    session: &SessionArgs,
    (branch, site): (&BranchArgs, &SiteArgs),
) -> Result<RunOptions, Failure> {
    let options = with_prompt(of_agent(agent, site.cwd.as_deref()).await?, prompt);
    Ok(in_site(in_session(options, session), site).branch_strategy(strategy(branch)))
}

/// Adds how far an agent that works alone may go.
pub(super) fn within(mut options: RunOptions, args: &LimitArgs) -> RunOptions {
    options = options.max_iterations(args.max_iterations);
    for signal in &args.completion_signal {
        options = options.completion_signal(signal);
    }
    if let Some(limit) = args.idle_timeout {
        options = options.idle_timeout(limit);
    }
    if let Some(sign) = args.liveness {
        options = options.liveness(sign.into());
    }
    if let Some(limit) = args.completion_timeout {
        options = options.completion_timeout(limit);
    }
    if let Some(limit) = args.total_timeout {
        options = options.total_timeout(limit);
    }
    if let Some(dollars) = args.max_cost {
        options = options.max_cost(dollars);
    }
    if let Some(tokens) = args.max_tokens {
        options = options.max_tokens(tokens);
    }
    options
}

pub(super) async fn of_agent(args: &AgentArgs, cwd: Option<&Path>) -> Result<RunOptions, Failure> {
    let agent = registry::find(&args.agent)?.create(args.model.as_deref().unwrap_or_default())?;
    let sandbox = sandbox(args, cwd).await?;
    let mut options = RunOptions::shared(agent, sandbox);
    for variable in &args.env {
        let (key, value) = variable_of(variable)?;
        options = options.env(key, value);
    }
    for key in &args.secret_env {
        options = options.secret(secret_of(key)?);
    }
    Ok(options)
}

/// Returns what was said of the network, if anything was.
async fn sandbox(args: &AgentArgs, cwd: Option<&Path>) -> Result<Arc<dyn SandboxProvider>, Failure> {
    let network = network(args);
    if let Some(container) = container::provider(args.sandbox, &args.container, network.clone(), cwd).await? {
        return Ok(container);
    }
    match (args.sandbox, network) {
        (Sandbox::None, Some(_)) => {
            let what = "failed to limit the network of `--sandbox none`: it is that of this host";
            Err(Failure::usage(format!("{what}; take `--sandbox bubblewrap`, `docker` or `podman`")))
        }
        (Sandbox::Bubblewrap, network) => {
            Ok(Arc::new(Bubblewrap::new().network(network.unwrap_or_default())))
        }
        _ => Ok(Arc::new(NoSandbox::new())),
    }
}

fn network(args: &AgentArgs) -> Option<Network> {
    match (args.network, args.allow_host.as_slice()) {
        (None, []) => None,
        (None, hosts) => Some(Network::limited(hosts)),
        (Some(NetworkChoice::On), _) => Some(Network::On),
        (Some(NetworkChoice::Off), _) => Some(Network::Off),
    }
}

fn with_prompt(mut options: RunOptions, args: &PromptArgs) -> RunOptions {
    if let Some(prompt) = &args.prompt {
        options = options.prompt(prompt);
    }
    if let Some(file) = &args.prompt_file {
        options = options.prompt_file(file);
    }
    args.args.iter().fold(options, |options, (key, value)| options.prompt_arg(key, value))
}

fn in_session(mut options: RunOptions, args: &SessionArgs) -> RunOptions {
    if let Some(id) = &args.resume {
        options = options.resume_session(id);
    }
    if let Some(id) = &args.fork {
        options = options.fork_session(id);
    }
    if let Some(folder) = &args.session_store {
        options = options.session_store(folder);
    }
    options
}

pub(super) fn in_site(options: RunOptions, args: &SiteArgs) -> RunOptions {
    let mut options = options.hooks(hooks(args)).timeouts(timeouts(args)).copy_to_worktree(&args.copy);
    if let Some(cwd) = &args.cwd {
        options = options.cwd(cwd);
    }
    if let Some(name) = &args.name {
        options = options.name(name);
    }
    if let Some(file) = &args.log {
        options = options.logging(Logging::file(file));
    }
    options
}

fn strategy(args: &BranchArgs) -> BranchStrategy {
    let strategy = match &args.branch_strategy {
        BranchChoice::Head => BranchStrategy::head(),
        BranchChoice::MergeToHead => BranchStrategy::merge_to_head(),
        BranchChoice::Branch(name) => BranchStrategy::branch(name),
    };
    match &args.base {
        Some(revision) => strategy.base(revision),
        None => strategy,
    }
}

fn hooks(args: &SiteArgs) -> Hooks {
    let hooks = args.host_worktree_ready.iter().cloned().fold(Hooks::new(), Hooks::host_worktree_ready);
    let hooks = args.host_sandbox_ready.iter().cloned().fold(hooks, Hooks::host_sandbox_ready);
    args.sandbox_ready.iter().cloned().fold(hooks, Hooks::sandbox_ready)
}

fn timeouts(args: &SiteArgs) -> Timeouts {
    args.timeout.iter().fold(Timeouts::new(), |timeouts, (step, limit)| match step {
        Step::Worktree => timeouts.worktree(*limit),
        Step::CopyToWorktree => timeouts.copy_to_worktree(*limit),
        Step::SandboxStart => timeouts.sandbox_start(*limit),
        Step::Hook => timeouts.hook(*limit),
        Step::PromptExpression => timeouts.prompt_expression(*limit),
        Step::SessionTransfer => timeouts.session_transfer(*limit),
        Step::CommitCollection => timeouts.commit_collection(*limit),
        Step::MergeToHost => timeouts.merge_to_host(*limit),
        Step::SandboxClose => timeouts.sandbox_close(*limit),
    })
}

fn variable_of(text: &str) -> Result<(String, OsString), Failure> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.into())),
        Some(_) => {
            Err(Failure::usage(format!("failed to read `--env {text}`: the name before `=` is missing")))
        }
        None => match variable(text) {
            Some(value) => Ok((text.to_owned(), value)),
            None => Err(Failure::usage(format!(
                "failed to take `{text}` from the environment: it is not set; write KEY=VALUE to give it a value"
            ))),
        },
    }
}

fn secret_of(key: &str) -> Result<String, Failure> {
    let failed = |why: &str| {
        Failure::usage(format!(
            "failed to read `--secret-env {}`: {why}",
            key.split('=').next().unwrap_or(key)
        ))
    };
    if key.contains('=') {
        return Err(failed("name a variable and not its value, which others could see on the command line"));
    }
    let value = variable(key).ok_or_else(|| failed("there is no such variable in the environment"))?;
    value.into_string().map_err(|_| failed("its value is not UTF-8"))
}

/// Reads a variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the command reads the environment for the library")]
pub(super) fn variable(key: &str) -> Option<OsString> {
    // The operating system has no variable of such a name, and asking for one is a mistake that panics on some.
    if key.is_empty() || key.contains(['=', '\0']) { None } else { std::env::var_os(key) }
}

/// Names the variables of the environment that have this value, whatever white space is around it.
pub(super) fn variables_with(value: &str) -> Vec<String> {
    let has_it = |found: &OsString| found.to_str().is_some_and(|found| found.trim() == value.trim());
    let named = std::env::vars_os().filter(|(_, found)| has_it(found));
    named.filter_map(|(name, _)| name.into_string().ok()).collect()
}
