//! OpenAI Responses: an answer as output items, each added, filled and done.

use serde_json::{Value, json};

use super::{Event, Part, Stop, Turn, chunks};

/// The answer as a stream.
pub(super) fn events(turn: &Turn<'_>) -> Vec<Event> {
    let mut events =
        vec![Event(json!({ "type": "response.created", "response": response(turn, "in_progress") }))];
    if let Stop::ErrorEvent(kind) = turn.stop {
        let mut failed = response(turn, "failed");
        failed["error"] = json!({ "code": kind, "message": "a scripted error in the stream" });
        events.push(Event(json!({ "type": "response.failed", "response": failed })));
        return events;
    }
    for (index, part) in turn.parts.iter().enumerate() {
        let done = item(turn, index, part);
        let added = opened(&done);
        events.push(Event(
            json!({ "type": "response.output_item.added", "output_index": index, "item": added }),
        ));
        if let Part::Text(text) = part
            && *turn.stop != Stop::Refused
        {
            events.extend(chunks(text).map(|chunk| text_delta(index, &done["id"], chunk)));
        }
        if turn.breaks_off_in(index) {
            return events;
        }
        events
            .push(Event(json!({ "type": "response.output_item.done", "output_index": index, "item": done })));
    }
    let kind = if incomplete(turn).is_some() { "response.incomplete" } else { "response.completed" };
    events.push(Event(json!({ "type": kind, "response": whole(turn) })));
    events
}

/// The answer as one object: what ends a stream, and all of it for a request that does not stream.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let incomplete = incomplete(turn);
    let mut whole = response(turn, if incomplete.is_some() { "incomplete" } else { "completed" });
    if let Some(reason) = incomplete {
        whole["incomplete_details"] = json!({ "reason": reason });
    }
    whole["output"] = turn.parts.iter().enumerate().map(|(index, part)| item(turn, index, part)).collect();
    whole["usage"] = json!({
        "input_tokens": turn.usage.all_input(),
        "input_tokens_details": { "cached_tokens": turn.usage.read, "cache_write_tokens": turn.usage.written },
        "output_tokens": turn.usage.output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": turn.usage.all_input() + turn.usage.output,
    });
    whole
}

/// Why the answer is not complete, if it is not.
fn incomplete(turn: &Turn<'_>) -> Option<&'static str> {
    match turn.stop {
        Stop::OutputLimit | Stop::ContextLimit => Some("max_output_tokens"),
        Stop::Filtered => Some("content_filter"),
        _ => None,
    }
}

fn response(turn: &Turn<'_>, status: &str) -> Value {
    json!({
        "id": turn.id("resp"),
        "object": "response",
        "status": status,
        "model": turn.model,
        "output": [],
    })
}

/// An item with its content in place.
fn item(turn: &Turn<'_>, index: usize, part: &Part) -> Value {
    let call = || (turn.part_id("fc", index), turn.part_id("call", index));
    match part {
        Part::Text(text) if *turn.stop == Stop::Refused => json!({
            "type": "message",
            "id": turn.part_id("msg", index),
            "role": "assistant",
            "status": "completed",
            "content": [{ "type": "refusal", "refusal": text }],
        }),
        Part::Text(text) => json!({
            "type": "message",
            "id": turn.part_id("msg", index),
            "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Part::Thinking(text) => json!({
            "type": "reasoning",
            "id": turn.part_id("rs", index),
            "summary": [{ "type": "summary_text", "text": text }],
            "encrypted_content": "c2NyaXB0ZWQ=",
        }),
        Part::Call { name, arguments } => {
            let (id, call_id) = call();
            json!({
                "type": "function_call", "id": id, "call_id": call_id, "status": "completed",
                "name": name, "arguments": arguments.to_string(),
            })
        }
        Part::TextCall { name, input } => {
            let (id, call_id) = call();
            json!({
                "type": "custom_tool_call", "id": id, "call_id": call_id, "status": "completed",
                "name": name, "input": input,
            })
        }
    }
}

/// An item as it is added: a message and a reasoning summary are still to be filled.
fn opened(done: &Value) -> Value {
    let mut added = done.clone();
    for filled_later in ["content", "summary"] {
        if let Some(content) = added.get_mut(filled_later) {
            *content = json!([]);
        }
    }
    added["status"] = "in_progress".into();
    added
}

fn text_delta(index: usize, item_id: &Value, delta: &str) -> Event {
    Event(json!({
        "type": "response.output_text.delta",
        "output_index": index,
        "content_index": 0,
        "item_id": item_id,
        "delta": delta,
    }))
}
