//! What a conversation must be, service by service: every call is answered, by an id of the form that the service has, and
//! nothing is answered that was not called.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Refusal;
use super::requests::{Verdict, list, refuse};

/// Anthropic: the results of all calls of a message stand at the beginning of the next one.
pub(super) fn messages(body: &Value) -> Verdict {
    let mut called = BTreeSet::new();
    for message in list(&body["messages"]) {
        let content = list(&message["content"]);
        let results = ids(content, "tool_result", "tool_use_id");
        if results != called {
            return refuse(
                "`tool_use` ids were found without `tool_result` blocks immediately after, or the reverse",
            );
        }
        called = ids(content, "tool_use", "id");
        if called.iter().any(|id| !is_plain(id)) {
            return refuse("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
        }
        if !called.is_empty() && list(&body["tools"]).is_empty() {
            return refuse("Requests which include `tool_use` or `tool_result` blocks must define tools");
        }
    }
    all_answered(&called)
}

/// Chat completions: the results of all calls of a message follow it, each as one of its own.
pub(super) fn chat(body: &Value) -> Verdict {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for message in list(&body["messages"]) {
        if message["role"] == "tool" {
            if !called.remove(message["tool_call_id"].as_str().unwrap_or_default()) {
                return refuse(
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
                );
            }
            continue;
        }
        all_answered(&called)?;
        called = list(&message["tool_calls"]).iter().filter_map(|call| call["id"].as_str()).collect();
    }
    all_answered(&called)
}

/// OpenAI itself counts the characters of an id; servers like it do not.
pub(super) fn short_ids(body: &Value) -> Verdict {
    let calls = list(&body["messages"]).iter().flat_map(|message| list(&message["tool_calls"]));
    at_most(40, calls.filter_map(|call| call["id"].as_str()))
}

/// Responses: calls and their results are items, told together by their ids.
pub(super) fn responses(body: &Value) -> Verdict {
    let items = list(&body["input"]);
    let called = ids(items, "function_call", "call_id");
    if called != ids(items, "function_call_output", "call_id") {
        return refuse(
            "No tool output found for function call, or no tool call found for function call output",
        );
    }
    at_most(64, called.into_iter())
}

/// Gemini: as many results as calls; since version 3, the first call of each answer in the current turn is sealed.
pub(super) fn gemini(path: &str, body: &Value) -> Verdict {
    let contents = list(&body["contents"]);
    let mut calls = 0;
    for content in contents {
        let parts = |key: &str| list(&content["parts"]).iter().filter(|part| part[key].is_object()).count();
        if parts("functionResponse") != calls {
            return refuse("the number of function response parts is not that of the function call parts");
        }
        calls = parts("functionCall");
    }
    let asks = |content: &Value| list(&content["parts"]).iter().any(|part| part["text"].is_string());
    let turn = contents.iter().rposition(|content| content["role"] == "user" && asks(content)).unwrap_or(0);
    let first = |content: &'_ Value| {
        list(&content["parts"]).iter().find(|part| part["functionCall"].is_object()).cloned()
    };
    let unsealed = contents[turn..].iter().filter_map(first).any(|call| call["thoughtSignature"].is_null());
    if unsealed && path.contains("/gemini-3") {
        return refuse("Function call is missing a thought_signature in functionCall parts");
    }
    Ok(())
}

fn all_answered(called: &BTreeSet<&str>) -> Verdict {
    match called.first() {
        None => Ok(()),
        Some(id) => refuse(format!("the call `{id}` has no result")),
    }
}

fn ids<'v>(items: &'v [Value], kind: &str, key: &str) -> BTreeSet<&'v str> {
    items.iter().filter(|item| item["type"] == kind).filter_map(|item| item[key].as_str()).collect()
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn at_most<'v>(longest: usize, mut ids: impl Iterator<Item = &'v str>) -> Verdict {
    match ids.find(|id| id.len() > longest) {
        None => Ok(()),
        Some(id) => Err(Refusal::from(format!(
            "string too long. Expected a string with maximum length {longest}, but got a string with length {}",
            id.len()
        ))),
    }
}
