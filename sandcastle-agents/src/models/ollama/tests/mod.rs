//! Requests to Ollama as bytes, and its streams as answers.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{ModelStop, ToolChoice};
use serde_json::{Value, json};

use super::Ollama;
use crate::models::endpoint::Wire;
use crate::models::tests::{
    answer, assert_stops, body, conversation, counts, failure, pieces_of, read, schema, with_forced_tool,
    with_schema,
};

fn model() -> Ollama {
    Ollama::new("qwen3:8b")
}

fn said(message: &Value) -> Value {
    json!({ "model": "qwen3:8b", "message": message, "done": false })
}

fn done(reason: &str) -> Value {
    json!({
        "model": "qwen3:8b", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": reason,
        "prompt_eval_count": 10, "eval_count": 7,
    })
}

#[test]
fn a_schema_is_the_format() {
    assert_eq!(
        body(&model(), &with_schema()),
        json!({
            "model": "qwen3:8b", "stream": true, "messages": [{ "role": "user", "content": "how many?" }],
            "format": schema(),
        })
    );
}

#[test]
fn a_tool_cannot_be_forced() {
    let mut any = with_forced_tool();
    any.tool_choice = ToolChoice::Any;
    for request in [with_forced_tool(), any] {
        let failure = model().call(&request).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Request);
        assert!(failure.message.contains("`ollama`"), "{failure}");
    }
}

#[test]
fn a_conversation_is_told_with_its_calls() {
    let body = body(&model(), &conversation());
    assert_eq!(body["options"], json!({ "num_predict": 100, "temperature": 0.2 }));
    assert_eq!(
        body["messages"],
        json!([
            { "role": "system", "content": "You count." },
            { "role": "user", "content": "how many?" },
            { "role": "user", "content": "please" },
            { "role": "assistant", "content": "I look.", "tool_calls": [
                { "function": { "name": "count", "arguments": { "of": "a" } } },
                { "function": { "name": "count", "arguments": { "arguments": "{\"of\":" } } },
            ] },
            { "role": "tool", "tool_name": "count", "content": "3" },
            { "role": "tool", "tool_name": "count", "content": "the tool failed: bad arguments" },
            { "role": "user", "content": "and now?" },
        ])
    );
}

#[test]
fn pieces_are_run_together() {
    let call = json!({ "function": { "name": "count", "arguments": { "of": "a" } } });
    let (read, pieces, _) = read(
        &model(),
        &[
            said(&json!({ "thinking": "hm", "content": "" })),
            said(&json!({ "content": "I " })),
            said(&json!({ "content": "look.", "tool_calls": [call] })),
            done("stop"),
        ],
    );
    let read = read.unwrap();
    assert_eq!(pieces_of(&pieces), ["thinking hm", "text I ", "text look.", "call count"]);
    assert_eq!((read.text.as_str(), counts(&read.usage)), ("I look.", [10, 0, 0, 7]));
    assert_eq!((read.calls[0].arguments.as_str(), read.calls[0].id.is_empty()), (r#"{"of":"a"}"#, false));
}

#[test]
fn every_end_is_told_apart() {
    assert_stops(
        &model(),
        |reason| vec![said(&json!({ "content": "x" })), done(reason)],
        &[
            ("stop", ModelStop::Complete),
            ("length", ModelStop::OutputLimit),
            ("load", ModelStop::Other("load".to_owned())),
        ],
    );
    let old = json!({ "message": { "content": "x" }, "done": true });
    assert_eq!(answer(&model(), &[old]).stop, ModelStop::Complete);
}

#[test]
fn errors_and_damage_are_failures() {
    let error =
        failure(&model(), &[said(&json!({ "content": "x" })), json!({ "error": "the runner stopped" })]);
    assert_eq!((error.kind, error.message.as_str()), (FailureKind::Transport, "the runner stopped"));
    for (what, events) in [
        ("nothing", vec![]),
        ("no end", vec![said(&json!({ "content": "x" }))]),
        ("no JSON", vec![json!("{")]),
        ("another shape", vec![json!({ "done": "yes" })]),
    ] {
        assert_eq!(failure(&model(), &events).kind, FailureKind::Transport, "{what}");
    }
}
