//! `sandcastle run`: runs an agent, and prints its structured output if one is asked for.

use sandcastle::{Logging, RunOptions, RunResult};
use serde_json::{Value, json};

use super::agent::{Interrupt, cancelled_by_signals, options, shown};
use super::output::spec;
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

pub(super) async fn run(args: RunArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let told = reporter.clone();
    let options = configured(&args)?
        .on_event(move |event| told.event(event))
        .cancel(cancelled_by_signals(Interrupt::EndsTheAgent));
    match &args.output.tag {
        Some(tag) => {
            let mut spec = spec(tag, args.output.schema.as_deref(), args.output.text)?;
            if let Some(retries) = args.max_retries {
                spec = spec.max_retries(retries)?;
            }
            let result = sandcastle::run_spec(options, spec).await?;
            reporter.result(&described(&result, &result.output), &summary(&result, Some(&result.output)))?;
        }
        None => {
            let result = sandcastle::run(options).await?;
            reporter.result(&described(&result, &Value::Null), &summary(&result, None))?;
        }
    }
    Ok(Exit::Done)
}

fn configured(args: &RunArgs) -> Result<RunOptions, Failure> {
    let mut options = options(&args.agent)?.max_iterations(args.max_iterations);
    if let Some(prompt) = &args.prompt {
        options = options.prompt(prompt);
    }
    if let Some(file) = &args.prompt_file {
        options = options.prompt_file(file);
    }
    for (key, value) in &args.args {
        options = options.prompt_arg(key, value);
    }
    for signal in &args.completion_signal {
        options = options.completion_signal(signal);
    }
    if let Some(limit) = args.idle_timeout {
        options = options.idle_timeout(limit);
    }
    if let Some(limit) = args.completion_timeout {
        options = options.completion_timeout(limit);
    }
    if let Some(limit) = args.total_timeout {
        options = options.total_timeout(limit);
    }
    if let Some(id) = &args.resume {
        options = options.resume_session(id);
    }
    if let Some(id) = &args.fork {
        options = options.fork_session(id);
    }
    if let Some(name) = &args.name {
        options = options.name(name);
    }
    if let Some(file) = &args.log {
        options = options.logging(Logging::file(file));
    }
    Ok(options)
}

fn described<O>(result: &RunResult<O>, output: &Value) -> Value {
    json!({
        "output": output,
        "branch": result.branch,
        "commits": result.commits,
        "iterations": result.iterations,
        "attempts": result.attempts,
        "completion_signal": result.completion_signal,
        "answer_guarantee": result.answer_guarantee,
        "usage": result.usage,
        "session_id": result.session_id(),
        "text": result.text,
        "log_file": result.log_file,
        "preserved_worktree": result.preserved_worktree,
        "warnings": result.warnings,
    })
}

fn summary<O>(result: &RunResult<O>, output: Option<&Value>) -> String {
    let mut lines = Vec::new();
    match output {
        Some(Value::String(text)) => lines.push(crate::reporter::clean(text)),
        Some(value) => lines.push(format!("{value:#}")),
        None => lines.push(crate::reporter::clean(result.text.trim())),
    }
    lines.push(String::new());
    lines.push(format!("branch   {}", result.branch));
    for commit in &result.commits {
        lines.push(format!("commit   {:.10} {}", commit.sha, crate::reporter::clean(&commit.subject)));
    }
    if let Some(session) = result.session_id() {
        lines.push(format!("session  {session}"));
    }
    lines.push(format!("log      {}", shown(result.log_file.as_deref())));
    lines.join("\n")
}
