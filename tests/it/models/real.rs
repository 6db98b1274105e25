//! A provider against a real server with a real model: what no script can show.
//!
//! It needs `.ci/model start`.

use sandcastle::event::FailureKind;
use sandcastle::model::{Message, Model, ModelRequest, ModelStop, WireSchema};
use sandcastle::models::{Anthropic, Capabilities, OpenAiCompatible};
use sandcastle::output::lower::Dialect;
use sandcastle::{AnswerGuarantee, ModelRun, OutputSpec, OutputStrategy, Stage, StructuredOutputError};
use serde_json::{Value, json};

use crate::support::real_model::RealModel;

const QUESTION: &str = "Say in one sentence what a sandcastle is.";

/// Nothing that the question leads to.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "colour": { "enum": ["teal", "ochre"] }, "weight": { "type": "integer", "minimum": 40, "maximum": 49 } },
        "required": ["colour", "weight"],
        "additionalProperties": false,
    })
}

fn model(real: &RealModel) -> OpenAiCompatible {
    OpenAiCompatible::llama_cpp(&real.url).model(&real.name)
}

fn request(text: &str, max_output_tokens: u32) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = vec![Message::user(text)];
    request.max_output_tokens = Some(max_output_tokens);
    request
}

#[tokio::test]
async fn a_real_model_gives_a_value_that_the_server_held_to_its_schema() {
    let Some(real) = RealModel::find() else { return };
    let spec = OutputSpec::json("answer", schema()).expect("a schema");
    let result = ModelRun::new(model(&real)).prompt(QUESTION).max_output_tokens(128).output_spec(spec).await;
    let result = result.unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
    assert!(
        ["teal", "ochre"].contains(&result.output["colour"].as_str().expect("a word")),
        "{}",
        result.output
    );
    assert!(result.usage.input_tokens > 0 && result.usage.output_tokens > 0, "{:?}", result.usage);
    assert_eq!((result.iterations, result.served_by.model.as_str()), (1, real.name.as_str()));
}

#[tokio::test]
async fn a_real_server_says_what_stopped_it() {
    let Some(real) = RealModel::find() else { return };
    let mut pieces = 0;
    let (short, long) = (request(QUESTION, 4), request(&"sand ".repeat(40_000), 4));
    let answer = model(&real).answer(&short, &mut |_| pieces += 1).await.expect("an answer");
    assert_eq!((answer.stop, answer.usage.output_tokens), (ModelStop::OutputLimit, 4));
    assert!(pieces > 1 && !answer.text.is_empty());

    let failure = model(&real).answer(&long, &mut |_| {}).await.expect_err("it is too long");
    assert_eq!((failure.kind, failure.status), (FailureKind::Request, Some(400)), "{failure}");
    assert!(failure.message.contains("context"), "{failure}");
}

/// The wire is the service's, the server is another one: it answers with success and has not heard the schema.
#[tokio::test]
async fn a_server_that_ignores_a_schema_is_found_out() {
    let Some(real) = RealModel::find() else { return };
    let capabilities = Capabilities::of(Dialect::Anthropic).with_native();
    let model = Anthropic::new(&real.name, "none").base_url(&real.url).declares(capabilities);
    let mut asked = request(QUESTION, 48);
    asked.schema = Some(WireSchema::new("answer", schema()));
    let answer = model.answer(&asked, &mut |_| {}).await.expect("success, as far as the server knows");
    assert!(serde_json::from_str::<Value>(&answer.text).is_err(), "{}", answer.text);

    let spec = OutputSpec::json("answer", schema()).expect("a schema");
    let run = ModelRun::new(model).prompt(QUESTION).max_output_tokens(48).strategy(OutputStrategy::Native);
    let error = run.output_spec(spec).await.expect_err("it is no value");
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    let stage = source.map(|error: &StructuredOutputError| error.stage());
    assert!(matches!(stage, Some(Stage::JsonParse | Stage::Truncated | Stage::SchemaValidate)), "{error:#}");
}
