//! Hostile streams, for every reader: whatever comes, none of them panics, and words for a person are bounded by what came.

use proptest::prelude::*;
use sandcastle_core::model::ModelFailure;
use serde_json::{Value, json};

use crate::models::endpoint::{Progress, Reader, Wire};
use crate::models::{Anthropic, Gemini, Ollama, OpenAi, OpenAiResponses};

/// Events that reach deep into the readers.
fn events() -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": { "model": "m", "usage": { "input_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "i", "name": "n" } }),
        json!({ "type": "content_block_start", "index": 2, "content_block": { "type": "thinking", "signature": "s" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "x" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "x" } }),
        json!({ "choices": [{ "delta": { "content": "x", "refusal": null }, "finish_reason": null }], "usage": null }),
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "i", "function": { "name": "n", "arguments": "{" } }] } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 3, "cost": 0.1 } }),
        json!({ "type": "response.output_text.delta", "delta": "x" }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "name": "n" } }),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [
            { "type": "message", "content": [{ "type": "output_text", "text": "x" }] },
            { "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e" },
        ] } }),
        json!({ "candidates": [{ "content": { "parts": [
            { "text": "x", "thoughtSignature": "s" }, { "functionCall": { "name": "n", "args": {} } },
        ] }, "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 3 } }),
        json!({ "promptFeedback": { "blockReason": "SAFETY" } }),
        json!({ "message": { "content": "x", "tool_calls": [{ "function": { "name": "n", "arguments": {} } }] }, "done": false }),
        json!({ "done": true, "done_reason": "stop", "eval_count": 7 }),
        json!("[DONE]"),
    ]
}

/// What stands in the place of a good value.
fn wrong() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("[DONE]"),
        json!("x".repeat(3000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({ "type": "text", "message": {}, "error": [] }),
    ]
}

/// Every place in a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| places(value, &format!("{at}/{i}"), found))
        }
        _ => {}
    }
}

fn read<W: Wire>(wire: &W, stream: &[String]) {
    let mut reader = wire.reader();
    let mut failed: Option<ModelFailure> = None;
    for event in stream {
        match reader.read(event, &mut |_| {}) {
            Ok(Progress::Open) => {}
            Ok(Progress::Complete) => break,
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
    }
    let _ = reader.usage().total_tokens();
    let came: usize = stream.iter().map(String::len).sum();
    let failure = failed.or_else(|| reader.finish().err());
    assert!(failure.is_none_or(|failure| failure.message.len() <= came + 300));
}

proptest! {
    #[test]
    fn no_stream_makes_a_reader_panic(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<Option<prop::sample::Index>>()), 0..12),
        noise in ".{0,20}",
    ) {
        let (events, wrong) = (events(), wrong());
        let mut stream: Vec<String> = picks.iter().map(|(event, place, other)| {
            let mut event = event.get(&events).clone();
            let mut found = Vec::new();
            places(&event, "", &mut found);
            if let (Some(other), Some(value)) = (other, event.pointer_mut(place.get::<String>(&found))) {
                *value = other.get(&wrong).clone();
            }
            event.as_str().map_or_else(|| event.to_string(), str::to_owned)
        }).collect();
        stream.push(noise);
        read(&Anthropic::new("m", "k"), &stream);
        read(&OpenAi::new("m", "k"), &stream);
        read(&OpenAiResponses::new("m", "k"), &stream);
        read(&Gemini::new("m", "k"), &stream);
        read(&Ollama::new("m"), &stream);
    }
}
