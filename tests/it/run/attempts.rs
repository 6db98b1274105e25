//! Structured outputs: the first answer and the retries.

use std::time::Duration;

use sandcastle::event::{FailureKind, StopReason};
use sandcastle::testing::Turn;
use sandcastle::{AnswerGuarantee, AttemptOutcome, ErrorKind, OutputSpec, Problem, Stage};

use super::{Bench, N, Retried, say};

const GOOD: &str = r#"<result>{"n":5}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

#[tokio::test]
async fn case_086_one_call_gives_the_type() {
    let bench = Bench::new().await;
    let turn = Turn::new().write_file("x", "1").commit("Work").say("Here: ").say(GOOD).say(" bye");
    let result = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    assert_eq!(result.attempts.len(), 1);
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::Accepted);
    assert_eq!(result.attempts[0].commits, result.commits);
}

#[tokio::test]
async fn case_010_a_tag_split_over_messages() {
    let bench = Bench::new().await;
    let turn = Turn::new().say_pieces(["<res", "ult>{\"n\"", ":7}</", "result>"]);
    assert_eq!(sandcastle::run_with::<N>(bench.options([turn])).await.unwrap().output.n, 7);
}

#[tokio::test]
async fn case_015_only_the_main_agent_counts() {
    let bench = Bench::new().await;
    let turn = Turn::new().tool_output(GOOD).think(GOOD).sub_agent_says(GOOD).say("Finished.");
    let error = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Missing);
}

#[tokio::test]
async fn case_047_the_error_carries_everything() {
    let bench = Bench::new().await;
    let turn = Turn::new().write_file("x", "1").commit("Work").say(BAD).usage(3, 4);
    let error = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let output = error.structured_output().unwrap();
    assert_eq!(output.stage(), Stage::SchemaValidate);
    assert_eq!(output.tag, "result");
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(output.problems[0].path, "/n");
    assert_eq!(output.commits[0].subject, "Work");
    assert_eq!(output.branch.as_ref().unwrap(), &"main");
    assert_eq!(output.usage.output_tokens, 4);
    assert!(output.session_id.is_some());
    assert!(output.feedback().contains("/n"));
    assert_eq!(output.to_string().lines().count(), 1);
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(bench.logged().contains("/n"), "{}", bench.logged());
}

#[tokio::test]
async fn case_051_commits_survive_a_missing_answer() {
    let bench = Bench::new().await;
    let turn = Turn::new().write_file("x", "1").commit("Work").say("I forgot.");
    let error = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!(output.stage(), Stage::Missing);
    assert_eq!(output.commits.len(), 1);
    assert_eq!(error.work().unwrap().commits, output.commits);
}

#[tokio::test]
async fn a_retry_resumes_the_session_and_is_told_what_is_wrong() {
    let bench = Bench::new().await;
    let first = Turn::new().write_file("x", "1").commit("One").say(BAD).usage(10, 1);
    let second = Turn::new().write_file("y", "1").commit("Two").say(GOOD).usage(20, 2);
    let result = sandcastle::run_with::<Retried>(bench.options([first, second])).await.unwrap();
    assert_eq!(result.output.n, 5);
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::SchemaValidate, AttemptOutcome::Accepted]);
    let commits: Vec<_> = result.attempts.iter().map(|attempt| attempt.commits.len()).collect();
    assert_eq!((commits, result.commits.len()), (vec![1, 1], 2));
    assert_eq!(result.iterations.len(), 2);
    assert_eq!(result.iterations[0].session_id, result.iterations[1].session_id);
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (30, 3));
    let prompts = bench.prompts(result.session_id().unwrap());
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("/n") && prompts[1].contains("<result>"), "{}", prompts[1]);
}

#[tokio::test]
async fn case_055_exactly_as_many_attempts_as_allowed() {
    let bench = Bench::new().await;
    let error = sandcastle::run_with::<Retried>(bench.options([say(BAD), say(BAD), say(BAD), say(GOOD)]))
        .await
        .unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!(output.attempts.len(), 3);
}

#[tokio::test]
async fn case_048_the_last_answer_is_kept_raw_and_read() {
    let bench = Bench::new().await;
    let error =
        sandcastle::run_with::<Retried>(bench.options([say(BAD), say(BAD), say(BAD)])).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(output.value, Some(serde_json::json!({ "n": "x" })));

    let turns = [say(BAD), say("<result>{\"n\":true}</result>"), say("<result>{\"n\":</result>")];
    let error = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.raw_matched.as_deref()), (Stage::JsonParse, Some("{\"n\":")));
    assert_eq!(output.value, None, "the last answer had no value");
}

#[tokio::test]
async fn a_validator_of_the_users_own_is_asked() {
    let bench = Bench::new().await;
    let spec =
        OutputSpec::json("result", serde_json::json!({ "properties": { "n": { "type": "integer" } } }))
            .unwrap()
            .validator(|value| match value["n"].as_i64() {
                Some(5) => Ok(()),
                _ => Err(vec![Problem::new("/n", "must be five")]),
            })
            .max_retries(1)
            .unwrap();
    let turns = [say("<result>{\"n\":4}</result>"), say(GOOD)];
    let result = sandcastle::run_spec(bench.options(turns), spec).await.unwrap();
    assert_eq!(result.output, serde_json::json!({ "n": 5 }));
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::Rejected);
    assert!(bench.prompts(result.session_id().unwrap())[1].contains("must be five"));
}

#[tokio::test]
async fn case_049_every_attempt_has_a_record_with_its_kind() {
    let bench = Bench::new().await;
    let turns =
        [say("<result>{\"n\":}</result>"), Turn::new().exit(1), Turn::new().exit(1), Turn::new().exit(1)];
    let error = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap_err();
    let output = error.structured_output().unwrap();
    let outcomes: Vec<_> = output.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::JsonParse, AttemptOutcome::AgentFailed]);
    assert_eq!(output.stage(), Stage::JsonParse, "the answer that was refused is the error");
    assert!(error.to_string().contains("; then it failed to finish `scripted`"), "{error}");
    assert!(error.work().unwrap().warnings.iter().any(|warning| warning.contains("exit code 1")));
}

#[tokio::test]
async fn case_054_trouble_of_the_service_spends_no_retry_and_is_not_told_to_the_model() {
    let bench = Bench::new().await;
    let limited = || Turn::new().fail(FailureKind::Transport, "rate limited, slow down");
    let turns = [say(BAD), limited(), say(BAD), limited(), say(GOOD)];
    let result = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap();
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    use AttemptOutcome::{Accepted, SchemaValidate, Transport};
    assert_eq!(outcomes, [SchemaValidate, Transport, SchemaValidate, Transport, Accepted]);
    for prompt in bench.prompts(result.session_id().unwrap()) {
        assert!(!prompt.contains("rate limited"), "{prompt}");
    }
}

#[tokio::test]
async fn case_056_the_budget_belongs_to_one_run() {
    let bench = Bench::new().await;
    let turns: Vec<_> = (0..6).flat_map(|_| [say(BAD), say(GOOD)]).collect();
    let mut last = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap();
    for _ in 1..6 {
        last = last.resume("once more, as <result>").output::<Retried>().await.unwrap();
        assert_eq!(last.attempts.len(), 2);
    }
}

#[tokio::test]
async fn case_059_a_session_that_is_still_locked_is_tried_again() {
    let bench = Bench::new().await;
    let turns = [say(BAD).refuse_resume_for(Duration::from_millis(300)), say(GOOD)];
    let result = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap();
    assert_eq!(result.output.n, 5);
    assert_eq!(result.iterations.last().unwrap().session_id, result.iterations[0].session_id);
}

#[tokio::test]
async fn case_111_a_failed_turn_is_no_success_whatever_it_said() {
    let bench = Bench::new().await;
    let turn = Turn::new()
        .write_file("x", "1")
        .commit("Work")
        .say(GOOD)
        .fail(FailureKind::Authentication, "bad key");
    let error = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("bad key"), "{error}");
    let work = error.work().unwrap();
    assert_eq!((work.text.as_str(), work.commits.len()), (GOOD, 1));
}

#[tokio::test]
async fn policy_3_a_completed_turn_with_a_bad_exit_gives_the_value_and_a_warning() {
    let bench = Bench::new().await;
    let turn = say(GOOD).complete().exit(3);
    let result = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap();
    assert_eq!(result.output.n, 5);
    assert!(result.warnings[0].contains("exit code 3"), "{:?}", result.warnings);

    let error = sandcastle::run_with::<N>(bench.options([say(GOOD).exit(3)])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert_eq!(error.work().unwrap().text, GOOD);
}

#[tokio::test]
async fn death_by_signal_is_no_success() {
    let bench = Bench::new().await;
    for turn in [say(GOOD).kill_self(9), say(GOOD).complete().kill_self(9)] {
        let error = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AgentFailed);
        assert!(error.to_string().contains("signal 9"), "{error}");
        assert_eq!(error.work().unwrap().text, GOOD);
    }
}

#[tokio::test]
async fn a_truncated_answer_is_told_apart_and_asked_for_again() {
    let bench = Bench::new().await;
    let cut = say(r#"<result>{"n":"#).stop(StopReason::OutputLimit);
    let result = sandcastle::run_with::<Retried>(bench.options([cut.clone(), say(GOOD)])).await.unwrap();
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::Truncated);
    let error = sandcastle::run_with::<N>(bench.options([cut])).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Truncated);
}

/// A stop that cuts an answer off fails it by name, even where what is there can be read.
#[tokio::test]
async fn an_answer_that_stopped_early_is_not_taken_for_a_whole_one() {
    let bench = Bench::new().await;
    for (stop, stage, said) in [
        (StopReason::OutputLimit, Stage::Truncated, "cut off by the output limit of the model"),
        (StopReason::ContextLimit, Stage::Truncated, "the conversation fills all that the model can see"),
        (StopReason::Refused, Stage::Refused, "the model refused to answer"),
        (StopReason::Filtered, Stage::Filtered, "the model's service held the answer back"),
    ] {
        let options = bench.options([say(GOOD).stop(stop)]);
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        let output = error.structured_output().unwrap();
        assert_eq!((output.stage(), output.raw_matched.as_deref()), (stage, Some(r#"{"n":5}"#)));
        assert!(output.to_string().contains(said), "{output}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_asked_again() {
    let bench = Bench::new().await;
    let turns = [say("I will not.").stop(StopReason::Refused), say(GOOD)];
    let error = sandcastle::run_with::<Retried>(bench.options(turns)).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.attempts.len()), (Stage::Refused, 1));
}

#[tokio::test]
async fn signal_and_output_know_nothing_of_each_other() {
    let bench = Bench::new().await;
    let both = say(GOOD).say(" <promise>COMPLETE</promise>");
    let result = sandcastle::run_with::<N>(bench.options([both])).await.unwrap();
    assert_eq!((result.output.n, result.completion_signal.is_some()), (5, true));
    let result = sandcastle::run_with::<N>(bench.options([say(GOOD)])).await.unwrap();
    assert_eq!((result.output.n, result.completion_signal), (5, None));
    let only_the_signal = say("<promise>COMPLETE</promise>");
    let error = sandcastle::run_with::<N>(bench.options([only_the_signal])).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Missing);
}

#[tokio::test]
async fn the_prompt_arrives_as_it_is() {
    let bench = Bench::new().await;
    let prompt = "  Answer in <result>, {{BRANCH}} and !`id` are just text. 日本\n\n";
    let options = sandcastle::RunOptions::new(bench.agent([say(GOOD)]), sandcastle::NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(sandcastle::Logging::off())
        .prompt(prompt);
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(bench.prompts(result.session_id().unwrap()), [prompt]);
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema, sandcastle::AgentOutput)]
#[output(tag = "result", max_retries = 1, validate = "shaky")]
struct Shaky {
    n: i64,
}

fn shaky(value: &Shaky) -> Result<(), Vec<Problem>> {
    assert!(value.n > 0, "a mistake of the caller's");
    Ok(())
}

/// It is an answer that was rejected, and a run that goes on.
#[tokio::test]
async fn a_validation_that_panics_ends_no_run() {
    let bench = Bench::new().await;
    let turn = Turn::new().write_file("x", "1").commit("Work").say(r#"<result>{"n":-1}</result>"#);
    let result = sandcastle::run_with::<Shaky>(bench.options([turn, say(GOOD)])).await.unwrap();
    assert_eq!((result.output, result.commits.len()), (Shaky { n: 5 }, 1));
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Rejected, AttemptOutcome::Accepted]);

    let bench = Bench::new().await;
    let turns = std::iter::repeat_with(|| say(r#"<result>{"n":-1}</result>"#)).take(2);
    let error = sandcastle::run_with::<Shaky>(bench.options(turns)).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.attempts.len()), (Stage::Rejected, 2));
    assert!(output.problems[0].message.contains("panicked"), "{:?}", output.problems);
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":-1}"#));
    // A run whose validator of its own panics is no other.
    let spec = OutputSpec::of::<N>().validator(|_| panic!("a mistake of the caller's"));
    let error = sandcastle::run_spec(bench.options([say(GOOD)]), spec).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Rejected);
}
