//! How the schema reaches the model, and what is an answer then.

use super::*;
use crate::model::{ModelAnswer, ToolCall, ToolChoice, ToolSpec};
use crate::output::lower::{Dialect, lower};
use crate::strategy::{AnswerGuarantee, OutputStrategy};
use crate::{ErrorKind, Stage};

fn native() -> ScriptedModel {
    ScriptedModel::new().native(Dialect::OpenAi)
}

fn forced() -> ScriptedModel {
    ScriptedModel::new().forced_tool(Dialect::OpenAi)
}

#[tokio::test]
async fn words_are_what_is_left_when_nothing_is_declared() {
    let model = answering([GOOD]);
    let (run, told) = listening(asking(&model).system("You count."));
    let result = run.await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(request.system, Some(format!("You count.\n\n{}", spec().prompt_snippet())));
    assert_eq!((&request.schema, request.tools.len()), (&None, 0));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    let choice = result.strategy.unwrap();
    assert_eq!(choice.strategy, OutputStrategy::Tag);
    assert!(
        told.lock().unwrap().iter().any(
            |event| matches!(event, ModelRunEvent::StrategyChosen { choice: told, .. } if *told == choice)
        )
    );
}

#[tokio::test]
async fn auto_takes_the_strongest_way_that_is_declared() {
    let model = native().forced_tool(Dialect::OpenAi).answer(r#"{"n":1}"#);
    let result = asking(&model).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
    let request = &model.requests()[0];
    let wire = request.schema.as_ref().unwrap();
    assert_eq!((wire.name.as_str(), &wire.schema), ("result", &lower(&schema(), Dialect::OpenAi).wire));
    assert_eq!((&request.system, request.tools.len()), (&None, 0));
}

#[tokio::test]
async fn the_shape_is_said_in_words_too_where_the_service_does_not_show_it() {
    for dialect in [Dialect::Ollama, Dialect::LlamaCpp] {
        let model = ScriptedModel::new().native(dialect).answer(r#"{"n":1}"#);
        asking(&model).await.unwrap();
        let system = model.requests()[0].system.clone().unwrap();
        assert!(system.contains("n: integer") && !system.contains("result>"), "{system}");
    }
}

#[tokio::test]
async fn an_explicit_strategy_that_is_not_there_is_refused_by_name_without_a_request() {
    for strategy in [OutputStrategy::Native, OutputStrategy::ForcedTool] {
        let model = answering([GOOD]).named("acme", "m-1");
        let error = asking(&model).strategy(strategy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        assert!(error.to_string().contains("the model `m-1` of `acme`"), "{error}");
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn the_answer_stands_where_it_was_asked_for_and_nowhere_else() {
    let cases = [
        (native().answer(GOOD), OutputStrategy::Native, Stage::JsonParse),
        (native().answer(r#"{"n":1}"#), OutputStrategy::Tag, Stage::Missing),
        (forced().answer(GOOD), OutputStrategy::ForcedTool, Stage::Missing),
        (forced().answer(r#"{"n":1}"#), OutputStrategy::ForcedTool, Stage::Missing),
        (forced().answer(""), OutputStrategy::ForcedTool, Stage::Empty),
    ];
    for (model, strategy, stage) in cases {
        let error = asking(&model).strategy(strategy).run_typed().await.unwrap_err();
        let output = error.structured_output().unwrap();
        assert_eq!(output.stage(), stage, "{strategy}: {error}");
        let asks_for_a_block = output.feedback().contains("from `<result>` to `</result>`");
        assert_eq!(asks_for_a_block, strategy == OutputStrategy::Tag, "{}", output.feedback());
    }
}

#[tokio::test]
async fn case_093_the_forced_tool_is_named_and_its_arguments_are_the_answer() {
    let model = forced().call("respond_with_result", json!({ "n": 1 }));
    let (run, told) = listening(asking(&model));
    let result = run.await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(request.tool_choice, ToolChoice::Named("respond_with_result".to_owned()));
    assert_eq!(request.tools[0].input_schema, lower(&schema(), Dialect::OpenAi).wire);
    assert_eq!((result.output, result.text.as_str()), (json!({ "n": 1 }), r#"{"n":1}"#));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::ForcedTool));
    assert_eq!(
        result.messages[1],
        Message::Assistant { text: r#"{"n":1}"#.to_owned(), calls: Vec::new(), replay: None }
    );
    let told = told.lock().unwrap();
    assert!(told.contains(&ModelRunEvent::AnswerBegun));
    assert!(!told.iter().any(|event| matches!(event, ModelRunEvent::ToolCalled { .. })));
}

#[tokio::test]
async fn the_arguments_are_kept_as_they_were_written_and_the_first_call_counts() {
    let name = "respond_with_result";
    let calls = vec![ToolCall::new("a", name, "{ \"n\" : 1 }"), ToolCall::new("b", name, r#"{"n":2}"#)];
    let model = forced().reply(ModelAnswer { calls, ..ModelAnswer::default() });
    let result = asking(&model).await.unwrap();
    assert_eq!((result.output, result.text.as_str()), (json!({ "n": 1 }), "{ \"n\" : 1 }"));
}

#[tokio::test]
async fn a_call_of_a_tool_that_nobody_offered_is_no_answer() {
    let model = forced().call("respond_with_something", json!({ "n": 1 })).call("look", json!({}));
    let error = asking(&model).max_retries(1).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::Missing, "{error:#}");
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn the_correction_of_a_forced_tool_is_its_result() {
    let model = forced()
        .call("respond_with_result", json!({ "n": "x" }))
        .answer("I would rather talk.")
        .call("respond_with_result", json!({ "n": 1 }));
    let result = asking(&model).max_retries(2).await.unwrap();
    let requests = model.requests();
    let [_, Message::Assistant { calls, .. }, Message::ToolResult { call, content, is_error: true, .. }] =
        requests[1].messages.as_slice()
    else {
        panic!("{:?}", requests[1].messages)
    };
    assert_eq!((calls.len(), &calls[0].id), (1, call));
    assert!(content.starts_with("[output check: attempt 1 of 3") && content.contains("Call the tool"));
    let said = last_said(&requests[2]);
    assert!(said.ends_with("- the tool `respond_with_result` was not called"), "{said}");
    assert_eq!((result.attempts.len(), result.messages.len()), (3, 2));
}

#[tokio::test]
async fn arguments_that_no_service_would_take_back_are_shown_as_text() {
    let calls = vec![ToolCall::new("a", "respond_with_result", "{\"n\":")];
    let model = forced()
        .reply(ModelAnswer { calls, ..ModelAnswer::default() })
        .call("respond_with_result", json!({ "n": 1 }));
    let result = asking(&model).max_retries(1).await.unwrap();
    assert_eq!(result.attempts[0].outcome, crate::AttemptOutcome::JsonParse);
    let said = &model.requests()[1].messages[1];
    assert!(matches!(said, Message::Assistant { text, calls, .. } if text == "{\"n\":" && calls.is_empty()));
}

#[tokio::test]
async fn the_answer_tool_clashes_with_none_of_the_users() {
    let model = forced().call("respond_with_result_2", json!({ "n": 1 }));
    let schema = json!({ "type": "object" });
    let run = asking(&model)
        .tool(ToolSpec::new("respond_with_result", "Somebody else's.", schema), async |_| {
            Err("not this one".to_owned())
        });
    assert_eq!(run.await.unwrap().output["n"], 1);
    let request = &model.requests()[0];
    assert_eq!((request.tools.len(), &request.tool_choice), (2, &ToolChoice::Any));
}

#[tokio::test]
async fn an_answer_beside_calls_of_other_tools_waits_for_their_results() {
    let both =
        vec![ToolCall::new("a", "look", "{}"), ToolCall::new("b", "respond_with_result", r#"{"n":7}"#)];
    let model = forced()
        .reply(ModelAnswer { calls: both, ..ModelAnswer::default() })
        .call("respond_with_result", json!({ "n": 1 }));
    let look = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
    let result = asking(&model).tool(look, async |_| Ok("seen".to_owned())).await.unwrap();
    assert_eq!((result.output, result.attempts.len()), (json!({ "n": 1 }), 1));
    let messages = &model.requests()[1].messages;
    assert!(
        matches!(&messages[2], Message::ToolResult { content, is_error: false, .. } if content == "seen")
    );
    assert!(matches!(&messages[3], Message::ToolResult { is_error: true, .. }));
    let shown = format!("{:?}", result.messages);
    assert!(shown.contains("look") && !shown.contains("respond_with_result"), "{shown}");
}

#[tokio::test]
async fn an_instruction_takes_the_place_of_the_generated_one_and_has_to_name_the_tag() {
    let model = answering([GOOD]);
    let error = asking(&model).instruction("Answer in JSON.").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    assert!(error.to_string().contains("`<result>`") && model.requests().is_empty(), "{error}");
    asking(&model).instruction("JSON between <result> and </result>.").await.unwrap();
    assert_eq!(model.requests()[0].system.as_deref(), Some("JSON between <result> and </result>."));
}

#[tokio::test]
async fn a_text_is_asked_for_in_words_and_cannot_be_held_to_a_schema() {
    let text = OutputSpec::text("summary").unwrap();
    let model = native().answer("<summary> Short. </summary>");
    let run = ModelRun::new(model.clone()).prompt("Sum up.").output_spec(text.clone());
    assert_eq!(run.clone().await.unwrap().output, "Short.");
    let error = run.strategy(OutputStrategy::Native).await.unwrap_err();
    assert!(error.to_string().contains("the output is text"), "{error}");
}

#[tokio::test]
async fn without_a_schema_there_is_nothing_to_send() {
    let spec = OutputSpec::checked("result", |value| match value["n"].as_u64() {
        Some(1) => Ok(()),
        _ => Err(vec![crate::Problem::new("/n", "must be one")]),
    })
    .unwrap()
    .description("The number of things.");
    let model = native().answer(GOOD);
    let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(spec.clone());
    assert_eq!(run.clone().await.unwrap().answer_guarantee, Some(AnswerGuarantee::Tag));
    assert!(model.requests()[0].system.as_ref().unwrap().contains("The number of things."));
    for strategy in [OutputStrategy::Native, OutputStrategy::ForcedTool] {
        let model = native().forced_tool(Dialect::OpenAi);
        let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(spec.clone()).strategy(strategy);
        let error = run.await.unwrap_err();
        assert!(error.to_string().contains("there is no schema to send"), "{error}");
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn a_schema_that_is_sent_and_a_validator_may_disagree_and_the_validator_judges() {
    let spec = OutputSpec::checked("result", |value| match value["n"].as_u64() {
        Some(7) => Ok(()),
        _ => Err(vec![crate::Problem::new("/n", "must be seven")]),
    });
    let spec = spec.unwrap().sent_schema(schema()).unwrap();
    let model = native().answer(r#"{"n":1}"#).answer(r#"{"n":7,"more":true}"#);
    let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(spec).max_retries(1);
    let result = run.await.unwrap();
    assert_eq!(result.output["n"], 7);
    assert!(model.requests()[0].schema.is_some());
    assert!(last_said(&model.requests()[1]).ends_with("- at /n: must be seven"));
}
