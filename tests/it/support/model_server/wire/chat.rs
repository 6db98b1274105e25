//! OpenAI Chat Completions: an answer as chunks of one message, whose pieces of text are run together.

use serde_json::{Value, json};

use super::{Event, Part, Stop, Turn, chunks};

/// The answer as a stream.
pub(super) fn events(turn: &Turn<'_>) -> Vec<Event> {
    if let Stop::ErrorEvent(kind) = turn.stop {
        let error = json!({ "type": kind, "code": kind, "message": "a scripted error in the stream" });
        return vec![Event(json!({ "error": error }))];
    }
    let mut events = vec![chunk(turn, &json!({ "role": "assistant", "content": "" }), &Value::Null)];
    for (index, part) in turn.parts.iter().enumerate() {
        events.extend(deltas(turn, index, part).iter().map(|delta| chunk(turn, delta, &Value::Null)));
        if turn.breaks_off_in(index) {
            return events;
        }
    }
    events.push(chunk(turn, &json!({}), &finish_reason(turn).into()));
    let mut counted = completion(turn, "chat.completion.chunk");
    counted["choices"] = json!([]);
    counted["usage"] = usage(turn);
    events.push(Event(counted));
    events.push(Event("[DONE]".into()));
    events
}

/// The answer as one object, for a request that does not stream.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let text: String = turn
        .parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect();
    let calls: Vec<Value> =
        turn.parts.iter().enumerate().filter_map(|(index, part)| call(turn, index, part)).collect();
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut whole = completion(turn, "chat.completion");
    whole["choices"] = json!([{ "index": 0, "message": message, "finish_reason": finish_reason(turn) }]);
    whole["usage"] = usage(turn);
    whole
}

fn completion(turn: &Turn<'_>, object: &str) -> Value {
    json!({ "id": turn.id("chatcmpl"), "object": object, "created": 0, "model": turn.model })
}

fn chunk(turn: &Turn<'_>, delta: &Value, finish_reason: &Value) -> Event {
    let mut chunk = completion(turn, "chat.completion.chunk");
    chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish_reason }]);
    Event(chunk)
}

fn deltas(turn: &Turn<'_>, index: usize, part: &Part) -> Vec<Value> {
    match part {
        // A refusal is said in a place of its own.
        Part::Text(text) if *turn.stop == Stop::Refused => vec![json!({ "content": null, "refusal": text })],
        Part::Text(text) => chunks(text).map(|chunk| json!({ "content": chunk })).collect(),
        Part::Thinking(text) => vec![json!({ "reasoning_content": text })],
        Part::Call { .. } | Part::TextCall { .. } => {
            vec![json!({ "tool_calls": call(turn, index, part).into_iter().collect::<Vec<_>>() })]
        }
    }
}

/// A call, if the part is one. Tools take objects here, never plain text.
fn call(turn: &Turn<'_>, index: usize, part: &Part) -> Option<Value> {
    let (name, arguments) = match part {
        Part::Call { name, arguments } => (name, arguments.clone()),
        Part::TextCall { name, input } => (name, json!({ "input": input })),
        Part::Text(_) | Part::Thinking(_) => return None,
    };
    // Calls are counted apart from the other parts.
    let number = turn.parts.iter().take(index).filter(|part| is_call(part)).count();
    Some(json!({
        "index": number, "id": turn.part_id("call", index), "type": "function",
        "function": { "name": name, "arguments": arguments.to_string() },
    }))
}

fn is_call(part: &Part) -> bool {
    matches!(part, Part::Call { .. } | Part::TextCall { .. })
}

fn finish_reason(turn: &Turn<'_>) -> &'static str {
    match turn.stop {
        Stop::OutputLimit | Stop::ContextLimit => "length",
        Stop::Filtered => "content_filter",
        Stop::Refused => "stop",
        _ if turn.parts.iter().any(is_call) => "tool_calls",
        _ => "stop",
    }
}

fn usage(turn: &Turn<'_>) -> Value {
    json!({
        "prompt_tokens": turn.usage.all_input(),
        "prompt_tokens_details": { "cached_tokens": turn.usage.read, "cache_write_tokens": turn.usage.written },
        "completion_tokens": turn.usage.output,
        "total_tokens": turn.usage.all_input() + turn.usage.output,
    })
}
