//! What Ollama answers: one message in pieces, a line each, the last of which says how it ended.

use sandcastle_core::Usage;
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{ModelAnswer, ModelFailure, ModelListener, ModelPiece, ModelStop, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::models::endpoint::{Progress, Reader};
use crate::models::http::ErrorBody;
use crate::models::wire::{self, MAX_CALLS, broken, call_id, tokens};

/// An answer that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    text: String,
    calls: Vec<ToolCall>,
    stop: Option<ModelStop>,
    usage: Usage,
    served_by: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Piece {
    model: Option<String>,
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "tokens")]
    prompt_eval_count: u64,
    #[serde(default, deserialize_with = "tokens")]
    eval_count: u64,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Said {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Answer {
    fn take(&mut self, said: Said, listener: &mut ModelListener<'_>) -> Result<(), ModelFailure> {
        if let Some(text) = said.thinking.filter(|text| !text.is_empty()) {
            listener(ModelPiece::Thinking { text });
        }
        if let Some(text) = said.content.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            listener(ModelPiece::Text { text });
        }
        for Call { id, function } in said.tool_calls.into_iter().flatten() {
            if self.calls.len() >= MAX_CALLS {
                return Err(broken("too many tools are called"));
            }
            let arguments = match function.arguments {
                Value::Null => json!({}).to_string(),
                Value::String(text) => text,
                object => object.to_string(),
            };
            listener(ModelPiece::ToolCall { name: function.name.clone() });
            self.calls.push(ToolCall::new(call_id(id), function.name, arguments));
        }
        Ok(())
    }
}

impl Reader for Answer {
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure> {
        let piece: Piece = wire::event(data)?;
        if !piece.error.is_null() {
            // Ollama says no more than a sentence; the request was good enough to be begun.
            return Err(ErrorBody::of_value(&piece.error).failure(FailureKind::Transport));
        }
        self.served_by = piece.model.or_else(|| self.served_by.take());
        if let Some(said) = piece.message {
            self.take(said, listener)?;
        }
        if !piece.done {
            return Ok(Progress::Open);
        }
        self.usage.input_tokens = piece.prompt_eval_count;
        self.usage.output_tokens = piece.eval_count;
        self.stop = Some(match piece.done_reason.as_deref() {
            // Older servers give no reason.
            Some("stop") | None => ModelStop::Complete,
            Some("length") => ModelStop::OutputLimit,
            Some(other) => ModelStop::Other(other.to_owned()),
        });
        Ok(Progress::Complete)
    }

    fn size(&self) -> usize {
        self.text.len() + self.calls.iter().map(|call| call.arguments.len()).sum::<usize>()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self) -> Result<ModelAnswer, ModelFailure> {
        let mut answer = ModelAnswer::default();
        answer.stop = self.stop.ok_or_else(wire::cut_off)?;
        answer.usage = self.usage;
        answer.text = self.text;
        answer.calls = self.calls;
        answer.served_by = self.served_by;
        Ok(answer)
    }
}
