//! What a server of chat completions answers: chunks of one message, whose pieces are run together.

use sandcastle_core::Usage;
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{ModelAnswer, ModelFailure, ModelListener, ModelPiece, ModelStop, ToolCall};
use serde::Deserialize;
use serde_json::Value;

use super::failure::kind_of;
use crate::models::endpoint::{Bill, Progress, Reader};
use crate::models::http::ErrorBody;
use crate::models::wire::{self, Cached, MAX_CALLS, broken, call_id, is_first, tokens};

/// The last event, which is no JSON.
const DONE: &str = "[DONE]";

/// Ends that are none: something went wrong at the server, and it says no more than that.
const BROKEN_OFF: [&str; 4] = ["error", "abort", "network_error", "insufficient_system_resource"];

/// An answer that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    text: String,
    refusal: String,
    calls: Vec<Call>,
    finish: Option<String>,
    /// What the model's own service calls the end, where a router stands before it.
    native_finish: Option<String>,
    done: bool,
    counts: Counts,
    bill: Bill,
    served_by: Option<String>,
}

#[derive(Debug)]
struct Call {
    /// Its place among the calls, as the server counts.
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
}

#[derive(Debug, Deserialize)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Counts>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: Value,
    delta: Option<Delta>,
    finish_reason: Option<String>,
    native_finish_reason: Option<String>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Delta {
    /// Text; some servers send a list of parts, with thoughts among them.
    #[serde(default)]
    content: Value,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Deserialize)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    /// Text; some servers send the object itself.
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "tokens")]
    prompt_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    completion_tokens: u64,
    prompt_tokens_details: Option<Cached>,
    /// In dollars; only routers say it.
    cost: Value,
    /// Whether the model's own service is paid with a key that the router was given for it, and not by the router.
    is_byok: Option<bool>,
    cost_details: Option<CostDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CostDetails {
    upstream_inference_cost: Value,
}

impl Counts {
    /// What the call cost, to whomever it is paid.
    fn cost(&self) -> Option<f64> {
        let dollars = |cost: &Value| cost.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0);
        let upstream = self.cost_details.as_ref().filter(|_| self.is_byok == Some(true));
        let upstream = upstream.and_then(|details| dollars(&details.upstream_inference_cost));
        Some(dollars(&self.cost)? + upstream.unwrap_or_default())
    }
}

impl Answer {
    /// An answer of a server that says what it costs, or does not.
    pub(crate) fn billed(bill: Bill) -> Self {
        Self { bill, ..Self::default() }
    }

    fn take(&mut self, choice: Choice, listener: &mut ModelListener<'_>) -> Result<(), ModelFailure> {
        fail_on(&choice.error)?;
        if let Some(delta) = choice.delta {
            self.fill(delta, listener)?;
        }
        self.finish = choice.finish_reason.or_else(|| self.finish.take());
        self.native_finish = choice.native_finish_reason.or_else(|| self.native_finish.take());
        Ok(())
    }

    fn fill(&mut self, delta: Delta, listener: &mut ModelListener<'_>) -> Result<(), ModelFailure> {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(text) = said(&delta.reasoning_content).or_else(|| said(&delta.reasoning)) {
            listener(ModelPiece::Thinking { text });
        }
        for piece in pieces(delta.content)? {
            if let ModelPiece::Text { text } = &piece {
                self.text.push_str(text);
            }
            listener(piece);
        }
        self.refusal.push_str(delta.refusal.as_deref().unwrap_or_default());
        for piece in delta.tool_calls.into_iter().flatten() {
            self.call(piece, listener)?;
        }
        Ok(())
    }

    /// Takes a piece of a call. The name may come later than the number, and is said once.
    fn call(&mut self, piece: CallPiece, listener: &mut ModelListener<'_>) -> Result<(), ModelFailure> {
        let CallPiece { index, id, function } = piece;
        let FunctionPiece { name, arguments } = function.unwrap_or_default();
        let (id, name) = (id.filter(|id| !id.is_empty()), name.filter(|name| !name.is_empty()));
        let at = self.place_of(index, id.as_deref(), name.as_deref());
        if at >= MAX_CALLS {
            return Err(broken("too many tools are called"));
        }
        if at == self.calls.len() {
            self.calls.push(Call { index, id: None, name: String::new(), arguments: String::new() });
        }
        let call = &mut self.calls[at];
        call.id = call.id.take().or(id);
        if let Some(name) = name.filter(|_| call.name.is_empty()) {
            call.name.clone_from(&name);
            listener(ModelPiece::ToolCall { name });
        }
        match arguments {
            Value::String(text) => call.arguments.push_str(&text),
            Value::Null => {}
            object => call.arguments.push_str(&object.to_string()),
        }
        Ok(())
    }

    /// Which call a piece belongs to: that with its number, or the last one where there are no numbers. Another id that
    /// comes with a name begins another call, since some servers give all calls the same number.
    fn place_of(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> usize {
        let another = |call: &Call| match (&call.id, id) {
            (Some(known), Some(id)) => known != id && (name.is_some() || index.is_none()),
            _ => false,
        };
        let known = |call: &Call| (index.is_none() || call.index == index) && !another(call);
        self.calls.iter().rposition(known).unwrap_or(self.calls.len())
    }

    fn stop(&self) -> Option<ModelStop> {
        if !self.refusal.is_empty() || self.native_finish.as_deref() == Some("refusal") {
            return Some(ModelStop::Refused);
        }
        match self.finish.as_deref() {
            Some("stop" | "tool_calls" | "function_call" | "eos_token" | "stop_sequence") => {
                Some(ModelStop::Complete)
            }
            Some("length") => Some(ModelStop::OutputLimit),
            Some("model_length") => Some(ModelStop::ContextLimit),
            Some("content_filter") => Some(ModelStop::Filtered),
            Some(other) => Some(ModelStop::Other(other.to_owned())),
            None => self.done.then(|| ModelStop::Other("no reason given".to_owned())),
        }
    }
}

/// What a piece of content says.
fn pieces(content: Value) -> Result<Vec<ModelPiece>, ModelFailure> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![ModelPiece::Text { text }]),
        Value::Array(parts) => Ok(parts.iter().flat_map(part).collect()),
        _ => Err(broken("the content of a message is neither text nor a list of parts")),
    }
}

/// What a part of a list says. Thoughts are lists of parts themselves.
fn part(part: &Value) -> Vec<ModelPiece> {
    let text = |part: &Value| part["text"].as_str().map(str::to_owned);
    match part["type"].as_str() {
        Some("text") => text(part).map(|text| ModelPiece::Text { text }).into_iter().collect(),
        Some("thinking") => {
            let thoughts = part["thinking"].as_array().into_iter().flatten();
            thoughts.filter_map(text).map(|text| ModelPiece::Thinking { text }).collect()
        }
        _ => Vec::new(),
    }
}

fn fail_on(error: &Value) -> Result<(), ModelFailure> {
    if error.is_null() {
        return Ok(());
    }
    let error = ErrorBody::of_value(error);
    Err(error.failure(kind_of(&error)))
}

impl Reader for Answer {
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure> {
        if data.trim() == DONE {
            self.done = true;
            return Ok(Progress::Complete);
        }
        let chunk: Chunk = wire::event(data)?;
        fail_on(&chunk.error)?;
        self.served_by = chunk.model.or_else(|| self.served_by.take());
        if let Some(counts) = chunk.usage {
            self.counts = counts;
        }
        // One answer was asked for.
        if let Some(choice) = chunk.choices.into_iter().flatten().find(|choice| is_first(&choice.index)) {
            self.take(choice, listener)?;
        }
        Ok(Progress::Open)
    }

    fn size(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        self.text.len() + self.refusal.len() + calls
    }

    fn usage(&self) -> Usage {
        let cached = self.counts.prompt_tokens_details.as_ref();
        let mut usage = Usage::default();
        usage.cache_read_input_tokens = cached.map_or(0, |cached| cached.cached_tokens);
        usage.cache_creation_input_tokens = cached.map_or(0, |cached| cached.cache_write_tokens);
        usage.input_tokens = self
            .counts
            .prompt_tokens
            .saturating_sub(usage.cache_read_input_tokens)
            .saturating_sub(usage.cache_creation_input_tokens);
        usage.output_tokens = self.counts.completion_tokens;
        usage.cost_usd = if self.bill == Bill::Said { self.counts.cost() } else { None };
        usage
    }

    fn finish(self) -> Result<ModelAnswer, ModelFailure> {
        if let Some(reason) = self.finish.as_deref().filter(|reason| BROKEN_OFF.contains(reason)) {
            return Err(ModelFailure::new(
                FailureKind::Transport,
                format!("the server broke off the answer: `{reason}`"),
            ));
        }
        let Some(stop) = self.stop() else { return Err(wire::cut_off()) };
        let mut answer = ModelAnswer::default();
        answer.usage = self.usage();
        answer.stop = stop;
        // Who refuses says it in a place of its own.
        answer.text = if self.text.is_empty() { self.refusal } else { self.text };
        let calls = self.calls.into_iter();
        answer.calls = calls.map(|call| ToolCall::new(call_id(call.id), call.name, call.arguments)).collect();
        answer.served_by = self.served_by;
        Ok(answer)
    }
}
