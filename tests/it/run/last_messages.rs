//! The last message of Codex, which is the answer of a run in native mode, whatever it is.

use sandcastle::{AnswerGuarantee, AttemptOutcome, OutputStrategy, Stage};
use serde_json::json;

use super::versions::{GOOD, Stand, TAGGED, UNTAGGED, codex_turn, stage_of};
use super::{N, Retried};

use OutputStrategy::{Auto, Native};

#[tokio::test]
async fn the_last_message_of_codex_is_the_document_and_nothing_is_checked_by_it() {
    for text in ["not json at all", "Here:\n```json\n{\"n\":5}\n```", "{\"n\":5} and more"] {
        let stand = Stand::codex("0.171.0", text, "").await;
        assert_eq!(
            stage_of(sandcastle::run_with::<N>(stand.by_codex(Native, UNTAGGED)).await),
            Stage::JsonParse
        );
    }
    for text in [r#"{"n":"three"}"#, r#""{\"n\":5}""#, r#"{"result":{"n":5}}"#] {
        let stand = Stand::codex("0.171.0", text, "").await;
        let run = sandcastle::run_with::<N>(stand.by_codex(Native, UNTAGGED)).await;
        assert_eq!(stage_of(run), Stage::SchemaValidate, "{text}");
    }
    // White space and one fence around a value are nothing, as everywhere.
    for text in ["```json\n{\"n\":5}\n```", " {\"n\":5}\n"] {
        let stand = Stand::codex("0.171.0", text, "").await;
        let result = sandcastle::run_with::<N>(stand.by_codex(Native, UNTAGGED)).await.unwrap();
        assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Native)));
    }
    // With the strategy `native` a tag is only text, and with `auto` it may bring what is missing.
    let stand = Stand::codex("0.171.0", GOOD, "").await;
    assert_eq!(stage_of(sandcastle::run_with::<N>(stand.by_codex(Native, TAGGED)).await), Stage::JsonParse);
    let result = sandcastle::run_with::<N>(stand.by_codex(Auto, TAGGED)).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
}

/// Whatever was said before it: only the last message is the answer.
#[tokio::test]
async fn a_last_message_without_a_word_is_an_empty_answer() {
    let version = "echo codex-cli 0.171.0";
    for messages in [&[""][..], &[" \n\t"], &["I look into it.", " "], &[r#"{"n":5}"#, ""], &[]] {
        let stand = Stand::new(version, &codex_turn(messages), &codex_turn(messages)).await;
        for strategy in [Native, Auto] {
            let error = sandcastle::run_with::<N>(stand.by_codex(strategy, TAGGED)).await.unwrap_err();
            let attempts = &error.work().unwrap().attempts;
            assert_eq!((attempts.len(), attempts[0].outcome), (1, AttemptOutcome::Empty), "{messages:?}");
            assert_eq!(error.structured_output().unwrap().strategy.as_ref().unwrap().strategy, Native);
            assert_eq!(stage_of::<N>(Err(error)), Stage::Empty, "{messages:?}");
        }
    }
}

#[tokio::test]
async fn a_blank_last_message_is_corrected_and_with_auto_a_block_before_it_counts() {
    let version = "echo codex-cli 0.171.0";
    let stand = Stand::new(version, &codex_turn(&["\n"]), &codex_turn(&[r#"{"n":5}"#])).await;
    let result = sandcastle::run_with::<Retried>(stand.by_codex(Native, UNTAGGED)).await.unwrap();
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Empty, AttemptOutcome::Accepted]);
    assert_eq!((result.output.n, result.answer_guarantee), (5, Some(AnswerGuarantee::Native)));
    assert_eq!(stand.schemas(), [true, true]);

    let stand = Stand::new(version, &codex_turn(&[GOOD, " "]), "").await;
    let result = sandcastle::run_with::<N>(stand.by_codex(Auto, TAGGED)).await.unwrap();
    assert_eq!((result.output.n, result.answer_guarantee), (5, Some(AnswerGuarantee::Tag)));
    let error = sandcastle::run_with::<N>(stand.by_codex(Native, TAGGED)).await.unwrap_err();
    assert_eq!(stage_of::<N>(Err(error)), Stage::Empty);
}

/// What there is of it is in the error, as it was written.
#[tokio::test]
async fn a_document_that_was_cut_off_or_held_back_is_shown_with_the_error() {
    let ends = [
        ("max_output_tokens", Stage::Truncated, AttemptOutcome::Truncated),
        ("content_filter", Stage::Filtered, AttemptOutcome::Filtered),
    ];
    for (reason, stage, outcome) in ends {
        let message = format!("Incomplete response returned, reason: {reason}");
        let failed = json!({ "type": "turn.failed", "error": { "message": message } });
        let turn = codex_turn(&["I look into it.", r#"{"n":5"#]);
        let begun = turn.lines().filter(|line| !line.contains("turn.completed"));
        let lines: Vec<_> = begun.map(str::to_owned).chain([failed.to_string()]).collect();
        let stand = Stand::new("echo codex-cli 0.171.0", &(lines.join("\n") + "\n"), "").await;
        for strategy in [Native, Auto] {
            let error = sandcastle::run_with::<N>(stand.by_codex(strategy, TAGGED)).await.unwrap_err();
            let output = error.structured_output().unwrap();
            assert_eq!((output.stage(), output.attempts[0].outcome), (stage, outcome));
            assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":5"#));
        }
    }
}
