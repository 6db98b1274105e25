//! Gemini: an answer as partial contents, of which the last one says why the answer ends and what it used.

use serde_json::{Value, json};

use super::{Answer, Event, Part, Refusal, Stop, Turn, chunks};

/// The answer as a stream.
pub(super) fn events(turn: &Turn<'_>) -> Vec<Event> {
    if let Stop::ErrorEvent(kind) = turn.stop {
        let error = json!({ "code": 503, "message": "a scripted error in the stream", "status": kind });
        return vec![Event(json!({ "error": error }))];
    }
    let mut contents: Vec<Value> =
        turn.parts.iter().flat_map(pieces).map(|part| content(turn, &part)).collect();
    if turn.parts.last().is_some() && turn.breaks_off_in(turn.parts.len() - 1) {
        return contents.into_iter().map(Event).collect();
    }
    let mut last = contents.pop().unwrap_or_else(|| content(turn, &json!({ "text": "" })));
    last["candidates"][0]["finishReason"] = match turn.stop {
        Stop::OutputLimit | Stop::ContextLimit => "MAX_TOKENS",
        Stop::Filtered | Stop::Refused => "SAFETY",
        _ => "STOP",
    }
    .into();
    last["usageMetadata"] = json!({
        "promptTokenCount": turn.usage.all_input(),
        "cachedContentTokenCount": turn.usage.read,
        "candidatesTokenCount": turn.usage.output,
        "totalTokenCount": turn.usage.all_input() + turn.usage.output,
    });
    contents.push(last);
    contents.into_iter().map(Event).collect()
}

/// A refusal in the service's own shape, whose `code` is a number.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let Refusal { status, kind, message, headers } = refusal;
    let body = json!({ "error": { "code": status, "message": message, "status": kind.to_uppercase() } });
    Answer::Whole { status: *status, headers: headers.clone(), body }
}

fn pieces(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(text) => chunks(text).map(|chunk| json!({ "text": chunk })).collect(),
        Part::Thinking(text) => vec![json!({ "text": text, "thought": true })],
        Part::Call { name, arguments } => {
            vec![json!({ "functionCall": { "name": name, "args": arguments } })]
        }
        // Tools take objects here, never plain text.
        Part::TextCall { name, input } => {
            vec![json!({ "functionCall": { "name": name, "args": { "input": input } } })]
        }
    }
}

fn content(turn: &Turn<'_>, part: &Value) -> Value {
    let content = json!({ "role": "model", "parts": [part] });
    json!({ "candidates": [{ "content": content, "index": 0 }], "modelVersion": turn.model })
}
