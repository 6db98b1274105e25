//! What the Responses API answers: items that are opened, filled and closed, and the whole once more at the end.
//!
//! Items count when they are closed; the whole at the end counts more, where a server gives it.

use std::collections::BTreeMap;

use sandcastle_core::Usage;
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{ModelAnswer, ModelFailure, ModelListener, ModelPiece, ModelStop, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use super::request;
use crate::models::endpoint::{Progress, Reader};
use crate::models::http::ErrorBody;
use crate::models::openai::kind_of;
use crate::models::wire::{self, Cached, MAX_CALLS, broken, call_id, tokens};

/// An answer that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    model: String,
    served_by: Option<String>,
    /// Closed items by their place.
    items: BTreeMap<u64, Item>,
    /// Text as it arrived, for an item that is never closed.
    text: String,
    /// The same for the words of a refusal.
    refusal: String,
    end: Option<Whole>,
    /// Of the pieces and the closed items, in bytes.
    size: usize,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    delta: Value,
    item: Option<Item>,
    response: Option<Whole>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// The response as a whole.
#[derive(Debug, Default, Deserialize)]
struct Whole {
    #[serde(default)]
    status: Option<String>,
    model: Option<String>,
    output: Option<Vec<Item>>,
    usage: Option<Counts>,
    incomplete_details: Option<Incomplete>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Default, Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    Message {
        content: Option<Vec<Part>>,
    },
    FunctionCall {
        call_id: Option<String>,
        #[serde(default)]
        name: String,
        arguments: Option<String>,
    },
    Reasoning {
        id: Option<String>,
        #[serde(default)]
        summary: Value,
        encrypted_content: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    OutputText {
        #[serde(default)]
        text: String,
    },
    Refusal {
        #[serde(default)]
        refusal: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "tokens")]
    input_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    output_tokens: u64,
    input_tokens_details: Option<Cached>,
}

impl Answer {
    pub(super) fn of(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }

    fn close(&mut self, index: u64, item: Option<Item>) -> Result<(), ModelFailure> {
        let Some(mut item) = item else { return Ok(()) };
        item.name_the_call();
        if self.items.len() >= MAX_CALLS || self.items.insert(index, item).is_some() {
            return Err(broken(format!("item {index} is closed twice, or is one of too many")));
        }
        Ok(())
    }

    /// Takes the whole. An event that says that it is no whole one is believed, whatever else is said.
    fn end(&mut self, kind: &str, response: Option<Whole>) -> Progress {
        let mut whole = response.unwrap_or_default();
        if kind == "response.incomplete" {
            whole.status = Some("incomplete".to_owned());
        }
        for item in whole.output.iter_mut().flatten() {
            item.name_the_call();
        }
        self.served_by = whole.model.take().or_else(|| self.served_by.take());
        self.end = Some(whole);
        Progress::Complete
    }

    /// The items that count.
    fn counted(&self) -> Vec<&Item> {
        match self.end.as_ref().and_then(|whole| whole.output.as_deref()) {
            Some(output) if !output.is_empty() => output.iter().collect(),
            _ => self.items.values().collect(),
        }
    }
}

impl Item {
    /// A call without an id gets one, once and for all.
    fn name_the_call(&mut self) {
        if let Self::FunctionCall { call_id: id, .. } = self {
            *id = Some(call_id(id.take()));
        }
    }

    fn call(&self) -> Option<ToolCall> {
        let Self::FunctionCall { call_id, name, arguments } = self else { return None };
        let (id, arguments) = (call_id.clone().unwrap_or_default(), arguments.clone().unwrap_or_default());
        Some(ToolCall::new(id, name.clone(), arguments))
    }

    fn parts(&self) -> &[Part] {
        match self {
            Self::Message { content: Some(content) } => content,
            _ => &[],
        }
    }

    /// The item as it is sent again. Its id stays behind, since nothing is stored under it; only thoughts keep theirs.
    fn again(&self) -> Option<Value> {
        match self {
            Self::Message { .. } => {
                let texts = self.parts().iter().filter_map(|part| match part {
                    Part::OutputText { text } => Some(text.as_str()),
                    _ => None,
                });
                let text: String = texts.collect();
                (!text.is_empty()).then(|| json!({ "role": "assistant", "content": text }))
            }
            Self::FunctionCall { .. } => self.call().as_ref().map(request::call),
            Self::Reasoning { id, summary, encrypted_content: Some(sealed) } if !sealed.is_empty() => {
                let summary = if summary.is_array() { summary.clone() } else { json!([]) };
                Some(
                    json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed }),
                )
            }
            _ => None,
        }
    }

    fn is_sealed_thought(&self) -> bool {
        matches!(self, Self::Reasoning { encrypted_content: Some(sealed), .. } if !sealed.is_empty())
    }
}

impl Reader for Answer {
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure> {
        // Some servers end as chat completions do, behind their last event.
        if data.trim() == "[DONE]" {
            return Ok(Progress::Complete);
        }
        let event: Event = wire::event(data)?;
        let delta = event.delta.as_str().filter(|delta| !delta.is_empty()).map(str::to_owned);
        match (event.kind.as_str(), delta) {
            ("response.output_text.delta", Some(text)) => {
                self.size = self.size.saturating_add(text.len());
                self.text.push_str(&text);
                listener(ModelPiece::Text { text });
            }
            ("response.refusal.delta", Some(text)) => {
                self.size = self.size.saturating_add(text.len());
                self.refusal.push_str(&text);
            }
            ("response.reasoning_summary_text.delta" | "response.reasoning_text.delta", Some(text)) => {
                listener(ModelPiece::Thinking { text });
            }
            ("response.output_item.added", _) => {
                if let Some(Item::FunctionCall { name, .. }) = event.item {
                    listener(ModelPiece::ToolCall { name });
                }
            }
            ("response.output_item.done", _) => {
                self.size = self.size.saturating_add(data.len());
                self.close(event.output_index, event.item)?;
            }
            ("response.completed" | "response.incomplete", _) => {
                return Ok(self.end(&event.kind, event.response));
            }
            ("response.failed", _) => {
                self.end(&event.kind, event.response);
                let error =
                    self.end.as_ref().map(|whole| ErrorBody::of_value(&whole.error)).unwrap_or_default();
                return Err(error.failure(kind_of(&error)));
            }
            ("error", _) => {
                // The error is the event itself, or stands in it.
                let mut error = ErrorBody::of_value(&Value::Object(event.rest));
                error.names.retain(|name| name != "error");
                return Err(error.failure(kind_of(&error)));
            }
            _ => {}
        }
        Ok(Progress::Open)
    }

    fn size(&self) -> usize {
        self.size
    }

    fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let Some(counts) = self.end.as_ref().and_then(|whole| whole.usage.as_ref()) else { return usage };
        let cached = counts.input_tokens_details.as_ref();
        usage.cache_read_input_tokens = cached.map_or(0, |cached| cached.cached_tokens);
        usage.cache_creation_input_tokens = cached.map_or(0, |cached| cached.cache_write_tokens);
        usage.input_tokens = counts
            .input_tokens
            .saturating_sub(usage.cache_read_input_tokens)
            .saturating_sub(usage.cache_creation_input_tokens);
        usage.output_tokens = counts.output_tokens;
        usage
    }

    fn finish(self) -> Result<ModelAnswer, ModelFailure> {
        let Some(end) = &self.end else { return Err(wire::cut_off()) };
        let items = self.counted();
        let (mut text, mut refusal) = (String::new(), String::new());
        for part in items.iter().flat_map(|item| item.parts()) {
            match part {
                Part::OutputText { text: said } => text.push_str(said),
                Part::Refusal { refusal: said } => refusal.push_str(said),
                Part::Other => {}
            }
        }
        if refusal.is_empty() {
            refusal.clone_from(&self.refusal);
        }
        let mut answer = ModelAnswer::default();
        answer.stop = if refusal.is_empty() { stop_of(end)? } else { ModelStop::Refused };
        answer.usage = self.usage();
        answer.calls = items.iter().filter_map(|item| item.call()).collect();
        if items.iter().any(|item| item.is_sealed_thought()) {
            let again: Vec<_> = items.iter().filter_map(|item| item.again()).collect();
            answer.replay = Some(request::replay(&self.model, &again));
        }
        if text.is_empty() {
            // Who refuses says it in a place of its own; who was cut off may not have closed what was being said.
            text = if refusal.is_empty() { self.text } else { refusal };
        }
        answer.text = text;
        answer.served_by = self.served_by;
        Ok(answer)
    }
}

fn stop_of(end: &Whole) -> Result<ModelStop, ModelFailure> {
    let reason = end.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
    Ok(match (end.status.as_deref(), reason) {
        (Some("completed"), _) | (None, None) => ModelStop::Complete,
        (_, Some("max_output_tokens")) => ModelStop::OutputLimit,
        (_, Some("content_filter")) => ModelStop::Filtered,
        (Some("failed"), _) => {
            return Err(ModelFailure::new(FailureKind::Transport, "the service failed to answer"));
        }
        (_, Some(other)) => ModelStop::Other(other.to_owned()),
        (Some(other), None) => ModelStop::Other(other.to_owned()),
    })
}
