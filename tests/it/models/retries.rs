//! Answers that are asked for again, and errors that are not, over each wire: what counts, what is said, and how often.

use std::sync::Arc;

use sandcastle::event::FailureKind;
use sandcastle::model::Model;
use sandcastle::{
    AttemptOutcome, ErrorKind, ModelRun, OutputSpec, OutputStrategy, Stage, StructuredOutputError,
};
use serde_json::{Value, json};

use super::Service;
use crate::support::model_server::Reply;

const WRONG: &str = r#"{"n":"three"}"#;
const RIGHT: &str = r#"{"n":3}"#;
const FORCING: [Service; 4] = [Service::Anthropic, Service::OpenAi, Service::Responses, Service::Gemini];

fn ask(model: &Arc<dyn Model>) -> ModelRun<Value> {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false,
    });
    let spec = OutputSpec::json("count", schema).expect("a schema");
    ModelRun::shared(Arc::clone(model)).prompt("How many?").output_spec(spec)
}

/// The service's own words for a schema that it does not take, and the status that it has for them.
const REFUSALS: [(Service, u16, &str); 12] = [
    (Service::Anthropic, 400, "Schema is too complex for compilation."),
    (Service::Anthropic, 400, "output_config.format: Extra inputs are not permitted"),
    (Service::Anthropic, 400, "The compiled grammar is too large, which would cause performance issues."),
    (
        Service::OpenAi,
        400,
        "Invalid schema for response_format 'count': In context=(), 'required' is missing.",
    ),
    (
        Service::OpenAi,
        400,
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    ),
    (Service::Responses, 400, "Unsupported parameter: 'text.format' is not supported with this model."),
    (
        Service::Gemini,
        400,
        "The specified schema produces a constraint that has too many states for serving.",
    ),
    (Service::Gemini, 400, "Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."),
    (Service::Ollama, 500, "invalid JSON schema in format"),
    (Service::LlamaCpp, 400, "JSON schema conversion failed: Unrecognized schema"),
    (Service::LlamaCpp, 404, "No endpoints found that can handle the requested parameters."),
    (Service::LlamaCpp, 422, "response_format: unsupported"),
];

/// An error of the service never makes a run weaker: it says what the service says, after one request.
#[tokio::test]
async fn case_075_and_case_097_what_a_service_refuses_is_an_error_and_changes_nothing() {
    for (service, status, words) in REFUSALS {
        for strategy in [OutputStrategy::Auto, OutputStrategy::Native] {
            let server = service.server([Reply::status(status).because(words), Reply::text(RIGHT).always()]);
            let run = ask(&service.declared(&server.url())).strategy(strategy).max_retries(3);
            let error = run.await.expect_err(words);
            assert_eq!((error.kind(), server.requests().len()), (ErrorKind::ModelFailed, 1), "{words}");
            let failure = error.model_failure().expect("the service's own words");
            assert_eq!(
                (failure.kind, failure.message.as_str()),
                (FailureKind::Request, words),
                "{service:?}"
            );
        }
    }
}

/// Whatever is there of an answer that was cut off, it is called so, and asked for again with twice the room.
#[tokio::test]
async fn case_095_an_answer_that_was_cut_off_is_called_so_however_much_is_there() {
    for service in Service::ALL {
        for half in ["", r#"{"n":"#, RIGHT] {
            let server = service.server([Reply::text(half).at_output_limit(), Reply::text(RIGHT)]);
            let run = ask(&service.declared(&server.url())).strategy(OutputStrategy::Native);
            let result = run.max_output_tokens(20).max_retries(1).await;
            let result = result.unwrap_or_else(|error| panic!("{service:?}, {half}: {error:#}"));
            let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
            assert_eq!(
                outcomes,
                [AttemptOutcome::Truncated, AttemptOutcome::Accepted],
                "{service:?}, {half}"
            );
            let rooms: Vec<_> = server.requests().iter().map(|request| room(&request.body)).collect();
            assert_eq!(rooms, [Some(20), Some(40)], "{service:?}");
        }
    }
    for service in FORCING {
        let server = service.server([Reply::tool("respond_with_count", json!({ "n": 3 })).at_output_limit()]);
        let run = ask(&service.declared(&server.url())).strategy(OutputStrategy::ForcedTool);
        let error = run.await.expect_err("it was cut off");
        let stage = error.structured_output().map(StructuredOutputError::stage);
        assert_eq!(stage, Some(Stage::Truncated), "{service:?}: {error:#}");
    }
}

/// How long the answer to a request may be, in the words of its service.
fn room(body: &Value) -> Option<u64> {
    let places = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/options/num_predict",
    ];
    places.iter().find_map(|place| body.pointer(place)?.as_u64())
}

#[tokio::test]
async fn case_050_success_without_a_word_is_no_success() {
    for service in Service::ALL {
        for silent in [Reply::empty(), Reply::text(" \n\t"), Reply::thinking("three, or is it four?")] {
            let server = service.server([silent.clone()]);
            let error = ask(&service.declared(&server.url())).await.expect_err("nothing was said");
            let stage = error.structured_output().map(StructuredOutputError::stage);
            assert_eq!(stage, Some(Stage::Empty), "{service:?} {silent:?}: {error:#}");
        }
    }
}

/// Trouble on the way, of three kinds, between an answer and its correction.
#[tokio::test]
async fn case_054_trouble_on_the_way_is_nothing_to_the_model() {
    let mut asking = tokio::task::JoinSet::new();
    for service in Service::ALL {
        for trouble in [Reply::status(429).retry_after(0), Reply::dropped(), Reply::text(RIGHT).cut_short()] {
            asking.spawn(async move {
                let server = service.server([Reply::text(WRONG), trouble, Reply::text(RIGHT)]);
                let result = ask(&service.declared(&server.url())).max_retries(1).await;
                let result = result.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
                assert_eq!((result.output, result.attempts.len()), (json!({ "n": 3 }), 2), "{service:?}");
                let asked = server.requests();
                assert_eq!((asked.len(), &asked[1].body), (3, &asked[2].body), "{service:?}");
            });
        }
    }
    asking.join_all().await;
}

#[tokio::test]
async fn case_055_exactly_as_many_answers_as_allowed_and_the_last_one_is_kept() {
    for service in Service::ALL {
        for wrong in [WRONG, "[3]", r#"{"n":3,"m":4}"#] {
            let server = service.server([Reply::text(wrong).always()]);
            let error =
                ask(&service.declared(&server.url())).max_retries(2).await.expect_err("it is never right");
            let output = error.structured_output().unwrap_or_else(|| panic!("{service:?}: {error:#}"));
            assert_eq!((output.attempts.len(), server.requests().len()), (3, 3), "{service:?}");
            assert_eq!((output.stage(), output.answer.as_deref()), (Stage::SchemaValidate, Some(wrong)));
            assert_eq!(output.value, serde_json::from_str(wrong).ok(), "{service:?}");
        }
    }
}

/// One model for all of them, as programs have it.
#[tokio::test]
async fn case_056_runs_that_share_a_model_share_no_retries() {
    for service in Service::ALL {
        let server = service.server((0..6).flat_map(|_| [Reply::text(WRONG), Reply::text(RIGHT)]));
        let model = service.declared(&server.url());
        for _ in 0..6 {
            let result =
                ask(&model).max_retries(1).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
            assert_eq!((result.output, result.attempts.len()), (json!({ "n": 3 }), 2), "{service:?}");
        }
    }
}

/// A schema mode is never asked for without a schema, nor a tool without a name.
#[tokio::test]
async fn case_093_and_case_096_what_holds_an_answer_is_in_every_request() {
    for service in Service::ALL {
        let server = service.server([Reply::text(WRONG), Reply::text(WRONG), Reply::text(RIGHT)]);
        ask(&service.declared(&server.url()))
            .strategy(OutputStrategy::Native)
            .max_retries(2)
            .await
            .expect("a value");
        for request in server.requests() {
            let schemas = [
                "/output_config/format/schema",
                "/response_format/json_schema/schema",
                "/text/format/schema",
                "/generationConfig/responseJsonSchema",
                "/format",
            ];
            let schema = schemas.iter().find_map(|place| request.body.pointer(place));
            assert_eq!(schema.map(|schema| &schema["required"]), Some(&json!(["n"])), "{service:?}");
        }
    }
    for service in FORCING {
        let answer = |n: Value| Reply::tool("respond_with_count", json!({ "n": n }));
        let server = service.server([answer(json!("x")), Reply::text(RIGHT), answer(json!(3))]);
        let run = ask(&service.declared(&server.url())).strategy(OutputStrategy::ForcedTool);
        run.max_retries(2).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        for request in server.requests() {
            let names = [
                "/tool_choice/name",
                "/tool_choice/function/name",
                "/toolConfig/functionCallingConfig/allowedFunctionNames/0",
            ];
            let name = names.iter().find_map(|place| request.body.pointer(place)?.as_str());
            assert_eq!(name, Some("respond_with_count"), "{service:?}");
        }
    }
}
