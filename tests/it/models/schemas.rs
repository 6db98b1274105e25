//! Schemas on their way to services that refuse what they cannot hold a model to.

use sandcastle::event::FailureKind;
use sandcastle::model::{Model, ModelFailure, ModelRequest, ToolChoice, ToolSpec, WireSchema};
use sandcastle::models::{Anthropic, Capabilities, Gemini};
use sandcastle::output::lower::{Dialect, lower};
use serde_json::{Value, json};

use super::{Service, question};
use crate::support::model_server::Reply;

fn native(schema: Value) -> ModelRequest {
    let mut request = question();
    request.schema = Some(WireSchema::new("result", schema));
    request
}

fn forced(schema: Value) -> ModelRequest {
    let mut request = question();
    request.tools = vec![
        ToolSpec::new("count", "Counts.", json!({ "type": "object" })),
        ToolSpec::new("result", "The answer.", schema).strictly(),
    ];
    request.tool_choice = ToolChoice::Named("result".to_owned());
    request
}

async fn refused(service: Service, request: &ModelRequest) -> Option<ModelFailure> {
    let server = service.server([Reply::text("{}")]);
    service.ask(&server, request).await.err()
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// What types come to that people write: everything that any of the services cannot carry is in one of these.
fn written() -> Vec<(&'static str, Value)> {
    let bounded = json!({
        "name": { "type": "string", "minLength": 1, "maxLength": 40, "description": "Its name." },
        "count": { "type": "integer", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2 },
        "ratio": { "type": "number", "minimum": 0.5, "maximum": 1 },
        "mail": { "type": "string", "format": "email" },
        "at": { "type": "string", "format": "date-time" },
        "code": { "type": "string", "pattern": "^[A-Z]{2}-\\d+$" },
        "loose": { "type": "string", "pattern": "x+" },
        "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3, "uniqueItems": true },
        "level": { "type": "string", "enum": ["low", "high"], "default": "low" },
        "rank": { "enum": [1, 2, 3] },
        "kind": { "const": "report" },
    });
    let node = object(
        &json!({ "value": { "type": "integer" }, "unit": { "type": ["string", "null"] } }),
        &["value"],
    );
    let tagged =
        |tag: &str| object(&json!({ "kind": { "const": tag }, "n": { "type": "integer" } }), &["kind"]);
    vec![
        ("bounds, some of it optional", object(&bounded, &["name", "tags"])),
        ("a list of objects", object(&json!({ "items": { "type": "array", "items": node } }), &["items"])),
        ("a choice", object(&json!({ "one": { "oneOf": [tagged("a"), tagged("b")] } }), &["one"])),
        (
            "definitions",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Report",
                "type": "object", "properties": {
                    "a": { "$ref": "#/$defs/Node", "description": "The first." },
                    "b": { "$ref": "#/$defs/Node" },
                    "c": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
                },
                "required": ["a"], "$defs": { "Node": node },
            }),
        ),
        ("all of several", object(&json!({ "x": { "allOf": [node, { "type": "object" }] } }), &["x"])),
    ]
}

#[tokio::test]
async fn what_is_lowered_is_taken() {
    for (what, schema) in written() {
        for service in Service::ALL {
            let lowered = lower(&schema, service.dialect());
            assert!(lowered.is_sendable(), "{what}, {service:?}: {:?}", lowered.refused);
            let failure = refused(service, &native(lowered.wire.clone())).await;
            assert!(failure.is_none(), "{what}, {service:?}: {failure:?}\n{:#}", lowered.wire);
            if matches!(service, Service::Anthropic | Service::OpenAi | Service::Responses | Service::Gemini)
            {
                let failure = refused(service, &forced(lowered.wire)).await;
                assert!(failure.is_none(), "{what}, {service:?}, by a tool: {failure:?}");
            }
        }
    }
}

/// The same as they are written: this server would notice a lowering that does nothing.
#[tokio::test]
async fn what_is_not_lowered_is_refused_in_the_services_words() {
    let (_, bounds) = written().swap_remove(0);
    for (service, status, words) in [
        (
            Service::Anthropic,
            400,
            "output_config.format.schema: at `/properties/name`: 'minLength' is not permitted",
        ),
        (Service::OpenAi, 400, "Invalid schema for response_format 'result': at `/properties/name`"),
        (Service::Responses, 400, "Invalid schema for response_format 'result': at `/properties/name`"),
        (Service::Gemini, 400, "Invalid JSON payload received: at `/properties/name`"),
        (Service::Ollama, 500, "invalid JSON schema in format"),
        (Service::LlamaCpp, 400, "JSON schema error"),
    ] {
        let failure = refused(service, &native(bounds.clone())).await.expect("a refusal");
        assert_eq!((failure.kind, failure.status), (FailureKind::Request, Some(status)), "{service:?}");
        assert!(failure.message.starts_with(words), "{service:?}: {failure}");
    }
}

fn named(name: &str) -> Value {
    object(&json!({ name: { "type": "string" } }), &[name])
}

fn open_beside(name: &str) -> Value {
    let mut schema = named(name);
    schema["additionalProperties"] = json!({ "type": "integer" });
    schema
}

fn of_itself(definition: &Value) -> Value {
    let mut schema = object(&json!({ "v": { "$ref": "#/$defs/A" } }), &["v"]);
    schema["$defs"] = json!({ "A": definition });
    schema
}

/// Definitions that each refer to themselves.
fn recursive(names: &[&str]) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let each = |make: &dyn Fn(&str) -> Value| {
        names.iter().map(|name| ((*name).to_owned(), make(name))).collect::<Value>()
    };
    let node = |name: &str| {
        object(&json!({ "next": { "anyOf": [reference(name), { "type": "null" }] } }), &["next"])
    };
    let mut schema = object(&each(&reference), names);
    schema["$defs"] = each(&node);
    schema
}

/// The law itself, case by case.
#[tokio::test]
async fn every_service_has_its_own_law() {
    use Service::{Anthropic, Gemini, LlamaCpp, Ollama, OpenAi};
    let of = |property: Value| object(&json!({ "v": property }), &["v"]);
    let string = |keyword: &str, value: Value| of(json!({ "type": "string", keyword: value }));
    let integer = |keyword: &str, value: Value| of(json!({ "type": "integer", keyword: value }));
    let array = |keyword: &str, value: Value| {
        of(json!({ "type": "array", "items": { "type": "string" }, keyword: value }))
    };
    let root = json!({ "type": "array", "items": { "type": "string" } });
    let open = json!({ "type": "object", "properties": { "v": { "type": "string" } }, "required": ["v"] });
    let optional = object(&json!({ "v": { "type": "string" } }), &[]);
    let cycle = json!({
        "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"], "additionalProperties": false,
    });
    for (what, schema, takers) in [
        (
            "a plain string",
            of(json!({ "type": "string" })),
            vec![Anthropic, OpenAi, Gemini, Ollama, LlamaCpp],
        ),
        ("a root that is no object", root, vec![]),
        ("an open object", open, vec![Gemini, Ollama, LlamaCpp]),
        ("an optional property", optional, vec![Anthropic, Gemini, Ollama, LlamaCpp]),
        ("a reference to the whole", cycle, vec![OpenAi, Gemini]),
        ("a cycle", recursive(&["Node"]), vec![OpenAi, Gemini, LlamaCpp]),
        ("two cycles with the same rule", recursive(&["a_b", "a.b"]), vec![OpenAi, Gemini]),
        ("a reference to itself alone", of_itself(&json!({ "$ref": "#/$defs/A" })), vec![OpenAi, Gemini]),
        (
            "the same among others",
            of_itself(&json!({ "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }] })),
            vec![OpenAi, Gemini],
        ),
        ("a huge length", string("maxLength", json!(2000)), vec![]),
        ("a fraction of a length", string("maxLength", json!(3.5)), vec![]),
        ("a huge count", array("maxItems", json!(100_000)), vec![OpenAi, Gemini]),
        (
            "a bound of sixteen digits",
            integer("minimum", json!(2_000_000_000_000_000_u64)),
            vec![OpenAi, Gemini],
        ),
        ("an escape that is repeated", string("pattern", json!(r"^a\.+$")), vec![Anthropic, OpenAi]),
        ("an escape in a class", string("pattern", json!(r"^[\.]$")), vec![Anthropic, OpenAi]),
        ("a letter of two bytes, repeated", string("pattern", json!("^é+$")), vec![Anthropic, OpenAi]),
        ("a name of nothing", named(""), vec![Anthropic, OpenAi, Gemini]),
        ("a name of a keyword", named("$ref"), vec![Anthropic, OpenAi, Gemini]),
        ("a long name", named(&"ü".repeat(20_000)), vec![Anthropic, OpenAi, Gemini]),
        ("an odd name", named("a b\"]\\"), vec![Anthropic, OpenAi, Gemini, Ollama, LlamaCpp]),
        ("an odd name among others", open_beside("a]"), vec![Gemini]),
        ("a plain name among others", open_beside("a"), vec![Gemini, Ollama, LlamaCpp]),
        ("maxLength", string("maxLength", json!(3)), vec![Ollama, LlamaCpp]),
        ("a loose pattern", string("pattern", json!("x+")), vec![Anthropic, OpenAi]),
        (
            "an anchored pattern",
            string("pattern", json!("^[0-9]+$")),
            vec![Anthropic, OpenAi, Ollama, LlamaCpp],
        ),
        ("a look-ahead", string("pattern", json!("^(?=x)x$")), vec![]),
        ("format uri", string("format", json!("uri")), vec![Anthropic]),
        ("format date", string("format", json!("date")), vec![Anthropic, OpenAi, Gemini, Ollama, LlamaCpp]),
        ("minimum", integer("minimum", json!(1)), vec![OpenAi, Gemini, Ollama, LlamaCpp]),
        ("exclusiveMinimum", integer("exclusiveMinimum", json!(1)), vec![OpenAi, Ollama, LlamaCpp]),
        ("multipleOf", integer("multipleOf", json!(2)), vec![OpenAi]),
        (
            "one element at least",
            array("minItems", json!(1)),
            vec![Anthropic, OpenAi, Gemini, Ollama, LlamaCpp],
        ),
        ("two elements at least", array("minItems", json!(2)), vec![OpenAi, Gemini, Ollama, LlamaCpp]),
        ("uniqueItems", array("uniqueItems", json!(true)), vec![]),
        ("const", string("const", json!("x")), vec![Anthropic, OpenAi, LlamaCpp]),
        ("default", string("default", json!("x")), vec![Anthropic]),
        ("an enum of booleans", of(json!({ "enum": [true] })), vec![Anthropic, OpenAi, Ollama, LlamaCpp]),
        ("an enum of lists", of(json!({ "enum": [[1]] })), vec![]),
        ("not", of(json!({ "not": { "type": "string" } })), vec![]),
        ("a reference to nothing", of(json!({ "$ref": "#/$defs/none" })), vec![]),
        ("a reference elsewhere", of(json!({ "$ref": "https://example.com/x.json" })), vec![]),
    ] {
        for service in [Anthropic, OpenAi, Gemini, Ollama, LlamaCpp] {
            let failure = refused(service, &native(schema.clone())).await;
            assert_eq!(failure.is_none(), takers.contains(&service), "{what}, {service:?}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn what_does_not_go_together_is_refused() {
    let schema = object(&json!({ "n": { "type": "integer" } }), &["n"]);
    let server = Service::Gemini.server([]);
    let old = Gemini::new("gemini-2.5-flash", "k").base_url(server.url());
    let mut request = native(schema.clone());
    request.tools = vec![ToolSpec::new("count", "Counts.", json!({ "type": "object" }))];
    let failure = old.answer(&request, &mut |_| {}).await.unwrap_err();
    assert!(failure.message.contains("response mime type"), "{failure}");

    let server = Service::Anthropic.server([]);
    let new = Anthropic::new("claude-opus-5-5", "k").base_url(server.url());
    let failure = new.answer(&forced(schema.clone()), &mut |_| {}).await.unwrap_err();
    assert!(failure.message.contains("forced tool use is not supported"), "{failure}");

    // An old model is made to call a tool all the same, without a word that it does not know.
    let server = Service::Anthropic.server([Reply::tool("result", json!({ "n": 3 }))]);
    let forcing = Capabilities::of(Dialect::Anthropic).with_forced_tool();
    let old = Anthropic::new("claude-3-7-sonnet-20250219", "k").base_url(server.url()).declares(forcing);
    assert_eq!(old.answer(&forced(schema.clone()), &mut |_| {}).await.unwrap().calls.len(), 1);
    let failure = old.answer(&native(schema), &mut |_| {}).await.unwrap_err();
    assert!(failure.message.contains("not permitted"), "{failure}");
}
