//! What the tests of all wires share: a request with everything in it, and a stream that is read without a network.

mod hostile;

use sandcastle_core::model::{
    Message, ModelAnswer, ModelFailure, ModelPiece, ModelRequest, ModelStop, OwnTools, ToolCall, ToolChoice,
    ToolSpec, WireSchema,
};
use sandcastle_core::{Support, Usage};
use serde_json::{Value, json};

use super::endpoint::{Progress, Reader, Wire};
use super::{Anthropic, Capabilities, Gemini, Ollama, OpenAi, OpenAiCompatible, OpenAiResponses};
use sandcastle_core::model::{Model, Price};
use sandcastle_core::output::lower::Dialect;

pub(super) fn schema() -> Value {
    json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false,
    })
}

/// A first question, and nothing else.
pub(super) fn question() -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = vec![Message::user("how many?")];
    request
}

/// A conversation in which a tool was called, failed and was called again.
pub(super) fn conversation() -> ModelRequest {
    let mut request = question();
    let assistant =
        |text: &str, calls: Vec<ToolCall>| Message::Assistant { text: text.to_owned(), calls, replay: None };
    let result = |call: &str, content: &str, is_error| Message::ToolResult {
        call: call.to_owned(),
        name: "count".to_owned(),
        content: content.to_owned(),
        is_error,
    };
    request.system = Some("You count.".to_owned());
    request.messages.extend([
        assistant("", Vec::new()),
        Message::user("please"),
        assistant(
            "I look.",
            vec![ToolCall::new("c1", "count", r#"{"of":"a"}"#), ToolCall::new("c2", "count", r#"{"of":"#)],
        ),
        result("c1", "3", false),
        result("c2", "bad arguments", true),
        Message::user("and now?"),
    ]);
    request.tools = vec![ToolSpec::new("count", "Counts.", json!({ "type": "object" }))];
    request.max_output_tokens = Some(100);
    request.temperature = Some(0.2);
    request
}

/// A question with a schema.
pub(super) fn with_schema() -> ModelRequest {
    let mut request = question();
    request.schema = Some(WireSchema::new("result", schema()));
    request
}

/// A question that has to be answered by the tool `result`, with another one beside it.
pub(super) fn with_forced_tool() -> ModelRequest {
    let mut request = question();
    request.tools = vec![
        ToolSpec::new("count", "Counts.", json!({ "type": "object" })),
        ToolSpec::new("result", "The answer.", schema()).strictly(),
    ];
    request.tool_choice = ToolChoice::Named("result".to_owned());
    request
}

pub(super) fn body(wire: &impl Wire, request: &ModelRequest) -> Value {
    wire.call(request).unwrap().body
}

/// Reads a whole stream.
pub(super) fn read<W: Wire>(
    wire: &W,
    events: &[Value],
) -> (Result<ModelAnswer, ModelFailure>, Vec<ModelPiece>, Usage) {
    let (mut reader, mut pieces) = (wire.reader(), Vec::new());
    let mut listener = |piece| pieces.push(piece);
    let mut failed = None;
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        match reader.read(&data, &mut listener) {
            Ok(Progress::Open) => {}
            Ok(Progress::Complete) => break,
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
    }
    let usage = reader.usage();
    (failed.map_or_else(|| reader.finish(), Err), pieces, usage)
}

/// Reads a stream that is an answer.
pub(super) fn answer<W: Wire>(wire: &W, events: &[Value]) -> ModelAnswer {
    read(wire, events).0.unwrap()
}

/// Reads a stream that is none.
pub(super) fn failure<W: Wire>(wire: &W, events: &[Value]) -> ModelFailure {
    read(wire, events).0.unwrap_err()
}

/// The counts, in the order of `Usage`.
pub(super) fn counts(usage: &Usage) -> [u64; 4] {
    [
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
        usage.output_tokens,
    ]
}

pub(super) fn pieces_of(pieces: &[ModelPiece]) -> Vec<String> {
    let shown = |piece: &ModelPiece| match piece {
        ModelPiece::Text { text } => format!("text {text}"),
        ModelPiece::Thinking { text } => format!("thinking {text}"),
        ModelPiece::ToolCall { name } => format!("call {name}"),
        other => format!("{other:?}"),
    };
    pieces.iter().map(shown).collect()
}

/// Asserts how a stream ends for each of the service's reasons.
pub(super) fn assert_stops<W: Wire>(
    wire: &W,
    ending: impl Fn(&str) -> Vec<Value>,
    stops: &[(&str, ModelStop)],
) {
    for (reason, stop) in stops {
        assert_eq!(answer(wire, &ending(reason)).stop, *stop, "{reason}");
    }
}

fn models() -> Vec<Box<dyn Model>> {
    vec![
        Box::new(Anthropic::new("claude-opus-5", "sk-secret")),
        Box::new(OpenAi::new("gpt-4.1", "sk-secret")),
        Box::new(OpenAiResponses::new("gpt-5.5", "sk-secret")),
        Box::new(Gemini::new("gemini-3.8-flash", "sk-secret")),
        Box::new(Ollama::new("qwen3").key("sk-secret")),
        Box::new(OpenAiCompatible::open_router("openai/gpt-5.5", "sk-secret").header("x-title", "sk-secret")),
    ]
}

#[test]
fn a_key_is_never_shown() {
    for model in models() {
        let shown = format!("{model:?} {model:#?}");
        assert!(!shown.contains("sk-secret") && shown.contains("***"), "{shown}");
    }
}

#[test]
fn what_is_known_holds_at_the_services_own_address_only() {
    let support = |model: &dyn Model| model.support(OwnTools::None);
    let reason = |support| match support {
        Support::Denied(reason) => reason,
        other => panic!("{other:?}"),
    };
    let known = Anthropic::new("claude-opus-5-5", "k");
    assert_eq!(support(&known).native, Support::Declared);
    assert_eq!(support(&known).dialect, Some(Dialect::Anthropic));
    assert!(reason(support(&known).forced_tool).contains("HTTP 400"));
    assert_eq!(support(&known).who, "the model `claude-opus-5-5` of `anthropic`");
    assert_eq!(known.price().map(|price| price.output), Some(20.0));

    let unknown = Anthropic::new("claude-opus-9", "k");
    assert_eq!(
        (support(&unknown).native, support(&unknown).forced_tool),
        (Support::Unlisted, Support::Unlisted)
    );
    assert_eq!((support(&unknown).dialect, unknown.price()), (Some(Dialect::Anthropic), None));

    let elsewhere = known.clone().base_url("http://127.0.0.1:8080");
    for denied in [support(&elsewhere).native, support(&elsewhere).forced_tool] {
        assert!(reason(denied).starts_with("a custom base address declares nothing"));
    }
    assert_eq!((support(&elsewhere).dialect, elsewhere.price()), (None, None));

    let declared = elsewhere.declares(Capabilities::of(Dialect::Anthropic).with_forced_tool());
    assert_eq!(support(&declared).forced_tool, Support::Declared);
    assert!(reason(support(&declared).native).contains("not declared"));
    let priced = declared.costs(Price::new(1.0, 2.0));
    assert_eq!(priced.price(), Some(Price::new(1.0, 2.0)));
}

#[test]
fn tools_beside_a_schema_are_a_question_of_their_own() {
    for (model, beside) in [("gemini-2.5-pro", false), ("gemini-3.1-pro-preview", true)] {
        let model = Gemini::new(model, "k");
        assert_eq!(model.support(OwnTools::None).native, Support::Declared);
        assert_eq!(model.support(OwnTools::Some).native == Support::Declared, beside, "{model:?}");
    }
    let none =
        OpenAiCompatible::new("m", "http://localhost:1").declares(Capabilities::none("it drops schemas"));
    for tools in [OwnTools::None, OwnTools::Some] {
        assert_eq!(none.support(tools).native, Support::Denied("it drops schemas".to_owned()));
    }
}
