//! What Anthropic is asked: the body of `POST /v1/messages`.

use std::borrow::Cow;

use sandcastle_core::model::{Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::models::wire::{arguments_object, decimal, plain_id, set};

/// Whether the model can be told to keep to the schema of a tool. It came with the structured output; before, the word is
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrictTools {
    Known,
    Unknown,
}

pub(super) fn body(model: &str, max_tokens: u32, strict: StrictTools, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens.unwrap_or(max_tokens),
        "stream": true,
    });
    set(&mut body, "system", request.system.as_deref().filter(|system| !system.is_empty()));
    set(&mut body, "messages", Some(messages(model, &request.messages)));
    if !request.tools.is_empty() {
        set(
            &mut body,
            "tools",
            Some(request.tools.iter().map(|spec| tool(strict, spec)).collect::<Vec<_>>()),
        );
        set(&mut body, "tool_choice", tool_choice(&request.tool_choice));
    }
    let format = request
        .schema
        .as_ref()
        .map(|schema| json!({ "format": { "type": "json_schema", "schema": schema.schema } }));
    set(&mut body, "output_config", format);
    set(&mut body, "temperature", request.temperature.and_then(decimal));
    body
}

fn tool(strict: StrictTools, tool: &ToolSpec) -> Value {
    let mut value =
        json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema });
    let strict = tool.strict && strict == StrictTools::Known;
    set(&mut value, "strict", strict.then_some(true));
    value
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Any => Some(json!({ "type": "any" })),
        ToolChoice::Named(name) => Some(json!({ "type": "tool", "name": name })),
        _ => None,
    }
}

/// The conversation. The service takes no empty messages, and wants all results of one answer's calls in one message.
fn messages(model: &str, conversation: &[Message]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in conversation {
        let (role, blocks) = blocks(model, message);
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn blocks(model: &str, message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", text_block(text).into_iter().collect()),
        Message::Assistant { text, calls, replay } => {
            let blocks = replay.as_ref().and_then(|replay| replayed(model, replay));
            (
                "assistant",
                blocks
                    .unwrap_or_else(|| text_block(text).into_iter().chain(calls.iter().map(call)).collect()),
            )
        }
        Message::ToolResult { call, content, is_error, .. } => {
            let mut block = json!({ "type": "tool_result", "tool_use_id": id(call), "content": content });
            set(&mut block, "is_error", is_error.then_some(true));
            ("user", vec![block])
        }
        _ => ("user", Vec::new()),
    }
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

/// A call, as it is said again.
pub(super) fn call(call: &ToolCall) -> Value {
    json!({ "type": "tool_use", "id": id(&call.id), "name": call.name, "input": arguments_object(call) })
}

/// The service takes letters, digits, `_` and `-`.
fn id(call: &str) -> Cow<'_, str> {
    plain_id(call, 64)
}

/// What the service wants to see again, for the model that it is from: thoughts are signed for it alone.
pub(super) fn replay(model: &str, content: &[Value]) -> Value {
    json!({ "anthropic": model, "content": content })
}

fn replayed(model: &str, replay: &Value) -> Option<Vec<Value>> {
    (replay["anthropic"] == model).then(|| replay["content"].as_array().cloned())?
}
