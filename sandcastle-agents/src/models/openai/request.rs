//! What a server of chat completions is asked: the body of `POST /chat/completions`.

use std::borrow::Cow;

use sandcastle_core::model::{Message, ModelRequest, ToolCall, ToolChoice, ToolSpec, WireSchema};
use serde_json::{Value, json};

use super::accent::{Accent, CallIds, LimitName, NamedTool, Routing, Strict};
use crate::models::wire::{arguments_text, decimal, messages, plain_id, set, tool_text};

pub(crate) fn body(model: &str, accent: Accent, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": messages(request, |said| message(accent.ids, said)),
    });
    let tools: Vec<_> = offered(accent, request).map(|spec| tool(accent, spec)).collect();
    if !tools.is_empty() {
        set(&mut body, "tools", Some(tools));
        set(&mut body, "tool_choice", tool_choice(accent, &request.tool_choice));
    }
    set(&mut body, "response_format", request.schema.as_ref().map(response_format));
    let limit = match accent.limit {
        LimitName::MaxTokens => "max_tokens",
        LimitName::MaxCompletionTokens => "max_completion_tokens",
    };
    set(&mut body, limit, request.max_output_tokens);
    set(&mut body, "temperature", request.temperature.and_then(decimal));
    if accent.routing == Routing::RequireParameters {
        set(&mut body, "provider", Some(json!({ "require_parameters": true })));
    }
    body
}

/// The tools that are offered: only the one that has to be called where a name alone would not be heard.
fn offered(accent: Accent, request: &ModelRequest) -> impl Iterator<Item = &ToolSpec> {
    let only = match (&request.tool_choice, accent.named_tool) {
        (ToolChoice::Named(name), NamedTool::ByBeingTheOnlyOne) => Some(name),
        _ => None,
    };
    request.tools.iter().filter(move |tool| only.is_none_or(|only| tool.name == *only))
}

fn tool(accent: Accent, tool: &ToolSpec) -> Value {
    let mut function =
        json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
    let strict = tool.strict && accent.strict == Strict::Said;
    set(&mut function, "strict", strict.then_some(true));
    json!({ "type": "function", "function": function })
}

fn tool_choice(accent: Accent, choice: &ToolChoice) -> Option<Value> {
    match (choice, accent.named_tool) {
        (ToolChoice::Named(name), NamedTool::ByName) => {
            Some(json!({ "type": "function", "function": { "name": name } }))
        }
        (ToolChoice::Any | ToolChoice::Named(_), _) => Some("required".into()),
        _ => None,
    }
}

fn response_format(schema: &WireSchema) -> Value {
    json!({
        "type": "json_schema",
        "json_schema": { "name": schema.name, "strict": true, "schema": schema.schema },
    })
}

/// A message, unless nothing is said in it.
fn message(ids: CallIds, message: &Message) -> Option<Value> {
    match message {
        Message::User { text } => Some(json!({ "role": "user", "content": text })),
        Message::Assistant { text, calls, .. } if calls.is_empty() => {
            (!text.is_empty()).then(|| json!({ "role": "assistant", "content": text }))
        }
        Message::Assistant { text, calls, .. } => {
            let content = (!text.is_empty()).then_some(text);
            let calls: Vec<_> = calls.iter().map(|said| call(ids, said)).collect();
            Some(json!({ "role": "assistant", "content": content, "tool_calls": calls }))
        }
        Message::ToolResult { call, content, is_error, .. } => Some(json!({
            "role": "tool", "tool_call_id": id(ids, call), "content": tool_text(content, *is_error),
        })),
        _ => None,
    }
}

fn call(ids: CallIds, call: &ToolCall) -> Value {
    json!({
        "id": id(ids, &call.id), "type": "function",
        "function": { "name": call.name, "arguments": arguments_text(call) },
    })
}

fn id(ids: CallIds, call: &str) -> Cow<'_, str> {
    match ids {
        CallIds::AsGiven => call.into(),
        CallIds::Short => plain_id(call, 40),
    }
}
