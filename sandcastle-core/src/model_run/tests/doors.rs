//! The doors of a run: typed, untyped, and without a model.

use schemars::JsonSchema;
use serde::Deserialize;

use super::*;
use crate::output::lower::Dialect;
use crate::output::{AgentOutput, ExtractError, OutputFormat};
use crate::strategy::{AnswerGuarantee, OutputStrategy};
use crate::{ErrorKind, Stage};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Count {
    n: u32,
}

impl AgentOutput for Count {
    const TAG: &'static str = "result";
    const FORMAT: OutputFormat = OutputFormat::Json;
    const MAX_RETRIES: u32 = 1;

    fn schema() -> schemars::Schema {
        crate::__private::schema_for::<Self>()
    }

    fn extract(text: &str) -> Result<Self, ExtractError> {
        crate::__private::extract_json(text)
    }

    fn prompt_snippet() -> String {
        crate::__private::snippet::<Self>()
    }
}

#[tokio::test]
async fn an_output_is_a_value_of_its_type_and_brings_its_own_retries() {
    let model = answering([BAD, GOOD]);
    let result = ModelRun::new(model).prompt("Count.").output::<Count>().run_typed().await.unwrap();
    assert_eq!((result.output, result.attempts.len()), (Count { n: 1 }, 2));
}

#[tokio::test]
async fn without_an_output_nothing_is_judged_or_added() {
    let model = answering(["Hello."]);
    let result = ModelRun::new(model.clone()).prompt("Hi.").await.unwrap();
    assert_eq!((result.text.as_str(), result.attempts.len()), ("Hello.", 0));
    assert_eq!((result.answer_guarantee, result.strategy), (None, None));
    let request = &model.requests()[0];
    assert_eq!((&request.system, &request.schema, request.tools.len()), (&None, &None, 0));
}

#[tokio::test]
async fn untyped_an_unmet_contract_is_in_the_result() {
    let model = answering([BAD, "No."]);
    let result = asking(&model).max_retries(1).run().await.unwrap();
    assert_eq!((result.output, result.text.as_str(), result.answer_guarantee), (None, "No.", None));
    let unmet = result.unmet.unwrap();
    assert_eq!(unmet.kind(), ErrorKind::StructuredOutput);
    assert_eq!(unmet.structured_output().unwrap().stage(), Stage::Missing);
    assert_eq!(result.attempts.len(), 2);
    let met = asking(&answering([GOOD])).run().await.unwrap();
    assert_eq!((met.output, met.unmet.is_none()), (Some(json!({ "n": 1 })), true));
}

#[tokio::test]
async fn every_door_gives_the_same_for_a_model() {
    let raws = [GOOD, BAD, "", "no", r#"<result>{"n":1,}</result>"#, r#"{"n":1}"#, "<result>"];
    for strategy in [OutputStrategy::Tag, OutputStrategy::Native] {
        for raw in raws.into_iter().filter(|raw| !raw.is_empty()) {
            let model = ScriptedModel::new().native(Dialect::LlamaCpp).answer(raw);
            let run = asking(&model).strategy(strategy);
            let parsed = run.parse_output(raw);
            let typed = run.clone().run_typed().await;
            assert!(model.requests().len() == 1, "reading sends nothing");
            match (parsed, typed) {
                (Ok(parsed), Ok(typed)) => assert_eq!(parsed, typed.output),
                (Err(parsed), Err(typed)) => {
                    let typed = typed.structured_output().unwrap();
                    assert_eq!((parsed.stage(), &parsed.raw_matched), (typed.stage(), &typed.raw_matched));
                    assert_eq!(parsed.problems, typed.problems);
                }
                other => panic!("{strategy}, {raw}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn reading_takes_no_fallback() {
    let run = asking(&ScriptedModel::new()).canned(json!({ "n": 0 })).unwrap();
    assert!(run.fallback(|_| Ok(json!({ "n": 0 }))).parse_output("nothing").is_err());
}

#[tokio::test]
async fn the_fallbacks_are_taken_in_order_once_no_retry_is_left() {
    let model = answering([BAD, BAD]);
    let (run, told) = listening(
        asking(&model)
            .max_retries(1)
            .canned(json!({ "n": 0 }))
            .unwrap()
            .fallback(|error| Ok(json!({ "n": error.problems.len() }))),
    );
    let result = run.await.unwrap();
    assert_eq!((result.output, model.requests().len()), (json!({ "n": 1 }), 2));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Fallback));
    assert_eq!(result.text, BAD);
    assert!(told.lock().unwrap().iter().any(|event| matches!(event, ModelRunEvent::FallbackUsed { .. })));
    assert!(result.warnings.iter().any(|warning| warning.contains("a value was taken in its place")));
}

#[tokio::test]
async fn untyped_the_fallbacks_are_taken_too() {
    let run = asking(&answering([BAD])).canned(json!({ "n": 0 })).unwrap();
    let (run, told) = listening(run.fallback(|_| panic!("at the disco")));
    let result = run.run().await.unwrap();
    assert_eq!((result.output, result.unmet.is_none()), (Some(json!({ "n": 0 })), true));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Canned));
    assert!(result.warnings[0].contains("it panicked"), "{:?}", result.warnings);
    assert!(told.lock().unwrap().iter().any(|event| matches!(event, ModelRunEvent::CannedUsed { .. })));
}

#[tokio::test]
async fn a_value_to_put_by_is_checked_when_it_is() {
    let error = asking(&ScriptedModel::new()).canned(json!({ "n": "x" })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_does_not_answer_is_no_reason_for_a_fallback() {
    let model = ScriptedModel::new().fail(transport());
    let run = asking(&model).transport_retries(0).canned(json!({ "n": 0 })).unwrap();
    assert_eq!(run.await.unwrap_err().kind(), ErrorKind::ModelFailed);
}

#[tokio::test]
async fn a_conversation_goes_on_where_it_ended() {
    let first = asking(&answering([GOOD])).await.unwrap();
    let model = answering(["Two."]);
    let run = ModelRun::new(model.clone()).messages(first.messages.clone()).prompt("And then?");
    assert_eq!(run.await.unwrap().messages.len(), 4);
    assert_eq!(model.requests()[0].messages[..2], first.messages);
}

#[tokio::test]
async fn something_has_to_be_asked() {
    let model = answering([GOOD]);
    let said = Message::Assistant { text: "Yes?".to_owned(), calls: Vec::new(), replay: None };
    let run = ModelRun::new(model.clone());
    for run in [run.clone(), run.clone().prompt(" "), run.messages([Message::user("Hi."), said])] {
        assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Prompt);
    }
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn what_is_said_of_an_output_needs_one() {
    let model = answering([GOOD]);
    let run = ModelRun::new(model.clone()).prompt("Count.");
    let said = [
        run.clone().strategy(OutputStrategy::Native),
        run.clone().max_retries(1),
        run.clone().instruction("<result>"),
    ];
    for run in said {
        let error = run.await.unwrap_err();
        assert!(error.to_string().ends_with("without an output"), "{error}");
    }
    assert!(model.requests().is_empty());
    assert!(run.max_retries(1).strategy(OutputStrategy::Tag).output::<Count>().await.is_ok());
}

#[test]
fn runs_can_cross_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let run = ModelRun::new(ScriptedModel::new()).output::<Count>();
    assert_send(&run.clone().run_typed());
    assert_send(&run.clone().run());
    assert_send(&run);
}
