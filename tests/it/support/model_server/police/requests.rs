//! What a request as a whole must be, service by service: what goes together, what is named, what is missing.

use hyper::http::request::Parts;
use serde_json::Value;

use super::keywords::{ANTHROPIC, GEMINI, LLAMA_CPP, OLLAMA, OPENAI};
use super::schema::{Rules, judge_schema};
use super::{Law, Refusal, conversation};
use crate::support::model_server::wire::Protocol;

pub(super) type Verdict = Result<(), Refusal>;

pub(super) fn judge(law: Law, protocol: Protocol, parts: &Parts, body: &Value) -> Verdict {
    match (protocol, law) {
        (Protocol::Messages, _) => messages(parts, body),
        (Protocol::Responses, _) => responses(body),
        (Protocol::Chat, Law::OfTheService) => chat(body),
        (Protocol::Chat, Law::OfLlamaCpp) => llama_cpp(body),
        (Protocol::Gemini, _) => gemini(parts.uri.path(), body),
        (Protocol::Ollama, _) => ollama(body),
    }
}

pub(super) fn refuse(message: impl Into<String>) -> Verdict {
    Err(Refusal::from(message.into()))
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn schema(value: &Value, rules: &Rules, where_it_is: &str) -> Verdict {
    match value {
        Value::Null => refuse(format!("{where_it_is}: a schema is required")),
        schema => judge_schema(schema, rules).map_err(|problem| format!("{where_it_is}: {problem}").into()),
    }
}

fn messages(parts: &Parts, body: &Value) -> Verdict {
    if !parts.headers.contains_key("anthropic-version") {
        return refuse("anthropic-version: header is required");
    }
    if !body["max_tokens"].is_u64() {
        return refuse("max_tokens: Field required");
    }
    if body["messages"][0]["role"] != "user" {
        return refuse("messages: first message must use the \"user\" role");
    }
    for message in list(&body["messages"]) {
        if list(&message["content"]).is_empty() {
            return refuse("messages: content must not be empty");
        }
        if list(&message["content"]).iter().any(|block| block["type"] == "text" && block["text"] == "") {
            return refuse("messages: text content blocks must be non-empty");
        }
    }
    conversation::messages(body)?;
    let forced = matches!(body["tool_choice"]["type"].as_str(), Some("tool" | "any"));
    let never_forced = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-mythos-5-1"];
    if forced && never_forced.iter().any(|model| body["model"] == *model) {
        return refuse("tool_choice: forced tool use is not supported for this model");
    }
    named_is_offered(&body["tool_choice"]["name"], list(&body["tools"]), |tool| &tool["name"])?;
    let before_4_5 = ["claude-3", "claude-opus-4-2", "claude-sonnet-4-2"];
    let old =
        before_4_5.iter().any(|family| body["model"].as_str().is_some_and(|model| model.starts_with(family)));
    if old && (body["output_config"].is_object() || body["tools"].to_string().contains("\"strict\"")) {
        return refuse("output_config, strict: Extra inputs are not permitted");
    }
    for tool in list(&body["tools"]).iter().filter(|tool| tool["strict"] == true) {
        schema(&tool["input_schema"], &ANTHROPIC, "tools.input_schema")?;
    }
    if body["output_config"]["format"].is_object() {
        schema(&body["output_config"]["format"]["schema"], &ANTHROPIC, "output_config.format.schema")?;
    }
    Ok(())
}

fn chat(body: &Value) -> Verdict {
    conversation::chat(body)?;
    conversation::short_ids(body)?;
    named_is_offered(&body["tool_choice"]["function"]["name"], list(&body["tools"]), |tool| {
        &tool["function"]["name"]
    })?;
    for tool in list(&body["tools"]).iter().filter(|tool| tool["function"]["strict"] == true) {
        schema(&tool["function"]["parameters"], &OPENAI, "Invalid schema for function")?;
    }
    let format = &body["response_format"];
    if format["type"] == "json_schema" {
        named_format(&format["json_schema"])?;
    }
    Ok(())
}

fn responses(body: &Value) -> Verdict {
    if body["store"] != false {
        return refuse("a test must not have its answers stored");
    }
    conversation::responses(body)?;
    named_is_offered(&body["tool_choice"]["name"], list(&body["tools"]), |tool| &tool["name"])?;
    for tool in list(&body["tools"]).iter().filter(|tool| tool["strict"] != false) {
        schema(&tool["parameters"], &OPENAI, "Invalid schema for function")?;
    }
    let format = &body["text"]["format"];
    if format["type"] == "json_schema" {
        named_format(format)?;
    }
    Ok(())
}

/// The strict format of OpenAI: it has a name and a schema.
fn named_format(format: &Value) -> Verdict {
    let Some(name) = format["name"].as_str().filter(|name| is_name(name)) else {
        return refuse("Missing required parameter: 'response_format.json_schema.name'");
    };
    schema(&format["schema"], &OPENAI, &format!("Invalid schema for response_format '{name}'"))
}

fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(letter)
}

/// This server takes the name of a tool for leave to do as the model likes, which nobody should rely on.
fn llama_cpp(body: &Value) -> Verdict {
    conversation::chat(body)?;
    if body["tool_choice"].is_object() {
        return refuse("tool_choice: an object is read as `auto`");
    }
    if body["response_format"]["type"] == "json_schema" {
        schema(&body["response_format"]["json_schema"]["schema"], &LLAMA_CPP, "JSON schema error")?;
    }
    Ok(())
}

fn gemini(path: &str, body: &Value) -> Verdict {
    conversation::gemini(path, body)?;
    let config = &body["generationConfig"];
    let json = config["responseMimeType"] == "application/json";
    let before_3 = path.contains("/gemini-1") || path.contains("/gemini-2");
    if json && before_3 && !list(&body["tools"]).is_empty() {
        return refuse("Function calling with a response mime type: 'application/json' is unsupported");
    }
    if config["responseJsonSchema"].is_object() && !json {
        return refuse("responseJsonSchema needs responseMimeType: 'application/json'");
    }
    let functions = list(&body["tools"][0]["functionDeclarations"]);
    for allowed in list(&body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"]) {
        named_is_offered(allowed, functions, |function| &function["name"])?;
    }
    if json {
        schema(&config["responseJsonSchema"], &GEMINI, "Invalid JSON payload received")?;
    }
    Ok(())
}

/// Here a schema that cannot be made into a grammar is told by status 500.
fn ollama(body: &Value) -> Verdict {
    if !body["tool_choice"].is_null() {
        return refuse("there is no tool_choice");
    }
    let judged = match &body["format"] {
        Value::Null => Ok(()),
        format => judge_schema(format, &OLLAMA),
    };
    judged.map_err(|problem| Refusal {
        status: 500,
        message: format!("invalid JSON schema in format: {problem}"),
    })
}

fn named_is_offered<'b>(
    name: &Value,
    tools: &'b [Value],
    name_of: impl Fn(&'b Value) -> &'b Value,
) -> Verdict {
    if name.is_null() || tools.iter().any(|tool| name_of(tool) == name) {
        return Ok(());
    }
    refuse(format!("tool_choice: {name} is not among the tools"))
}
