//! Ollama: an answer as lines, each with a piece of one message, of which the last one says why the answer ends.

use serde_json::{Value, json};

use super::{Answer, Event, Part, Refusal, Stop, Turn, chunks};

/// The answer as a stream.
pub(super) fn events(turn: &Turn<'_>) -> Vec<Event> {
    if let Stop::ErrorEvent(kind) = turn.stop {
        return vec![Event(json!({ "error": format!("a scripted error in the stream: {kind}") }))];
    }
    let mut events = Vec::new();
    for (index, part) in turn.parts.iter().enumerate() {
        events.extend(messages(part).iter().map(|message| line(turn, message)));
        if turn.breaks_off_in(index) {
            return events;
        }
    }
    events.push(Event(json!({
        "model": turn.model,
        "message": { "role": "assistant", "content": "" },
        "done": true,
        "done_reason": if *turn.stop == Stop::OutputLimit { "length" } else { "stop" },
        "prompt_eval_count": turn.usage.all_input(),
        "eval_count": turn.usage.output,
    })));
    events
}

/// A refusal in the service's own shape: a sentence.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let Refusal { status, message, headers, .. } = refusal;
    Answer::Whole { status: *status, headers: headers.clone(), body: json!({ "error": message }) }
}

fn line(turn: &Turn<'_>, message: &Value) -> Event {
    Event(json!({ "model": turn.model, "message": message, "done": false }))
}

fn messages(part: &Part) -> Vec<Value> {
    let call = |name: &str, arguments: &Value| {
        let call = json!({ "function": { "name": name, "arguments": arguments } });
        vec![json!({ "role": "assistant", "content": "", "tool_calls": [call] })]
    };
    match part {
        Part::Text(text) => {
            chunks(text).map(|chunk| json!({ "role": "assistant", "content": chunk })).collect()
        }
        Part::Thinking(text) => vec![json!({ "role": "assistant", "content": "", "thinking": text })],
        Part::Call { name, arguments } => call(name, arguments),
        // Tools take objects here, never plain text.
        Part::TextCall { name, input } => call(name, &json!({ "input": input })),
    }
}
