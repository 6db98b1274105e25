//! Runs of workflows among the runs of a repository.

use super::super::super::{Decision, Step, Workflow, WorkflowOptions};
use crate::journal::{Outcome, Removal, RunState, Runs};
use crate::testing::ScratchRepo;

fn workflow(command: &str) -> Workflow {
    Workflow::new("release").step(Step::tool("tests", [command])).step(Step::approval("release", "Release?"))
}

#[tokio::test]
async fn they_are_listed_and_kept_as_long_as_they_can_be_resumed() {
    let repository = ScratchRepo::new().await.unwrap();
    let options = || WorkflowOptions::new(repository.path());
    let waiting = workflow("true").run(options()).await.unwrap().run_id;
    let failed = workflow("false").run(options()).await.unwrap_err();
    let failed = failed.workflow_failure().unwrap().run_id.clone();
    let approve = Decision::Approve { note: String::new() };
    let done = workflow("true").run(options().decide("release", approve.clone())).await.unwrap().run_id;

    let runs = Runs::of(repository.path()).await.unwrap();
    assert_eq!(runs.list().await.unwrap().len(), 3);
    let report = runs.show(&waiting).await.unwrap();
    assert_eq!((report.state, report.outcome), (RunState::Finished, None));
    assert_eq!(report.name.as_deref(), Some("release"));
    assert_eq!(report.left(), ["a workflow that waits for an approval"]);
    let told = report.workflow.unwrap();
    assert_eq!((told.status.as_str(), told.can_be_resumed), ("awaiting-approval", true));
    let steps: Vec<_> = told.steps.iter().map(|step| (&*step.step, &*step.status)).collect();
    assert_eq!(steps, [("tests", "completed"), ("release", "awaiting-approval")]);
    let report = runs.show(&failed).await.unwrap();
    assert_eq!(report.outcome, Some(Outcome::Failed));
    assert!(report.error.unwrap().contains("the step `tests` failed to run `false`"));
    assert_eq!(runs.show(&done).await.unwrap().left(), [""; 0]);

    let cleaned = runs.clean(Removal::Real).await.unwrap();
    let ids = |items: &[crate::journal::CleanedItem]| {
        let mut ids: Vec<_> = items.iter().filter_map(|item| item.run.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&cleaned.removed), [done]);
    let mut kept = vec![waiting.clone(), failed.clone()];
    kept.sort();
    assert_eq!(ids(&cleaned.kept), kept);
    assert!(cleaned.kept.iter().all(|item| item.why == "its workflow can be resumed"), "{cleaned:?}");

    runs.remove(&failed, Removal::Real).await.unwrap();
    assert!(runs.show(&failed).await.is_err());
    assert!(runs.recover(&waiting).await.unwrap_err().to_string().contains("it is that of a workflow"));
    workflow("true").run(options().resume(waiting.clone()).decide("release", approve)).await.unwrap();
    assert_eq!(runs.show(&waiting).await.unwrap().outcome, Some(Outcome::Done));
}

#[tokio::test]
async fn one_that_was_killed_or_goes_on_or_cannot_be_read_is_told_as_that() {
    let repository = ScratchRepo::new().await.unwrap();
    let run = workflow("true").run(WorkflowOptions::new(repository.path())).await.unwrap().run_id;
    let file = repository.path().join(".sandcastle/runs").join(run.as_str()).join("workflow.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let runs = Runs::of(repository.path()).await.unwrap();

    // As the process leaves it that is killed in its second step: its owner is another process.
    let killed = text.lines().take(4).collect::<Vec<_>>().join("\n");
    let owner = format!("\"pid\":{}", std::process::id());
    std::fs::write(&file, killed.replace(&owner, "\"pid\":4194303") + "\n{\"note\":\"st").unwrap();
    let report = runs.show(&run).await.unwrap();
    assert_eq!((report.state, report.damaged_lines), (RunState::Died, 1));
    let told = report.workflow.unwrap();
    assert_eq!((told.status.as_str(), told.steps[1].status.as_str()), ("interrupted", "interrupted"));
    assert!(told.can_be_resumed);

    std::fs::write(&file, &killed).unwrap();
    assert_eq!(runs.show(&run).await.unwrap().state, RunState::Running);
    assert!(runs.remove(&run, Removal::Real).await.is_err());

    std::fs::write(&file, "garbage\n").unwrap();
    assert_eq!(runs.show(&run).await.unwrap().state, RunState::Unreadable);
    assert_eq!(runs.clean(Removal::Real).await.unwrap().kept[0].what, "the record");
    runs.remove(&run, Removal::Real).await.unwrap();
    assert!(runs.list().await.unwrap().is_empty());
}
