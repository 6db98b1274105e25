//! Anthropic Messages: an answer as content blocks, each opened, filled and closed.

use serde_json::{Value, json};

use super::{Event, Part, Stop, Turn, chunks};

/// A signature that only has to be there: nobody checks it on this side.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// The answer as a stream.
pub(super) fn events(turn: &Turn<'_>) -> Vec<Event> {
    let mut events = vec![Event(json!({ "type": "message_start", "message": opening(turn) }))];
    if let Stop::ErrorEvent(kind) = turn.stop {
        let error = json!({ "type": kind, "message": "a scripted error in the stream" });
        events.push(Event(json!({ "type": "error", "error": error })));
        return events;
    }
    for (index, part) in turn.parts.iter().enumerate() {
        let (opened, deltas) = block(turn, index, part);
        events.push(Event(json!({ "type": "content_block_start", "index": index, "content_block": opened })));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| Event(json!({ "type": "content_block_delta", "index": index, "delta": delta }))),
        );
        if turn.breaks_off_in(index) {
            return events;
        }
        events.push(Event(json!({ "type": "content_block_stop", "index": index })));
    }
    let delta = json!({ "stop_reason": stop_reason(turn), "stop_sequence": null });
    let usage = json!({ "output_tokens": turn.usage.output });
    events.push(Event(json!({ "type": "message_delta", "delta": delta, "usage": usage })));
    events.push(Event(json!({ "type": "message_stop" })));
    events
}

/// The answer as one object, for a request that does not stream.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let mut message = opening(turn);
    message["content"] =
        turn.parts.iter().enumerate().map(|(index, part)| content(turn, index, part)).collect();
    message["stop_reason"] = stop_reason(turn).into();
    message["usage"]["output_tokens"] = turn.usage.output.into();
    message
}

/// The message before its content. Its output tokens are a first guess, as in the real service.
fn opening(turn: &Turn<'_>) -> Value {
    json!({
        "id": turn.id("msg"),
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": turn.usage.input,
            "output_tokens": 1,
            "cache_creation_input_tokens": turn.usage.written,
            "cache_read_input_tokens": turn.usage.read,
        },
    })
}

/// A block as it is opened, and the deltas that fill it.
fn block(turn: &Turn<'_>, index: usize, part: &Part) -> (Value, Vec<Value>) {
    match part {
        Part::Text(text) => (
            json!({ "type": "text", "text": "" }),
            chunks(text).map(|chunk| json!({ "type": "text_delta", "text": chunk })).collect(),
        ),
        Part::Thinking(text) => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": text }),
                json!({ "type": "signature_delta", "signature": SIGNATURE }),
            ],
        ),
        Part::Call { name, arguments } => (
            json!({ "type": "tool_use", "id": turn.part_id("toolu", index), "name": name, "input": {} }),
            vec![json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })],
        ),
        Part::TextCall { name, input } => block(turn, index, &as_call(name, input)),
    }
}

/// A block with its content in place.
fn content(turn: &Turn<'_>, index: usize, part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Thinking(text) => json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }),
        Part::Call { name, arguments } => {
            json!({ "type": "tool_use", "id": turn.part_id("toolu", index), "name": name, "input": arguments })
        }
        Part::TextCall { name, input } => content(turn, index, &as_call(name, input)),
    }
}

/// Tools take objects here, never plain text.
fn as_call(name: &str, input: &str) -> Part {
    Part::Call { name: name.to_owned(), arguments: json!({ "input": input }) }
}

fn stop_reason(turn: &Turn<'_>) -> &'static str {
    let calls = turn.parts.iter().any(|part| matches!(part, Part::Call { .. } | Part::TextCall { .. }));
    match turn.stop {
        Stop::OutputLimit => "max_tokens",
        Stop::ContextLimit => "model_context_window_exceeded",
        Stop::Refused | Stop::Filtered => "refusal",
        _ if calls => "tool_use",
        _ => "end_turn",
    }
}
