//! Typed answers over each wire: asked for by each strategy, corrected, tried again, and never asked for in vain.

use std::sync::Arc;

use sandcastle::{AnswerGuarantee, ErrorKind, ModelRun, OutputSpec, OutputStrategy};
use serde_json::{Value, json};

use super::Service;
use crate::support::model_server::{ModelServer, Reply};

/// The services that a tool can be forced at.
const FORCING: [Service; 4] = [Service::Anthropic, Service::OpenAi, Service::Responses, Service::Gemini];

/// A note with a title and, perhaps, a text; no service carries all of its bounds.
fn note() -> OutputSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 2, "maxLength": 20 },
            "stars": { "type": "integer", "minimum": 1, "maximum": 5 },
            "text": { "type": "string" },
        },
        "required": ["title", "stars"],
        "additionalProperties": false,
    });
    OutputSpec::json("note", schema).expect("a schema")
}

fn ask(service: Service, server: &ModelServer, strategy: OutputStrategy) -> ModelRun<Value> {
    let run = ModelRun::shared(service.declared(&server.url())).prompt("Write a note.");
    run.strategy(strategy).output_spec(note())
}

/// The value as the service's own mode gives it: where every property is required, an absent one is null.
fn written(service: Service) -> Value {
    match service {
        Service::OpenAi | Service::Responses => json!({ "title": "Milk", "stars": 4, "text": null }),
        _ => json!({ "title": "Milk", "stars": 4 }),
    }
}

fn value() -> Value {
    json!({ "title": "Milk", "stars": 4 })
}

#[tokio::test]
async fn a_value_comes_back_typed_by_the_services_own_mode() {
    for service in Service::ALL {
        let server = service.server([Reply::text(written(service).to_string())]);
        let result = ask(service, &server, OutputStrategy::Native).await;
        let result = result.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!(
            (result.output, result.answer_guarantee),
            (value(), Some(AnswerGuarantee::Native)),
            "{service:?}"
        );
        let [request] = &server.requests()[..] else { panic!("one request") };
        assert!(request.tools().is_empty(), "{service:?}");
        // What the wire cannot carry, the model reads.
        assert!(
            request.body.to_string().contains("characters")
                || service == Service::LlamaCpp
                || service == Service::Ollama
        );
    }
}

#[tokio::test]
async fn a_value_comes_back_typed_by_a_forced_tool() {
    for service in FORCING {
        let server = service.server([Reply::tool("respond_with_note", written(service))]);
        let result = ask(service, &server, OutputStrategy::ForcedTool).await;
        let result = result.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!((result.output, result.answer_guarantee), (value(), Some(AnswerGuarantee::ForcedTool)));
        assert_eq!(server.requests()[0].tools(), ["respond_with_note"], "{service:?}");
    }
}

#[tokio::test]
async fn a_wrong_value_is_corrected_in_the_same_conversation() {
    for service in Service::ALL {
        let wrong = json!({ "title": "M", "stars": 4, "text": "x" });
        let server = service.server([
            Reply::text(wrong.to_string()).usage(10, 5),
            Reply::status(529).retry_after(0),
            Reply::text(written(service).to_string()).usage(20, 5),
        ]);
        let result = ask(service, &server, OutputStrategy::Auto).max_retries(1).await;
        let result = result.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!((result.output, result.attempts.len()), (value(), 2), "{service:?}");
        assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (30, 10), "{service:?}");
        let asked = server.requests();
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[1].body, asked[2].body, "{service:?}");
        assert_eq!(asked[2].assistant_texts(), [wrong.to_string()], "{service:?}");
        assert!(asked[2].user_texts().last().is_some_and(|said| said.contains("/title")), "{service:?}");
    }
}

#[tokio::test]
async fn at_an_address_of_nobodys_words_only() {
    for service in [Service::Anthropic, Service::OpenAi, Service::Responses, Service::Gemini, Service::Ollama]
    {
        let server = service.server([Reply::text("<note>{\"title\":\"Milk\",\"stars\":4}</note>")]);
        let model = Arc::from(service.model(&server.url()));
        let run = |strategy| {
            ModelRun::shared(Arc::clone(&model))
                .prompt("Write a note.")
                .strategy(strategy)
                .output_spec(note())
        };
        for strategy in [OutputStrategy::Native, OutputStrategy::ForcedTool] {
            let error = run(strategy).await.expect_err("nothing is declared");
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{service:?}: {error}");
            assert!(error.to_string().contains("a custom base address declares nothing"), "{error}");
        }
        assert!(server.requests().is_empty(), "{service:?}");

        let result = run(OutputStrategy::Auto).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!(
            (result.output, result.answer_guarantee),
            (value(), Some(AnswerGuarantee::Tag)),
            "{service:?}"
        );
    }
}
