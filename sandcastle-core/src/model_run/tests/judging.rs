//! One verdict per answer, in one order.

use super::*;
use crate::output::lower::Dialect;
use crate::{AttemptOutcome, Stage};

#[tokio::test]
async fn the_stages_are_told_apart() {
    let stages = [
        ("nothing", Stage::Missing),
        (r#"<result>{"n":1}"#, Stage::Unclosed),
        ("<result>{n:1}</result>", Stage::JsonParse),
        (BAD, Stage::SchemaValidate),
        ("", Stage::Empty),
    ];
    for (answer, stage) in stages {
        let error = asking(&answering([answer])).run_typed().await.unwrap_err();
        assert_eq!(error.structured_output().unwrap().stage(), stage, "{answer}");
    }
}

#[tokio::test]
async fn fenced_and_padded_json_costs_no_turn() {
    let answers = ["\n{\"n\":1}\n", "```json\n{\"n\":1}\n```", "~~~\n{\"n\":1}\n~~~\n"];
    for answer in answers {
        let model = ScriptedModel::new().native(Dialect::OpenAi).answer(answer);
        assert_eq!(asking(&model).await.unwrap().attempts.len(), 1, "{answer}");
    }
}

#[tokio::test]
async fn prose_around_a_native_answer_is_corrected_in_words_for_it() {
    let model = ScriptedModel::new().native(Dialect::OpenAi).answer("Here: {\"n\":1}").answer("{\"n\":1}");
    let result = asking(&model).max_retries(1).await.unwrap();
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::JsonParse);
    let requests = model.requests();
    let (frame, _) = last_said(&requests[1]).split_once("]\n\n").unwrap();
    assert!(
        frame.contains("nothing else: no tag and no code fence") && !frame.contains("<result>"),
        "{frame}"
    );
}

#[tokio::test]
async fn a_value_that_is_wrapped_or_encoded_twice_is_not_unwrapped_but_said() {
    for (answer, path, says) in [
        (r#"{"result":{"n":1}}"#, "/result", "without an object around it"),
        (r#"{"output":"{\"n\":1}"}"#, "/output", "encoded twice"),
        (r#""{\"n\":1}""#, "", "encoded twice"),
    ] {
        let native = ScriptedModel::new().native(Dialect::OpenAi).answer(answer);
        let error = asking(&native).run_typed().await.unwrap_err();
        let output = error.structured_output().unwrap();
        assert_eq!((output.stage(), output.raw_matched.as_deref()), (Stage::SchemaValidate, Some(answer)));
        assert_eq!(output.problems[0].path, path, "{answer}");
        assert!(output.problems[0].message.contains(says), "{:?}", output.problems);
    }
}

#[tokio::test]
async fn every_problem_is_recorded() {
    let model = answering([r#"<result>{"n":"x","a":1,"b":2}</result>"#]);
    let result = asking(&model).run().await.unwrap();
    assert_eq!(result.attempts[0].problems.len(), 3, "{:?}", result.attempts[0].problems);
}

#[tokio::test]
async fn keys_that_are_given_twice_and_data_that_trail_are_not_json() {
    for answer in [r#"{"n":1,"n":2}"#, r#"{"n":1} {"n":2}"#, r#"{"n":NaN}"#] {
        let model = ScriptedModel::new().native(Dialect::OpenAi).answer(answer);
        let error = asking(&model).run_typed().await.unwrap_err();
        assert_eq!(error.structured_output().unwrap().stage(), Stage::JsonParse, "{answer}");
    }
}

#[tokio::test]
async fn without_an_output_how_an_answer_ended_is_told() {
    use crate::model::ModelStop;
    let model = ScriptedModel::new().answer_ending("I will not.", ModelStop::Refused);
    let result = ModelRun::new(model).prompt("Do it.").await.unwrap();
    assert_eq!((result.stop, result.text.as_str()), (ModelStop::Refused, "I will not."));
    assert_eq!(result.warnings, ["the model refused to answer"]);
}
