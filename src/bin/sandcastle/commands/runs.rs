//! `sandcastle runs`: what ran, what is left of it, what can be saved and what can go.

use std::path::Path;

use sandcastle::RunId;
use sandcastle::journal::{Recovery, Removal, RunReport, RunState, Runs};
use serde_json::{Value, json};

use crate::cli::RunsCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::{Reporter, clean, runs as words};

pub(super) async fn runs(command: RunsCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        RunsCommand::List { place } => {
            let runs = Runs::of(&place.cwd).await?.list().await?;
            let described: Vec<Value> = runs.iter().map(described).collect();
            reporter.result(&json!({ "runs": described }), &words::table(&runs))?;
        }
        RunsCommand::Show { id, place } => {
            let id = RunId::new(id)?;
            let run = Runs::of(&place.cwd).await?.show(&id).await?;
            reporter.result(&described(&run), &words::run(&run))?;
        }
        RunsCommand::Recover { id, place } => return recover(id, &place.cwd, reporter).await,
        RunsCommand::Clean { id, force, dry_run, place } => {
            let id = id.map(RunId::new).transpose()?;
            let removal = if dry_run { Removal::DryRun } else { Removal::Real };
            let runs = Runs::of(&place.cwd).await?;
            let cleaned = match &id {
                Some(id) if force => runs.remove(id, removal).await?,
                Some(id) => runs.clean_one(id, removal).await?,
                None => runs.clean(removal).await?,
            };
            let described = json!({ "removed": cleaned.removed, "kept": cleaned.kept, "dry_run": dry_run });
            reporter.result(&described, &words::cleaned(&cleaned, removal))?;
        }
    }
    Ok(Exit::Done)
}

async fn recover(id: Option<String>, cwd: &Path, reporter: &Reporter) -> Result<Exit, Failure> {
    let runs = Runs::of(cwd).await?;
    if let Some(id) = id {
        let recovery = runs.recover(&RunId::new(id)?).await?;
        reporter
            .result(&json!({ "recovered": [saved(&recovery)], "failed": [] }), &words::recovery(&recovery))?;
        return Ok(Exit::Done);
    }
    let (mut recovered, mut failed, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for id in died(runs.list().await?) {
        // One that cannot be recovered does not keep the others from it.
        match runs.recover(&id).await {
            Ok(recovery) => {
                recovered.push(saved(&recovery));
                texts.push(words::recovery(&recovery));
            }
            Err(error) => {
                let failure = Failure::from(error);
                texts.push(clean(&format!("run       {id}\nerror     {}", failure.text)));
                failed.push(json!({ "run": id, "error": failure.json }));
            }
        }
    }
    if texts.is_empty() {
        texts.push("no run died that was not recovered".to_owned());
    }
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
    reporter.result(&json!({ "recovered": recovered, "failed": failed }), &texts.join("\n\n"))?;
    Ok(exit)
}

/// What was saved as an object.
fn saved(recovery: &Recovery) -> Value {
    let mut object = json!(recovery);
    object["run"] = described(&recovery.run);
    object
}

fn died(runs: Vec<RunReport>) -> Vec<RunId> {
    // A workflow is resumed.
    let is_dead = |run: &RunReport| run.state == RunState::Died && !run.recovered && run.workflow.is_none();
    let died = runs.into_iter().filter(is_dead);
    died.map(|run| run.id).collect()
}

/// A run as an object, with what a program would otherwise have to work out.
fn described(run: &RunReport) -> Value {
    let mut object = json!(run);
    object["left"] = json!(run.left());
    object["resume_command"] = json!(words::resume(run));
    object
}
