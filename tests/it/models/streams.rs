//! Streams written by hand, for what the scripted model never says: odd events, odd ends, and none.

use serde_json::{Value, json};

use super::Service;
use crate::support::model_server::Reply;

/// How an answer opens, as far as its service has a word for it.
pub(super) fn opening(service: Service) -> Vec<Value> {
    match service {
        Service::Anthropic => vec![
            json!({ "type": "message_start", "message": { "model": "m", "usage": { "input_tokens": 10 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        ],
        Service::Responses => {
            vec![json!({ "type": "response.created", "response": { "status": "in_progress" } })]
        }
        _ => Vec::new(),
    }
}

/// A piece of text.
pub(super) fn text(service: Service, text: &str) -> Value {
    match service {
        Service::Anthropic => json!({
            "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text },
        }),
        Service::OpenAi | Service::LlamaCpp => {
            json!({ "choices": [{ "index": 0, "delta": { "content": text } }] })
        }
        Service::Responses => json!({ "type": "response.output_text.delta", "delta": text }),
        Service::Gemini => json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] }),
        Service::Ollama => json!({ "message": { "role": "assistant", "content": text }, "done": false }),
    }
}

/// The end, for this reason in the service's own words.
pub(super) fn end(service: Service, reason: &str) -> Vec<Value> {
    match service {
        Service::Anthropic => vec![
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 5 } }),
            json!({ "type": "message_stop" }),
        ],
        Service::OpenAi | Service::LlamaCpp => vec![
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }),
            json!("[DONE]"),
        ],
        Service::Responses if reason == "completed" => {
            vec![json!({ "type": "response.completed", "response": { "status": "completed" } })]
        }
        Service::Responses => vec![json!({
            "type": "response.incomplete",
            "response": { "status": "incomplete", "incomplete_details": { "reason": reason } },
        })],
        Service::Gemini => vec![json!({ "candidates": [{ "finishReason": reason }] })],
        Service::Ollama => vec![json!({ "message": { "content": "" }, "done": true, "done_reason": reason })],
    }
}

/// The end of an answer in which everything has been said.
pub(super) fn whole(service: Service) -> Vec<Value> {
    let reason = match service {
        Service::Anthropic => "end_turn",
        Service::Responses => "completed",
        Service::Gemini => "STOP",
        Service::OpenAi | Service::LlamaCpp | Service::Ollama => "stop",
    };
    end(service, reason)
}

/// What says in the middle of a stream that there will be no more of it.
pub(super) fn error(service: Service, name: &str, code: u16, message: &str) -> Value {
    match service {
        Service::Anthropic | Service::Responses => {
            json!({ "type": "error", "error": { "type": name, "message": message } })
        }
        Service::OpenAi | Service::LlamaCpp => {
            json!({ "error": { "type": name, "code": code, "message": message } })
        }
        Service::Gemini => json!({ "error": { "code": code, "message": message, "status": name } }),
        Service::Ollama => json!({ "error": message }),
    }
}

/// An event that a later version of the service may send.
pub(super) fn unheard_of(service: Service) -> Vec<Value> {
    match service {
        Service::Anthropic => vec![
            json!({ "type": "ping" }),
            json!({ "type": "rate_limit_event", "left": 3 }),
            json!({ "type": "content_block_start", "index": 7, "content_block": { "type": "hologram", "text": 1 } }),
            json!({ "type": "content_block_delta", "index": 7, "delta": { "type": "beam", "text": {} } }),
        ],
        Service::OpenAi | Service::LlamaCpp => vec![
            json!({ "object": "rate.limit", "left": 3 }),
            json!({ "choices": [], "usage": null }),
            json!({ "choices": [{ "index": 0, "delta": { "hologram": {} }, "logprobs": null }] }),
        ],
        Service::Responses => vec![
            json!({ "type": "response.hologram.delta", "delta": { "x": 1 } }),
            json!({ "type": "response.output_item.done", "output_index": 3, "item": { "type": "hologram" } }),
        ],
        Service::Gemini => vec![
            json!({ "rateLimit": 3 }),
            json!({ "candidates": [{ "content": { "parts": [{ "hologram": {} }] }, "safetyRatings": [] }] }),
            json!({ "candidates": [] }),
        ],
        Service::Ollama => vec![
            json!({ "status": "loading", "done": false }),
            json!({ "message": { "role": "assistant", "hologram": 1 }, "done": false }),
        ],
    }
}

/// A response of these events.
pub(super) fn reply(service: Service, events: &[Value]) -> Reply {
    let body: String = events.iter().map(|event| framed(service, event)).collect();
    Reply::raw(200, content_type(service), body)
}

/// An event as it is on its way.
pub(super) fn framed(service: Service, event: &Value) -> String {
    let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
    if service == Service::Ollama { format!("{data}\n") } else { format!("data: {data}\n\n") }
}

pub(super) fn content_type(service: Service) -> &'static str {
    if service == Service::Ollama { "application/x-ndjson" } else { "text/event-stream" }
}
