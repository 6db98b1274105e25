//! What Ollama is asked: the body of `POST /api/chat`.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{Message, ModelFailure, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::models::wire::{arguments_object, decimal, messages, set, tool_text};

/// # Errors
/// [`FailureKind::Request`] if a tool has to be called: the wire cannot say that, and would leave it to the model.
pub(super) fn body(model: &str, request: &ModelRequest) -> Result<Value, ModelFailure> {
    if request.tool_choice != ToolChoice::Auto {
        let problem = "`ollama` has no way to make a model call a tool";
        return Err(ModelFailure::new(FailureKind::Request, problem));
    }
    let mut body = json!({ "model": model, "stream": true, "messages": messages(request, message) });
    if !request.tools.is_empty() {
        set(&mut body, "tools", Some(request.tools.iter().map(tool).collect::<Vec<_>>()));
    }
    set(&mut body, "format", request.schema.as_ref().map(|schema| schema.schema.clone()));
    let mut options = json!({});
    set(&mut options, "num_predict", request.max_output_tokens);
    set(&mut options, "temperature", request.temperature.and_then(decimal));
    set(&mut body, "options", (options != json!({})).then_some(options));
    Ok(body)
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema },
    })
}

/// A message, unless nothing is said in it.
fn message(message: &Message) -> Option<Value> {
    match message {
        Message::User { text } => Some(json!({ "role": "user", "content": text })),
        Message::Assistant { text, calls, .. } => {
            let mut message = json!({ "role": "assistant", "content": text });
            let calls: Vec<_> = calls.iter().map(call).collect();
            let says_something = !text.is_empty() || !calls.is_empty();
            set(&mut message, "tool_calls", (!calls.is_empty()).then_some(calls));
            says_something.then_some(message)
        }
        Message::ToolResult { name, content, is_error, .. } => Some(json!({
            "role": "tool", "tool_name": name, "content": tool_text(content, *is_error),
        })),
        _ => None,
    }
}

fn call(call: &ToolCall) -> Value {
    json!({ "function": { "name": call.name, "arguments": arguments_object(call) } })
}
