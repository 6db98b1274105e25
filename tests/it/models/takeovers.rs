//! Models of other services that take over in the middle of a conversation: with a correction in it, with calls of tools, and
//! with what only the first service could read. Each server holds what it is asked to the law of its service.

use sandcastle::model::ToolSpec;
use sandcastle::models::{Anthropic, OpenAiCompatible};
use sandcastle::{AnswerGuarantee, AttemptOutcome, ModelRun, OutputSpec, OutputStrategy};
use serde_json::{Value, json};

use super::{KEY, Service};
use crate::support::model_server::{ModelServer, Reply};

const WRONG: &str = r#"{"n":"three"}"#;
const RIGHT: &str = r#"{"n":3}"#;

fn count() -> OutputSpec {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false,
    });
    OutputSpec::json("count", schema).expect("a schema")
}

/// A run that has `first` asked and then `second`, neither of them twice.
fn ask(
    first: (Service, &ModelServer),
    second: (Service, &ModelServer),
    strategy: OutputStrategy,
) -> ModelRun<Value> {
    ModelRun::shared(first.0.declared(&first.1.url()))
        .alternate_shared(second.0.declared(&second.1.url()))
        .prompt("How many?")
        .output_spec(count())
        .strategy(strategy)
        .max_retries(2)
        .transport_retries(0)
}

/// Every service after every other one.
fn pairs(services: &[Service]) -> impl Iterator<Item = (Service, Service)> {
    services.iter().flat_map(|first| services.iter().map(|second| (*first, *second)))
}

#[tokio::test]
async fn a_correction_goes_on_with_another_model() {
    for (first, second) in pairs(&Service::ALL) {
        let what = format!("{first:?}, then {second:?}");
        let one = first.server([Reply::thinking("hm").and_text(WRONG), Reply::status(529)]);
        let other = second.server([Reply::text(WRONG), Reply::text(RIGHT)]);
        let result = ask((first, &one), (second, &other), OutputStrategy::Native).await;
        let result = result.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        assert_eq!(
            (result.output, result.answer_guarantee),
            (json!({ "n": 3 }), Some(AnswerGuarantee::Native))
        );
        let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
        assert_eq!(
            outcomes,
            [AttemptOutcome::SchemaValidate, AttemptOutcome::SchemaValidate, AttemptOutcome::Accepted]
        );
        assert_eq!(result.served_by.provider, second.declared(&other.url()).provider(), "{what}");

        // Who takes over is told what was wrong with the first answer, and nothing of what its service sealed.
        let asked = other.requests();
        assert_eq!(asked[0].assistant_texts(), [WRONG], "{what}");
        assert_eq!(asked[1].assistant_texts(), [WRONG, WRONG], "{what}");
        assert!(asked[0].user_texts().last().is_some_and(|said| said.contains("/n")), "{what}");
        if first != second {
            assert!(!asked[0].body.to_string().contains("c2NyaXB0ZWQ="), "{what}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_was_forced_at_one_is_forced_at_the_next() {
    let forcing = [Service::Anthropic, Service::OpenAi, Service::Responses, Service::Gemini];
    for (first, second) in pairs(&forcing) {
        let what = format!("{first:?}, then {second:?}");
        let answer = |n: Value| Reply::tool("respond_with_count", json!({ "n": n }));
        let one = first.server([answer(json!("three")), Reply::dropped()]);
        let other = second.server([answer(json!(3))]);
        let result = ask((first, &one), (second, &other), OutputStrategy::ForcedTool).await;
        let result = result.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        assert_eq!(
            (result.output, result.answer_guarantee),
            (json!({ "n": 3 }), Some(AnswerGuarantee::ForcedTool))
        );
        assert!(other.requests()[0].tool_results()[0].contains("/n"), "{what}");
    }
}

#[tokio::test]
async fn calls_of_tools_go_on_with_another_model() {
    for (first, second) in pairs(&Service::ALL) {
        let what = format!("{first:?}, then {second:?}");
        let look = || {
            Reply::thinking("hm")
                .and_text("I look.")
                .and_tool("look", json!({ "at": "a" }))
                .and_tool("look", json!({}))
        };
        let one = first.server([look(), Reply::status(503)]);
        let other = second.server([look(), Reply::text("<count>{\"n\":3}</count>")]);
        let tool = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
        let run = ask((first, &one), (second, &other), OutputStrategy::Tag);
        let result = run.tool(tool, async |seen| Ok(format!("saw {seen}"))).await;
        let result = result.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        assert_eq!((result.output, result.attempts.len()), (json!({ "n": 3 }), 1), "{what}");
        let seen = ["saw {\"at\":\"a\"}", "saw {}"];
        assert_eq!(other.requests()[0].tool_results(), seen, "{what}");
        assert_eq!(other.requests()[1].tool_results(), [seen, seen].concat(), "{what}");
    }
}

/// Some servers name calls as no other service would take them.
#[tokio::test]
async fn ids_of_a_strange_form_are_no_trouble_to_who_takes_over() {
    let call = |index: u32, id: &str| json!({ "index": index, "id": id, "function": { "name": "look", "arguments": "{}" } });
    let strange = ["functions.look:0".to_owned(), format!("chatcmpl-tool-{}", "0".repeat(64))];
    let calls = json!({ "choices": [{
        "delta": { "tool_calls": [call(0, &strange[0]), call(1, &strange[1])] }, "finish_reason": "tool_calls",
    }] });
    for second in Service::ALL {
        let stream = Reply::raw(200, "text/event-stream", format!("data: {calls}\n\ndata: [DONE]\n\n"));
        let one = Service::LlamaCpp.server([stream, Reply::status(503)]);
        let other = second.server([Reply::text("done")]);
        let run = ModelRun::new(OpenAiCompatible::new("kimi", format!("{}/v1", one.url())))
            .alternate_shared(second.declared(&other.url()))
            .prompt("Look twice.")
            .transport_retries(0)
            .tool(ToolSpec::new("look", "Looks.", json!({ "type": "object" })), async |_| {
                Ok("sand".to_owned())
            });
        let result = run.await.unwrap_or_else(|error| panic!("{second:?}: {error:#}"));
        assert_eq!((result.text.as_str(), result.warnings.len()), ("done", 1), "{second:?}");
        assert_eq!(other.requests()[0].tool_results(), ["sand", "sand"], "{second:?}");
    }
}

/// What cannot be asked as it was wanted is never asked in a weaker way, and the first failure is what is told.
#[tokio::test]
async fn nobody_takes_over_with_less_than_was_asked_for() {
    let (one, other) = (Service::Anthropic.server([Reply::status(529)]), Service::Ollama.server([]));
    let run = ask((Service::Anthropic, &one), (Service::Ollama, &other), OutputStrategy::ForcedTool);
    let error = run.await.expect_err("nobody is left");
    assert!(error.to_string().contains("`claude-sonnet-4-5` of `anthropic`"), "{error}");
    assert_eq!(error.model_failure().and_then(|failure| failure.status), Some(529));
    assert!(other.requests().is_empty());

    // What the service says of the request, another one would say, too.
    let one = Service::Anthropic.server([Reply::status(400).because("output_config: not supported")]);
    let other = Service::OpenAi.server([]);
    let run = ask((Service::Anthropic, &one), (Service::OpenAi, &other), OutputStrategy::Auto);
    let error = run.await.expect_err("a refused request");
    assert!(error.to_string().contains("not supported"), "{error}");
    assert!(one.requests().len() == 1 && other.requests().is_empty());
}

/// The key of one service is never sent to the next.
#[tokio::test]
async fn every_service_gets_its_own_key() {
    let (one, other) =
        (Service::Anthropic.server([Reply::status(529)]), Service::LlamaCpp.server([Reply::text("hi")]));
    let run = ModelRun::new(Anthropic::new("claude-opus-5", KEY).base_url(one.url()))
        .alternate(OpenAiCompatible::llama_cpp(other.url()))
        .prompt("Say hi.")
        .transport_retries(0);
    assert_eq!(run.await.expect("an answer").text, "hi");
    let [asked] = &other.requests()[..] else { panic!("one request") };
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (None, None));
}
