//! What the Responses API is asked: the body of `POST /responses`.

use std::borrow::Cow;

use sandcastle_core::model::{Message, ModelRequest, ToolCall, ToolChoice, ToolSpec, WireSchema};
use serde_json::{Value, json};

use crate::models::wire::{arguments_text, decimal, plain_id, set, tool_text};

/// Whether the model's thoughts are asked for, sealed, to be sent back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    None,
    Wanted,
}

pub(super) fn body(model: &str, wanted: Replay, request: &ModelRequest) -> Value {
    let input: Vec<_> = request.messages.iter().flat_map(|message| items(model, message)).collect();
    // Nothing is kept at the service: what it has to see again is sent again.
    let mut body = json!({ "model": model, "stream": true, "store": false });
    set(&mut body, "instructions", request.system.as_deref().filter(|system| !system.is_empty()));
    set(&mut body, "input", Some(input));
    if !request.tools.is_empty() {
        set(&mut body, "tools", Some(request.tools.iter().map(tool).collect::<Vec<_>>()));
        set(&mut body, "tool_choice", tool_choice(&request.tool_choice));
    }
    set(&mut body, "text", request.schema.as_ref().map(format));
    set(&mut body, "max_output_tokens", request.max_output_tokens);
    set(&mut body, "temperature", request.temperature.and_then(decimal));
    set(&mut body, "include", (wanted == Replay::Wanted).then(|| json!(["reasoning.encrypted_content"])));
    body
}

/// Here a tool is strict unless it says that it is not.
fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description,
        "parameters": tool.input_schema, "strict": tool.strict,
    })
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Any => Some("required".into()),
        ToolChoice::Named(name) => Some(json!({ "type": "function", "name": name })),
        _ => None,
    }
}

fn format(schema: &WireSchema) -> Value {
    json!({
        "format": { "type": "json_schema", "name": schema.name, "strict": true, "schema": schema.schema },
    })
}

/// The items of a message; none if nothing is said in it.
fn items(model: &str, message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } => vec![json!({ "role": "user", "content": text })],
        Message::Assistant { text, calls, replay } => {
            replay.as_ref().and_then(|replay| replayed(model, replay)).unwrap_or_else(|| {
                let said = (!text.is_empty()).then(|| json!({ "role": "assistant", "content": text }));
                said.into_iter().chain(calls.iter().map(call)).collect()
            })
        }
        Message::ToolResult { call, content, is_error, .. } => vec![json!({
            "type": "function_call_output", "call_id": id(call), "output": tool_text(content, *is_error),
        })],
        _ => Vec::new(),
    }
}

pub(super) fn call(call: &ToolCall) -> Value {
    json!({
        "type": "function_call", "call_id": id(&call.id), "name": call.name, "arguments": arguments_text(call),
    })
}

/// The service takes 64 characters.
fn id(call: &str) -> Cow<'_, str> {
    plain_id(call, 64)
}

/// What the service wants to see again, for the model that it is from.
pub(super) fn replay(model: &str, items: &[Value]) -> Value {
    json!({ "openai-responses": model, "items": items })
}

fn replayed(model: &str, replay: &Value) -> Option<Vec<Value>> {
    (replay["openai-responses"] == model).then(|| replay["items"].as_array().cloned())?
}
