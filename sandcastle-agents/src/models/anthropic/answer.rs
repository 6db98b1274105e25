//! What Anthropic answers: content blocks, each opened, filled and closed, then how it ended and what it cost.

use std::collections::BTreeMap;

use sandcastle_core::Usage;
use sandcastle_core::model::{ModelAnswer, ModelFailure, ModelListener, ModelPiece, ModelStop, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{failure, request};
use crate::models::endpoint::{Progress, Reader};
use crate::models::http::ErrorBody;
use crate::models::wire::{self, MAX_CALLS, broken, call_id, tokens};

/// An answer that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    model: String,
    served_by: Option<String>,
    blocks: BTreeMap<u64, Block>,
    stop: Option<String>,
    usage: Counts,
    opened: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Opening,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        #[serde(default)]
        delta: Closing,
        #[serde(default)]
        usage: Counts,
    },
    MessageStop,
    Error {
        #[serde(default)]
        error: Value,
    },
    /// Pings, ends of blocks, and what is new.
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
struct Opening {
    model: Option<String>,
    #[serde(default)]
    usage: Counts,
}

#[derive(Debug, Default, Deserialize)]
struct Closing {
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "tokens")]
    input_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    output_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    cache_creation_input_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    cache_read_input_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        #[serde(default)]
        data: String,
    },
    ToolUse {
        id: Option<String>,
        #[serde(default)]
        name: String,
        /// As it was opened; what follows in pieces takes its place.
        #[serde(default)]
        input: Value,
        #[serde(skip)]
        pieces: String,
    },
    /// A block that is not known here: not part of the answer.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

impl Answer {
    pub(super) fn of(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }

    fn open(
        &mut self,
        index: u64,
        block: Block,
        listener: &mut ModelListener<'_>,
    ) -> Result<(), ModelFailure> {
        match &block {
            Block::ToolUse { name, .. } => listener(ModelPiece::ToolCall { name: name.clone() }),
            Block::Text { text } if !text.is_empty() => listener(ModelPiece::Text { text: text.clone() }),
            _ => {}
        }
        if self.blocks.len() >= MAX_CALLS || self.blocks.insert(index, block).is_some() {
            return Err(broken(format!("block {index} is opened twice, or is one of too many")));
        }
        Ok(())
    }

    fn fill(
        &mut self,
        index: u64,
        delta: Delta,
        listener: &mut ModelListener<'_>,
    ) -> Result<(), ModelFailure> {
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(broken(format!("block {index} is filled before it is opened")));
        };
        match (block, delta) {
            (Block::Text { text: all }, Delta::Text { text }) => {
                all.push_str(&text);
                listener(ModelPiece::Text { text });
            }
            (Block::Thinking { thinking: all, .. }, Delta::Thinking { thinking: text }) => {
                all.push_str(&text);
                listener(ModelPiece::Thinking { text });
            }
            (Block::Thinking { signature: all, .. }, Delta::Signature { signature }) => {
                all.push_str(&signature)
            }
            (Block::ToolUse { pieces, .. }, Delta::Input { partial_json }) => pieces.push_str(&partial_json),
            (Block::Other, _) | (_, Delta::Other) => {}
            _ => return Err(broken(format!("block {index} is filled with what does not fit into it"))),
        }
        Ok(())
    }

    /// Takes a later count; the service repeats what it has said, and leaves out what it has not.
    fn count(&mut self, counts: &Counts) {
        let later = |known: &mut u64, count: u64| *known = count.max(*known);
        later(&mut self.usage.input_tokens, counts.input_tokens);
        later(&mut self.usage.output_tokens, counts.output_tokens);
        later(&mut self.usage.cache_creation_input_tokens, counts.cache_creation_input_tokens);
        later(&mut self.usage.cache_read_input_tokens, counts.cache_read_input_tokens);
    }

    /// The content to be sent again, if there are thoughts in it; text and calls can be said anew.
    fn replay(&self) -> Option<Value> {
        let thinks = |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
        let content = || self.blocks.values().filter_map(Block::content).collect::<Vec<_>>();
        self.blocks.values().any(thinks).then(|| request::replay(&self.model, &content()))
    }
}

impl Block {
    /// The block as it is sent again. Empty text and thoughts that nobody signed would be refused.
    fn content(&self) -> Option<Value> {
        match self {
            Self::Text { text } => (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text })),
            Self::Thinking { thinking, signature } => (!signature.is_empty())
                .then(|| json!({ "type": "thinking", "thinking": thinking, "signature": signature })),
            Self::RedactedThinking { data } => Some(json!({ "type": "redacted_thinking", "data": data })),
            Self::ToolUse { id, name, .. } => {
                let id = id.clone().unwrap_or_default();
                Some(request::call(&ToolCall::new(id, name.clone(), self.arguments())))
            }
            Self::Other => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Self::ToolUse { pieces, .. } => pieces.len(),
            Self::RedactedThinking { data } => data.len(),
            Self::Other => 0,
        }
    }

    /// The arguments of a call as the model wrote them.
    fn arguments(&self) -> String {
        match self {
            Self::ToolUse { pieces, input, .. } if pieces.is_empty() && input.is_object() => {
                input.to_string()
            }
            Self::ToolUse { pieces, .. } if pieces.is_empty() => "{}".to_owned(),
            Self::ToolUse { pieces, .. } => pieces.clone(),
            _ => String::new(),
        }
    }
}

impl Reader for Answer {
    fn read(&mut self, data: &str, listener: &mut ModelListener<'_>) -> Result<Progress, ModelFailure> {
        match wire::event(data)? {
            Event::MessageStart { .. } if self.opened => return Err(broken("the answer begins twice")),
            Event::MessageStart { message } => {
                self.opened = true;
                self.served_by = message.model;
                self.count(&message.usage);
            }
            Event::ContentBlockStart { index, mut content_block } => {
                if let Block::ToolUse { id, .. } = &mut content_block {
                    *id = Some(call_id(id.take()));
                }
                self.open(index, content_block, listener)?;
            }
            Event::ContentBlockDelta { index, delta } => self.fill(index, delta, listener)?,
            Event::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.or_else(|| self.stop.take());
                self.count(&usage);
            }
            Event::MessageStop => return Ok(Progress::Complete),
            Event::Error { error } => return Err(failure::in_stream(&ErrorBody::of_value(&error))),
            Event::Other => {}
        }
        Ok(Progress::Open)
    }

    fn size(&self) -> usize {
        self.blocks.values().map(Block::size).sum()
    }

    fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        usage.input_tokens = self.usage.input_tokens;
        usage.output_tokens = self.usage.output_tokens;
        usage.cache_creation_input_tokens = self.usage.cache_creation_input_tokens;
        usage.cache_read_input_tokens = self.usage.cache_read_input_tokens;
        usage
    }

    fn finish(self) -> Result<ModelAnswer, ModelFailure> {
        let Some(stop) = &self.stop else { return Err(wire::cut_off()) };
        let mut answer = ModelAnswer::default();
        answer.stop = stop_of(stop);
        answer.usage = self.usage();
        answer.replay = self.replay();
        answer.served_by = self.served_by.clone();
        for block in self.blocks.values() {
            match block {
                Block::Text { text } => answer.text.push_str(text),
                Block::ToolUse { id, name, .. } => {
                    let id = id.clone().unwrap_or_default();
                    answer.calls.push(ToolCall::new(id, name.clone(), block.arguments()));
                }
                _ => {}
            }
        }
        Ok(answer)
    }
}

fn stop_of(reason: &str) -> ModelStop {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => ModelStop::Complete,
        "max_tokens" => ModelStop::OutputLimit,
        "model_context_window_exceeded" => ModelStop::ContextLimit,
        "refusal" => ModelStop::Refused,
        other => ModelStop::Other(other.to_owned()),
    }
}
