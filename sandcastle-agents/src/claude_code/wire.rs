//! What `claude` prints, as far as it is read.
//!
//! One flat type serves every line: tagged enums would buffer the whole line to find the tag. The end of a turn is
//! rare and important, so it is read a second time, field by field, and survives a field that changes its type.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{First, Lenient, Text};
use crate::tool::Arguments;

/// The most blocks that a message may have to be read; real ones have one or two.
const MAX_BLOCKS: usize = 10_000;

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub subtype: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub session_id: Option<Text<'a>>,
    /// The tool call that a sub-agent works for; null for the main agent.
    #[serde(borrow, default)]
    pub parent_tool_use_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
    /// The class of an error that the program puts into the model's mouth.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub model: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
}

/// The blocks of a message; a message that is a mere string has one block of text.
#[derive(Debug, Default)]
pub(super) struct Content<'a>(pub Vec<Block<'a>>);

/// One block of any type.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub input: Option<Arguments>,
    #[serde(default)]
    pub is_error: Option<bool>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor).map(Self)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Vec<Block<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of blocks or a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(vec![Block { kind: "text".into(), text: Some(text.into()), ..Block::default() }])
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![Block { kind: "text".into(), text: Some(Text::from(text.to_owned())), ..Block::default() }])
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        // Almost every message has one block; a claimed length is not trusted with memory.
        let mut blocks = Vec::with_capacity(1);
        while let Some(block) = seq.next_element()? {
            if blocks.len() == MAX_BLOCKS {
                return Err(de::Error::custom("too many blocks"));
            }
            blocks.push(block);
        }
        Ok(blocks)
    }
}

/// The line `system`/`init`, as far as it tells of tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Beginning<'a> {
    #[serde(borrow)]
    pub tools: Lenient<First<Text<'a>, MAX_BLOCKS>>,
}

/// The line `system`/`api_retry`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Retry<'a> {
    pub attempt: Lenient<u32>,
    pub max_retries: Lenient<u32>,
    pub retry_delay_ms: Lenient<f64>,
    pub error_status: Lenient<u16>,
    #[serde(borrow)]
    pub error: Lenient<Text<'a>>,
}

/// The line `result`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnEnd<'a> {
    #[serde(borrow)]
    pub subtype: Lenient<Text<'a>>,
    pub is_error: Lenient<bool>,
    pub api_error_status: Lenient<u16>,
    #[serde(borrow)]
    pub result: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub stop_reason: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub terminal_reason: Lenient<Text<'a>>,
    pub total_cost_usd: Lenient<f64>,
    pub usage: Lenient<Tokens>,
    /// By the name of the model.
    #[serde(rename = "modelUsage")]
    pub model_usage: Lenient<BTreeMap<String, ModelTokens>>,
    #[serde(borrow)]
    pub permission_denials: Lenient<First<Denial<'a>>>,
    #[serde(borrow)]
    pub structured_output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub errors: Lenient<First<Text<'a>>>,
}

/// Token counts of the main agent's own turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub output_tokens: u64,
}

/// Token counts of one model over the whole process: sub-agents and answers that broke off are in them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelTokens {
    pub input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub output_tokens: u64,
}

/// A tool call that was refused for want of permission.
#[derive(Debug, Deserialize)]
pub(super) struct Denial<'a> {
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    #[serde(borrow, default)]
    pub tool_input: Option<&'a RawValue>,
}
