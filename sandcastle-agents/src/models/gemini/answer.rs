//! What Gemini answers: responses that each bring more parts of one candidate, to the end of the stream.

use sandcastle_core::Usage;
use sandcastle_core::model::{ModelAnswer, ModelFailure, ModelListener, ModelPiece, ModelStop, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{failure, request};
use crate::models::endpoint::{Progress, Reader};
use crate::models::http::ErrorBody;
use crate::models::wire::{self, MAX_CALLS, broken, call_id, is_first, set, tokens};

/// An answer that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    model: String,
    text: String,
    calls: Vec<ToolCall>,
    /// The parts as they are sent again, and whether any of them is signed.
    parts: Vec<Value>,
    seal: Seal,
    finish: Option<String>,
    blocked: Option<String>,
    counts: Counts,
    served_by: Option<String>,
    /// Of text, calls and signatures, in bytes.
    size: usize,
}

/// Whether a part came with a signature, without which the service would not take it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seal {
    #[default]
    None,
    Signed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Counts>,
    model_version: Option<String>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: Value,
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    function_call: Option<FunctionCall>,
    thought_signature: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall {
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Counts {
    #[serde(deserialize_with = "tokens")]
    prompt_token_count: u64,
    #[serde(deserialize_with = "tokens")]
    tool_use_prompt_token_count: u64,
    #[serde(deserialize_with = "tokens")]
    cached_content_token_count: u64,
    #[serde(deserialize_with = "tokens")]
    candidates_token_count: u64,
    #[serde(deserialize_with = "tokens")]
    thoughts_token_count: u64,
}

impl Answer {
    pub(super) fn of(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }

    fn take(&mut self, part: Part, listener: &mut ModelListener<'_>) -> Result<(), ModelFailure> {
        let said = part.text.iter().chain(&part.thought_signature).map(String::len).sum::<usize>();
        self.size = self.size.saturating_add(said);
        let mut again = json!({});
        if let Some(call) = part.function_call {
            again = self.call(call, listener)?;
        } else if let Some(text) = part.text.filter(|text| !text.is_empty()) {
            set(&mut again, "text", Some(text.clone()));
            set(&mut again, "thought", part.thought);
            if part.thought == Some(true) {
                listener(ModelPiece::Thinking { text });
            } else {
                self.text.push_str(&text);
                listener(ModelPiece::Text { text });
            }
        }
        if part.thought_signature.is_some() {
            self.seal = Seal::Signed;
            set(&mut again, "thoughtSignature", part.thought_signature);
            // A signature may come alone, behind the last piece of text.
            if again.as_object().is_some_and(|part| part.len() == 1) {
                set(&mut again, "text", Some(""));
            }
        }
        self.keep(again);
        Ok(())
    }

    fn call(&mut self, call: FunctionCall, listener: &mut ModelListener<'_>) -> Result<Value, ModelFailure> {
        if self.calls.len() >= MAX_CALLS {
            return Err(broken("too many tools are called"));
        }
        let arguments = if call.args.is_null() { json!({}) } else { call.args };
        let mut again = json!({ "name": call.name, "args": arguments });
        set(&mut again, "id", call.id.clone());
        listener(ModelPiece::ToolCall { name: call.name.clone() });
        let call = ToolCall::new(call_id(call.id), call.name, arguments.to_string());
        self.size = self.size.saturating_add(call.arguments.len());
        self.calls.push(call);
        Ok(json!({ "functionCall": again }))
    }

    /// Keeps a part to be sent again. Pieces of one text become one part; a signature belongs to its own.
    fn keep(&mut self, part: Value) {
        let pieces_of_text = |part: &Value| {
            part.as_object().is_some_and(|part| part.keys().all(|key| key == "text" || key == "thought"))
        };
        match self.parts.last_mut() {
            _ if part == json!({}) => {}
            Some(last)
                if pieces_of_text(last) && pieces_of_text(&part) && last["thought"] == part["thought"] =>
            {
                if let (Value::String(all), Some(text)) = (&mut last["text"], part["text"].as_str()) {
                    all.push_str(text);
                }
            }
            _ => self.parts.push(part),
        }
    }
}

impl Reader for Answer {
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure> {
        let response: Response = wire::event(data)?;
        if !response.error.is_null() {
            return Err(failure::in_stream(&ErrorBody::of_value(&response.error)));
        }
        self.served_by = response.model_version.or_else(|| self.served_by.take());
        if let Some(counts) = response.usage_metadata {
            self.counts = counts;
        }
        self.blocked =
            response.prompt_feedback.and_then(|said| said.block_reason).or_else(|| self.blocked.take());
        // One answer was asked for.
        let first = response.candidates.into_iter().flatten().find(|candidate| is_first(&candidate.index));
        if let Some(candidate) = first {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.take(part, listener)?;
            }
            self.finish = candidate.finish_reason.or_else(|| self.finish.take());
        }
        // The service marks no last event: what counts may follow the end of the answer.
        Ok(Progress::Open)
    }

    fn size(&self) -> usize {
        self.size
    }

    fn usage(&self) -> Usage {
        let Counts { prompt_token_count, tool_use_prompt_token_count, cached_content_token_count, .. } =
            self.counts;
        let mut usage = Usage::default();
        usage.cache_read_input_tokens = cached_content_token_count;
        usage.input_tokens = prompt_token_count
            .saturating_add(tool_use_prompt_token_count)
            .saturating_sub(cached_content_token_count);
        usage.output_tokens =
            self.counts.candidates_token_count.saturating_add(self.counts.thoughts_token_count);
        usage
    }

    fn finish(self) -> Result<ModelAnswer, ModelFailure> {
        let mut answer = ModelAnswer::default();
        answer.usage = self.usage();
        answer.stop = match (&self.blocked, &self.finish) {
            (Some(_), None) => ModelStop::Filtered,
            (_, Some(reason)) => stop_of(reason),
            (None, None) => return Err(wire::cut_off()),
        };
        answer.replay = (self.seal == Seal::Signed).then(|| request::replay(&self.model, &self.parts));
        answer.text = self.text;
        answer.calls = self.calls;
        answer.served_by = self.served_by;
        Ok(answer)
    }
}

fn stop_of(reason: &str) -> ModelStop {
    match reason {
        "STOP" => ModelStop::Complete,
        "MAX_TOKENS" => ModelStop::OutputLimit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            ModelStop::Filtered
        }
        other => ModelStop::Other(other.to_owned()),
    }
}
