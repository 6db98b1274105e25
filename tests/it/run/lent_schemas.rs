//! Typed runs in a sandbox that is lent, and in two side by side: nothing of one is seen in another.

use sandcastle::agent::SchemaDelivery;
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{
    AgentOutput, BranchStrategy, ErrorKind, Logging, NoSandbox, OutputSpec, OutputStrategy, RunOptions,
    Sandbox, SandboxOptions, Stage,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;

use super::native::{UNTAGGED, gives, stage_of};
use super::{Bench, N};

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", max_retries = 1)]
struct Word {
    word: String,
}

/// A sandbox whose temporary folder is known.
async fn lent(bench: &Bench, temporary: &TempDir, branches: BranchStrategy) -> Sandbox {
    let options = SandboxOptions::new(NoSandbox::new())
        .cwd(bench.repository.path())
        .branch_strategy(branches)
        .env("TMPDIR", temporary.path());
    sandcastle::create_sandbox(options).await.unwrap()
}

fn asked(sandbox: &Sandbox, state: &TempDir, turns: impl IntoIterator<Item = Turn>) -> RunOptions {
    let script = turns.into_iter().fold(Script::new().native(SchemaDelivery::File), Script::turn);
    sandbox
        .options(Scripted::new(script).state_dir(state.path()))
        .prompt(UNTAGGED)
        .output_strategy(OutputStrategy::Native)
        .logging(Logging::off())
}

/// What the agent of a run read, turn by turn, is the schema of this type.
#[track_caller]
fn read_its_own<T: AgentOutput>(state: &TempDir, work: &[sandcastle::Iteration]) {
    use sandcastle::output::lower::{Dialect, lower};
    let wire = lower(OutputSpec::of::<T>().schema(), Dialect::Codex).wire.to_string();
    let session = work[0].session_id.as_ref().unwrap();
    let read = Scripted::schemas(state.path(), session).unwrap();
    assert_eq!(read, vec![Some(wire); work.len()]);
}

fn is_empty(folder: &TempDir) -> bool {
    std::fs::read_dir(folder.path()).unwrap().next().is_none()
}

#[tokio::test]
async fn typed_runs_one_after_the_other_have_schemas_answers_and_budgets_of_their_own() {
    let (bench, temporary) = (Bench::new().await, TempDir::new().unwrap());
    let sandbox = lent(&bench, &temporary, BranchStrategy::head()).await;

    let (first, second, third) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let turns = [gives(json!({ "n": 5 })).usage(90, 9)];
    let numbered = sandbox.run_with::<N>(asked(&sandbox, &first, turns).max_tokens(100)).await.unwrap();
    assert_eq!((numbered.output, numbered.usage.total_tokens()), (N { n: 5 }, 99));
    read_its_own::<N>(&first, &numbered.iterations);

    // The good value of the run before is none here, and what that has used is not this one's.
    let turns = [gives(json!({ "n": 5 })).usage(40, 4), gives(json!({ "word": "five" })).usage(40, 4)];
    let worded = sandbox.run_with::<Word>(asked(&sandbox, &second, turns).max_tokens(100)).await.unwrap();
    assert_eq!((worded.output.word.as_str(), worded.usage.total_tokens()), ("five", 88));
    read_its_own::<Word>(&second, &worded.iterations);

    let turns = [gives(json!({ "word": 5 })).usage(90, 20), gives(json!({ "word": "never" }))];
    let error = sandbox.run_with::<Word>(asked(&sandbox, &third, turns).max_tokens(100)).await.unwrap_err();
    assert_eq!(stage_of(&error), Stage::SchemaValidate, "{error:#}");
    assert!(error.spent().is_some() && error.work().unwrap().attempts.len() == 1, "{error:#}");
    read_its_own::<Word>(&third, &error.work().unwrap().iterations);

    assert!(is_empty(&temporary));
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn a_second_typed_run_at_the_same_time_is_refused_and_disturbs_nothing() {
    let (bench, temporary) = (Bench::new().await, TempDir::new().unwrap());
    let sandbox = lent(&bench, &temporary, BranchStrategy::head()).await;
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let turn = Turn::new()
        .shell("until test -e go; do sleep 0.01; done; test \"$(ls \"$TMPDIR\" | wc -l)\" = 1")
        .structured(json!({ "n": 5 }));
    let slow = tokio::spawn(sandbox.run_with::<N>(asked(&sandbox, &first, [turn])));
    while is_empty(&first) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let turns = [gives(json!({ "word": "five" }))];
    let error = sandbox.run_with::<Word>(asked(&sandbox, &second, turns)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BranchBusy, "{error:#}");
    assert!(is_empty(&second));
    bench.repository.write("go", "").unwrap();
    let numbered = slow.await.unwrap().unwrap();
    assert_eq!(numbered.output, N { n: 5 });
    read_its_own::<N>(&first, &numbered.iterations);
    assert!(is_empty(&temporary));
}

/// They share a repository and a temporary folder.
#[tokio::test]
async fn typed_runs_side_by_side_do_not_mix() {
    let (bench, temporary) = (Bench::new().await, TempDir::new().unwrap());
    let one = lent(&bench, &temporary, BranchStrategy::branch("agent/one")).await;
    let two = lent(&bench, &temporary, BranchStrategy::branch("agent/two")).await;
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    // Each waits until one of them has seen both schemas: the other's may be gone when it looks again.
    let met = TempDir::new().unwrap();
    let met = met.path().join("met");
    let both = || {
        let met = met.display();
        Turn::new().shell(format!(
            "until test -e {met}; do test \"$(ls \"$TMPDIR\" | wc -l)\" = 2 && touch {met}; sleep 0.01; done"
        ))
    };
    let wrong = both().structured(json!({ "n": 5 })).usage(40, 4);
    let right = gives(json!({ "word": "five" })).usage(40, 4);
    let costly = both().structured(json!({ "n": "x" })).usage(90, 20);
    let (numbered, worded) = tokio::join!(
        one.run_with::<N>(asked(&one, &first, [costly]).max_tokens(100)),
        two.run_with::<Word>(asked(&two, &second, [wrong, right]).max_tokens(100)),
    );
    let error = numbered.unwrap_err();
    assert_eq!(stage_of(&error), Stage::SchemaValidate, "{error:#}");
    read_its_own::<N>(&first, &error.work().unwrap().iterations);
    let worded = worded.unwrap();
    assert_eq!((worded.output.word.as_str(), worded.usage.total_tokens()), ("five", 88));
    read_its_own::<Word>(&second, &worded.iterations);
    assert!(is_empty(&temporary));
}
