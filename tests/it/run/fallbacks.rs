//! What is given when no valid output was obtained: a function's value, then the one that was put by.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandcastle::event::{FailureKind, StopReason};
use sandcastle::journal::{Outcome, Runs};
use sandcastle::testing::Turn;
use sandcastle::{
    AnswerGuarantee, AttemptOutcome, BranchStrategy, CancellationToken, ErrorKind, OutputSpec, RunEvent,
    RunOptions, Spent, Stage,
};
use serde_json::{Value, json};

use super::{Bench, N, Retried, say};

const GOOD: &str = r#"<result>{"n":5}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

/// Tells what was given in the place of an answer.
fn watched<O>(options: RunOptions<O>) -> (RunOptions<O>, Arc<Mutex<Vec<RunEvent>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let options = options.on_event(move |event| {
        if matches!(event, RunEvent::FallbackUsed { .. } | RunEvent::CannedUsed { .. }) {
            seen.lock().unwrap().push(event.clone());
        }
    });
    (options, told)
}

#[tokio::test]
async fn a_function_makes_a_value_of_what_there_is() {
    let bench = Bench::new().await;
    let options = bench.options([say(BAD)]).output::<N>().fallback(|error| {
        let raw = error.value.as_ref().ok_or("no value")?;
        assert_eq!((error.stage(), &raw["n"]), (Stage::SchemaValidate, &json!("x")));
        Ok(json!({ "n": 24 }))
    });
    let (options, told) = watched(options);
    let result = options.await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (N { n: 24 }, Some(AnswerGuarantee::Fallback)));
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::SchemaValidate, "no answer was accepted");
    let warning = "no valid `<result>` was obtained in 1 attempt: ";
    assert!(result.warnings[0].starts_with(warning), "{:?}", result.warnings);
    match told.lock().unwrap().as_slice() {
        [RunEvent::FallbackUsed { message, preview }] => {
            assert!(message.contains("/n"), "{message}");
            assert_eq!(preview, r#"{"n":"x"}"#);
        }
        events => panic!("{events:?}"),
    }
    assert!(bench.logged().contains("given in place of the answer"), "{}", bench.logged());
}

#[tokio::test]
async fn the_value_that_was_put_by_comes_after_all_retries_and_names_them() {
    let bench = Bench::new().await;
    let turns = [say(BAD), say("nothing"), Turn::new()];
    let options = bench
        .options(turns)
        .output::<Retried>()
        .fallback(|_| panic!("a mistake of the caller's"))
        .canned(json!({ "n": 0 }))
        .unwrap();
    let (options, told) = watched(options);
    let result = options.await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (Retried { n: 0 }, Some(AnswerGuarantee::Canned)));
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::SchemaValidate, AttemptOutcome::Missing, AttemptOutcome::Empty]);
    let warning = result.warnings.last().unwrap();
    assert!(warning.contains("in 3 attempts, 2 retries included"), "{warning}");
    assert!(warning.contains("the canned value is given") && warning.contains("it panicked"), "{warning}");
    assert!(
        matches!(told.lock().unwrap().as_slice(), [RunEvent::CannedUsed { failed, .. }] if failed.len() == 1)
    );
}

#[tokio::test]
async fn a_valid_answer_needs_neither() {
    let bench = Bench::new().await;
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let options = bench
        .options([say(BAD), say(GOOD)])
        .output::<Retried>()
        .fallback(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Err("not needed".to_owned())
        })
        .canned(json!({ "n": 0 }))
        .unwrap();
    let result = options.await.unwrap();
    assert_eq!((result.output.n, result.answer_guarantee), (5, Some(AnswerGuarantee::Tag)));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_value_that_is_not_valid_is_no_value() {
    let bench = Bench::new().await;
    let error = bench.options([say(BAD)]).output::<N>().canned(json!({ "n": "x" })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    assert!(error.to_string().contains("/n"), "{error}");
    let options = bench.options([say(BAD)]).output::<N>().fallback(|_| Ok(json!({ "m": 1 })));
    let error = options.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    assert_eq!(error.structured_output().unwrap().raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    let warnings = &error.work().unwrap().warnings;
    let said = "nothing was given in place of the answer: the fallback function: use its value";
    assert!(warnings.iter().any(|warning| warning.contains(said)), "{warnings:?}");
}

/// Whatever the agent had to say, it did not get to say it.
#[tokio::test]
async fn a_run_that_failed_was_cancelled_or_ran_out_gets_no_value() {
    let bench = Bench::new().await;
    let canned = |turn: Turn| bench.options([turn]).output::<N>().canned(json!({ "n": 0 })).unwrap();
    let failed = canned(say(BAD).fail(FailureKind::Authentication, "bad key")).await.unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::AgentFailed);
    let silent = canned(say(BAD).hang()).idle_timeout(Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(silent.kind(), ErrorKind::IdleTimeout);
    let spent = canned(say(BAD).used(10, 0, None).hang()).max_tokens(10).await.unwrap_err();
    assert_eq!(spent.kind(), ErrorKind::Budget);
    let token = CancellationToken::new();
    let cancelled = canned(say(BAD).hang()).cancel(token.clone());
    let run = tokio::spawn(cancelled.into_future());
    tokio::time::sleep(Duration::from_millis(200)).await;
    token.cancel();
    assert_eq!(run.await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
}

#[tokio::test]
async fn a_refusal_and_a_filter_are_not_asked_again_and_stand_in_for() {
    for (stop, outcome) in
        [(StopReason::Refused, AttemptOutcome::Refused), (StopReason::Filtered, AttemptOutcome::Filtered)]
    {
        let bench = Bench::new().await;
        let options = bench.options([say("I will not.").stop(stop), say(GOOD)]).output::<Retried>();
        let result = options.canned(json!({ "n": 0 })).unwrap().await.unwrap();
        assert_eq!((result.output.n, result.iterations.len()), (0, 1));
        assert_eq!(result.attempts[0].outcome, outcome);
    }
}

#[tokio::test]
async fn retries_that_cannot_be_paid_are_stood_in_for() {
    let bench = Bench::new().await;
    let options = bench.options([say(BAD).cost(2.0), say(GOOD)]).max_cost(1.0).output::<Retried>();
    let result = options.canned(json!({ "n": 0 })).unwrap().await.unwrap();
    assert_eq!((result.output.n, result.iterations.len()), (0, 1));
    assert!(result.warnings.iter().any(|warning| warning.contains("$2.0000 were used")), "{result:#?}");
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Canned));
}

#[tokio::test]
async fn nothing_lands_because_of_a_value_that_the_agent_did_not_give() {
    let bench = Bench::new().await;
    let work = || Turn::new().write_file("made.txt", "1").commit("Work").say(BAD);
    let run = |turn: Turn| {
        let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
        options.output::<N>().canned(json!({ "n": 0 })).unwrap().into_future()
    };
    let result = run(work()).await.unwrap();
    assert_eq!(result.output, N { n: 0 });
    assert_eq!(bench.subjects("main").await, ["begin"]);
    assert!(result.branch.starts_with("sandcastle/"), "{}", result.branch);
    assert_eq!(bench.subjects(&result.branch).await, ["Work", "begin"]);
    assert_eq!((result.commits.len(), result.preserved_worktree), (1, None));
    let told = "its commits were not merged";
    assert!(result.warnings.iter().any(|warning| warning.contains(told)), "{:?}", result.warnings);

    let result = run(work().write_file("half.txt", "1")).await.unwrap();
    let kept = result.preserved_worktree.expect("what is not committed is of value");
    assert!(kept.join("half.txt").exists());

    // The journal has what the agent itself has said.
    let runs = Runs::of(bench.repository.path()).await.unwrap();
    let report = runs.show(&result.run_id).await.unwrap();
    assert_eq!(report.outcome, Some(Outcome::Done));
    let answer = report.answer.expect("an answer");
    assert_eq!((answer.value, answer.block.as_deref()), (None, Some(r#"{"n":"x"}"#)));
    assert!(report.landing.is_none() && report.branches.len() == 1, "{:?}", report.branches);

    let left = bench.left_over().await;
    let result = run(say(BAD)).await.unwrap();
    assert_eq!((result.branch.as_str(), result.preserved_worktree), ("main", None));
    assert_eq!(bench.left_over().await, left, "nothing of value, nothing left");
}

#[tokio::test]
async fn a_contract_of_run_time_has_the_same_steps() {
    let bench = Bench::new().await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let spec = OutputSpec::json("result", schema).unwrap();
    let spec = spec.canned(json!({ "n": 1 })).unwrap().fallback(|_| Ok(json!({ "n": 2 })));
    let result = sandcastle::run_spec(bench.options([say("no")]), spec.clone()).await.unwrap();
    assert_eq!(
        (result.output, result.answer_guarantee),
        (json!({ "n": 2 }), Some(AnswerGuarantee::Fallback))
    );
    let text = OutputSpec::text("result").unwrap().canned("a </result> within").unwrap();
    let result = sandcastle::run_spec(bench.options([say("no")]), text).await.unwrap();
    assert_eq!(result.output, Value::from("a </result> within"));
}

#[tokio::test]
async fn what_stood_in_does_not_come_along_to_the_next_turn() {
    let bench = Bench::new().await;
    let options = bench.options([say(BAD), say(BAD)]).output::<N>().canned(json!({ "n": 0 })).unwrap();
    let first = options.await.unwrap();
    let again = first.resume("Answer as <result>JSON</result>.").output::<N>();
    assert_eq!(again.await.unwrap_err().kind(), ErrorKind::StructuredOutput);
}

#[tokio::test]
async fn a_preview_is_short_masked_and_one_line() {
    let bench = Bench::new().await;
    // The end of the preview is in the middle of the secret.
    let long = format!("<result>\"a\n\x1b[2J{}hunter2-hunter2\"</result>", "x".repeat(185));
    let options = bench.options([say(&long)]).env("TOKEN", "hunter2-hunter2").output::<N>();
    let (options, told) = watched(options.canned(json!({ "n": 0 })).unwrap());
    options.await.unwrap();
    let told = told.lock().unwrap();
    let [RunEvent::CannedUsed { preview, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert!(preview.chars().count() <= 201 && !preview.contains(['\n', '\x1b']), "{preview}");
    assert!(!preview.contains("hunter2"), "{preview}");
}

#[tokio::test]
async fn an_empty_answer_is_told_apart_and_asked_for_with_words_of_its_own() {
    let bench = Bench::new().await;
    let result =
        sandcastle::run_with::<Retried>(bench.options([Turn::new().think(GOOD), say(GOOD)])).await.unwrap();
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::Empty);
    let prompts = bench.prompts(result.session_id().unwrap());
    assert!(prompts[1].contains("ended without a word"), "{}", prompts[1]);
    let error = sandcastle::run_with::<N>(bench.options([Turn::new()])).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Empty);
    assert_eq!(serde_json::to_value(AttemptOutcome::AgentFailed).unwrap(), "agent-failed");
    assert_eq!(error.spent(), None::<&Spent>);
}
