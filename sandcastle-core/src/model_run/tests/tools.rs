//! The caller's own tools, beside an output and without one.

use super::*;
use crate::ErrorKind;
use crate::model::{ModelAnswer, ToolCall, ToolChoice, ToolSpec};
use crate::output::lower::Dialect;

fn tool(name: &str) -> ToolSpec {
    ToolSpec::new(name, "Does it.", json!({ "type": "object" }))
}

fn calling(calls: impl IntoIterator<Item = ToolCall>) -> ModelAnswer {
    ModelAnswer { calls: calls.into_iter().collect(), ..ModelAnswer::default() }
}

#[tokio::test]
async fn tools_may_be_used_before_a_native_answer() {
    let model =
        ScriptedModel::new().native(Dialect::OpenAi).call("double", json!({ "of": 2 })).answer(r#"{"n":4}"#);
    let run = asking(&model).tool(tool("double"), async |arguments| {
        let of = arguments["of"].as_i64().ok_or("`of` is missing")?;
        Ok((of * 2).to_string())
    });
    let (run, told) = listening(run);
    let result = run.await.unwrap();
    assert_eq!((result.output, result.iterations, result.attempts.len()), (json!({ "n": 4 }), 2, 1));
    let requests = model.requests();
    assert!(requests[0].schema.is_some() && requests[0].tools.len() == 1);
    assert_eq!(requests[0].tool_choice, ToolChoice::Auto);
    let Message::ToolResult { content, is_error: false, .. } = &requests[1].messages[2] else {
        panic!("{:?}", requests[1])
    };
    assert_eq!(content, "4");
    let told = told.lock().unwrap();
    assert!(
        told.iter().any(|event| matches!(event, ModelRunEvent::ToolCalled { call } if call.name == "double"))
    );
    assert!(told.contains(&ModelRunEvent::ToolReturned { name: "double".to_owned(), is_error: false }));
}

#[tokio::test]
async fn what_goes_wrong_in_a_tool_is_told_to_the_model_and_ends_nothing() {
    let calls = [
        ToolCall::new("1", "fails", "{}"),
        ToolCall::new("2", "panics", "{}"),
        ToolCall::new("3", "unknown", "{}"),
        ToolCall::new("4", "fails", "{\"a\":"),
        ToolCall::new("5", "echoes", ""),
    ];
    let model = ScriptedModel::new().reply(calling(calls)).answer("Done.");
    let run = ModelRun::new(model.clone())
        .prompt("Try all.")
        .tool(tool("fails"), async |_| Err("no luck".to_owned()))
        .tool(tool("panics"), |_| -> std::future::Ready<Result<String, String>> { panic!("at the disco") })
        .tool(tool("echoes"), async |arguments| Ok(arguments.to_string()));
    assert_eq!(run.await.unwrap().text, "Done.");
    let requests = model.requests();
    let results: Vec<_> = requests[1].messages[2..]
        .iter()
        .map(|message| match message {
            Message::ToolResult { content, is_error, .. } => (content.as_str(), *is_error),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("no luck", true),
        ("the tool panicked", true),
        ("there is no tool `unknown`", true),
        ("the arguments are not valid JSON: line 1 column 5", true),
        ("{}", false),
    ];
    assert_eq!(results, expected);
}

#[tokio::test]
async fn tools_that_no_service_would_take_are_refused() {
    for (first, second) in [("two words", "b"), ("", "b"), ("ä", "b"), ("same", "same")] {
        let model = answering([GOOD]);
        let run = asking(&model)
            .tool(tool(first), async |_| Ok(String::new()))
            .tool(tool(second), async |_| Ok(String::new()));
        assert_eq!(run.await.unwrap_err().kind(), ErrorKind::InvalidOptions);
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_made() {
    let mut cut = calling([ToolCall::new("1", "delete", "{\"path\":\"/")]);
    cut.stop = crate::model::ModelStop::OutputLimit;
    let model = ScriptedModel::new().reply(cut).answer(GOOD);
    let run = asking(&model).max_retries(1).tool(tool("delete"), async |_| panic!("it was called"));
    let result = run.await.unwrap();
    assert_eq!(result.attempts[0].outcome, crate::AttemptOutcome::Truncated);
    assert_eq!(model.requests()[1].messages.len(), 2);
}
