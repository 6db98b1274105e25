//! `sandcastle interactive`: opens the agent's own terminal program.

use sandcastle::InteractiveResult;
use serde_json::{Value, json};

use super::ask::with_answers;
use super::options::options;
use super::signals::{Keyboard, cancelled_by_signals};
use super::terminal::AsItWas;
use crate::cli::InteractiveArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Next};
use crate::reporter::{Lines, Reporter, next};

pub(super) async fn interactive(args: InteractiveArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let (told, keyboard) = (reporter.clone(), Keyboard::default());
    let token = cancelled_by_signals(keyboard.clone());
    let options =
        with_answers(options(&args.agent, &args.prompt, &args.session, (&args.branch, &args.site)).await?)?
            .on_event(move |event| {
                keyboard.notice(event);
                told.event(event);
            })
            .cancel(token);
    let terminal = AsItWas::now();
    let held = sandcastle::interactive(options).await;
    drop(terminal);
    let result = held.map_err(|error| {
        let Some(work) = error.work() else { return Failure::at_entry(&error) };
        let cwd = args.site.cwd.as_deref();
        let show = work.run_id.as_ref().map(|run| next::show(run.as_str(), cwd));
        Failure::of_run(&error, &Next { show, resume: None })
    })?;
    reporter.result(&described(&result, &args), &summary(&result, &args))?;
    Ok(if result.exit_code == Some(0) { Exit::Done } else { Exit::Failed })
}

fn described(result: &InteractiveResult, args: &InteractiveArgs) -> Value {
    json!({
        "run": result.run_id,
        "agent": args.agent.agent,
        "sandbox": args.agent.sandbox.name(),
        "exit_code": result.exit_code,
        "branch": result.branch,
        "commits": result.commits,
        "preserved_worktree": result.preserved_worktree.as_ref().map(|path| path.to_string_lossy()),
        "warnings": result.warnings,
    })
}

fn summary(result: &InteractiveResult, args: &InteractiveArgs) -> String {
    let mut lines = Lines::default();
    lines.add("agent", &args.agent.agent);
    lines.add("sandbox", args.agent.sandbox.name());
    lines.add("branch", &result.branch);
    lines.commits(&result.commits);
    lines.some("worktree", result.preserved_worktree.as_ref().map(|path| path.display()));
    match result.exit_code {
        Some(code) => lines.add("exit code", code),
        None => lines.add("exit", "ended by a signal"),
    }
    lines.add("run", &result.run_id);
    lines.behind("")
}
