//! `sandcastle run`: runs an agent, and prints its structured output if one is asked for.

use sandcastle::{Error, RunOptions, RunResult, Work};
use serde_json::{Value, json};

use super::options::{options, within};
use super::output::spec;
use super::signals::{Keyboard, cancelled_by_signals};
use crate::cli::{BranchChoice, RunArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Next};
use crate::reporter::next::{self, Resume};
use crate::reporter::{Lines, Reporter, clean};

pub(super) async fn run(args: RunArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let told = reporter.clone();
    let options = configured(&args)
        .await?
        .on_event(move |event| told.event(event))
        .cancel(cancelled_by_signals(Keyboard::default()));
    let failed = |error: Error| failed(&error, &args);
    reporter.begin();
    match &args.output.tag {
        Some(tag) => {
            let mut spec = spec(tag, args.output.schema.as_deref(), args.output.text)?;
            if let Some(retries) = args.max_retries {
                spec = spec.max_retries(retries)?;
            }
            let result = sandcastle::run_spec(options, spec).await.map_err(failed)?;
            let answer = match &result.output {
                Value::String(text) => text.clone(),
                value => format!("{value:#}"),
            };
            reporter.result(&described(&result, &result.output), &summary(&result, &answer))?;
        }
        None => {
            let result = sandcastle::run(options).await.map_err(failed)?;
            reporter.result(&described(&result, &Value::Null), &summary(&result, &result.text))?;
        }
    }
    Ok(Exit::Done)
}

async fn configured(args: &RunArgs) -> Result<RunOptions, Failure> {
    let place = (&args.branch, &args.site);
    let options = within(options(&args.agent, &args.prompt, &args.session, place).await?, &args.limits);
    Ok(match args.strategy {
        Some(strategy) => options.output_strategy(strategy.into()),
        None => options,
    })
}

fn described<O>(result: &RunResult<O>, output: &Value) -> Value {
    json!({
        "run": result.run_id,
        "output": output,
        "branch": result.branch,
        "commits": result.commits,
        "iterations": result.iterations,
        "attempts": result.attempts,
        "completion_signal": result.completion_signal,
        "answer_guarantee": result.answer_guarantee,
        "strategy": result.strategy,
        "usage": result.usage,
        "session_id": result.session_id(),
        "text": result.text,
        "log_file": result.log_file.as_ref().map(|path| path.to_string_lossy()),
        "preserved_worktree": result.preserved_worktree.as_ref().map(|path| path.to_string_lossy()),
        "warnings": result.warnings,
    })
}

fn summary<O>(result: &RunResult<O>, answer: &str) -> String {
    let mut lines = Lines::default();
    lines.add("branch", &result.branch);
    lines.commits(&result.commits);
    lines.some("worktree", result.preserved_worktree.as_ref().map(|path| path.display()));
    lines.some("session", result.session_id());
    lines.some("log", result.log_file.as_ref().map(|path| path.display()));
    lines.add("run", &result.run_id);
    format!("{}\n\n{}", clean(answer.trim()), lines.behind(""))
}

/// Adds to a failure what there is to go on with.
fn failed(error: &Error, args: &RunArgs) -> Failure {
    let Some(work) = error.work() else { return Failure::at_entry(error) };
    let next = Next {
        show: work.run_id.as_ref().map(|run| next::show(run.as_str(), args.site.cwd.as_deref())),
        resume: resume(work, args),
    };
    Failure::of_run(error, &next)
}

/// Words the command line that continues the conversation, where the work of the run is.
fn resume(work: &Work, args: &RunArgs) -> Option<String> {
    let session = work.session_id()?;
    let kept = work.preserved_worktree.as_deref();
    let branch = work.branch.as_ref().filter(|_| !work.commits.is_empty());
    let strategy = match (&args.branch.branch_strategy, kept, branch) {
        (BranchChoice::Head, ..) | (_, Some(_), _) => None,
        (BranchChoice::Branch(name), None, _) => Some(format!("branch:{name}")),
        (BranchChoice::MergeToHead, None, Some(branch)) => Some(format!("branch:{branch}")),
        (BranchChoice::MergeToHead, None, None) => Some("merge-to-head".to_owned()),
    };
    let resume = Resume {
        agent: &args.agent.agent,
        model: args.agent.model.as_deref(),
        sandbox: args.agent.whereabouts(),
        folder: kept.or(args.site.cwd.as_deref()),
        strategy,
        session: session.as_str(),
    };
    Some(resume.to_string())
}
