//! What Gemini is asked: the body of `POST /v1beta/models/MODEL:streamGenerateContent`.

use sandcastle_core::model::{Message, ModelRequest, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::models::wire::{arguments_object, decimal, given_id, set};

/// What the service's documentation has in the place of a seal, for calls of another model; only the first call of an answer
/// has one.
const UNSEALED: &str = "skip_thought_signature_validator";

pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let mut body = json!({ "contents": contents(model, &request.messages) });
    let system = request.system.as_deref().filter(|system| !system.is_empty());
    set(&mut body, "systemInstruction", system.map(|system| json!({ "parts": [{ "text": system }] })));
    if !request.tools.is_empty() {
        let functions: Vec<_> = request.tools.iter().map(function).collect();
        set(&mut body, "tools", Some(json!([{ "functionDeclarations": functions }])));
        let config = calling(&request.tool_choice);
        set(&mut body, "toolConfig", config.map(|config| json!({ "functionCallingConfig": config })));
    }
    set(&mut body, "generationConfig", generation(request));
    body
}

fn generation(request: &ModelRequest) -> Option<Value> {
    let mut config = json!({});
    if let Some(schema) = &request.schema {
        set(&mut config, "responseMimeType", Some("application/json"));
        set(&mut config, "responseJsonSchema", Some(schema.schema.clone()));
    }
    set(&mut config, "maxOutputTokens", request.max_output_tokens);
    set(&mut config, "temperature", request.temperature.and_then(decimal));
    (config != json!({})).then_some(config)
}

fn function(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema })
}

fn calling(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Any => Some(json!({ "mode": "ANY" })),
        ToolChoice::Named(name) => Some(json!({ "mode": "ANY", "allowedFunctionNames": [name] })),
        _ => None,
    }
}

/// The conversation. Parts of one side that follow each other belong to one content.
fn contents(model: &str, conversation: &[Message]) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in conversation {
        let (role, parts) = parts(model, message);
        match contents.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, content)) if *last == role => content.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    contents.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn parts(model: &str, message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", text_part(text).into_iter().collect()),
        Message::Assistant { text, calls, replay } => {
            let parts = replay.as_ref().and_then(|replay| replayed(model, replay));
            ("model", parts.unwrap_or_else(|| said(model, text, calls)))
        }
        Message::ToolResult { call, name, content, is_error } => {
            let response = if *is_error { json!({ "error": content }) } else { json!({ "output": content }) };
            let mut part = json!({ "name": name, "response": response });
            set(&mut part, "id", given_id(call));
            ("user", vec![json!({ "functionResponse": part })])
        }
        _ => ("user", Vec::new()),
    }
}

/// What was said and called, without what the service seals.
fn said(model: &str, text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let mut calls: Vec<_> = calls.iter().map(call).collect();
    if let Some(first) = calls.first_mut().filter(|_| wants_seals(model)) {
        set(first, "thoughtSignature", Some(UNSEALED));
    }
    text_part(text).into_iter().chain(calls).collect()
}

/// Since version 3 a call of the current turn is refused without the seal of the model's thoughts.
fn wants_seals(model: &str) -> bool {
    let version = model.trim_start_matches("models/").strip_prefix("gemini-");
    version.is_some_and(|version| !version.starts_with("1.") && !version.starts_with("2."))
}

fn text_part(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({ "text": text }))
}

fn call(call: &ToolCall) -> Value {
    let mut part = json!({ "name": call.name, "args": arguments_object(call) });
    set(&mut part, "id", given_id(&call.id));
    json!({ "functionCall": part })
}

/// What the service wants to see again, for the model that it is from.
pub(super) fn replay(model: &str, parts: &[Value]) -> Value {
    json!({ "gemini": model, "parts": parts })
}

fn replayed(model: &str, replay: &Value) -> Option<Vec<Value>> {
    (replay["gemini"] == model).then(|| replay["parts"].as_array().cloned())?
}
