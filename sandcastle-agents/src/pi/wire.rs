//! What `pi --mode json` prints, as far as it is read.
//!
//! One flat type serves every line that is read at all. Most of what the program prints is not: it repeats the whole
//! message with every piece of it, and the whole conversation at the end.

use sandcastle_core::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{First, Lenient, Text};

/// The most blocks of a message that are read; real ones have a handful.
const MAX_BLOCKS: usize = 10_000;

/// One line of the stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub id: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub tool_name: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
    #[serde(default)]
    pub is_error: Lenient<bool>,
    #[serde(default)]
    pub attempt: Lenient<u32>,
    #[serde(default)]
    pub max_attempts: Lenient<u32>,
    #[serde(default)]
    pub delay_ms: Lenient<u64>,
    #[serde(borrow, default)]
    pub error_message: Lenient<Text<'a>>,
    #[serde(default)]
    pub success: Lenient<bool>,
    #[serde(borrow, default)]
    pub final_error: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub reason: Lenient<Text<'a>>,
}

/// One message, whoever said it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub role: Text<'a>,
    /// A list for the model; of others it may be a mere string.
    #[serde(borrow, default)]
    pub content: Lenient<First<Block<'a>, MAX_BLOCKS>>,
    #[serde(default)]
    pub usage: Lenient<Tokens>,
    #[serde(borrow, default)]
    pub stop_reason: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub error_message: Lenient<Text<'a>>,
}

/// One block of any type.
#[derive(Debug, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub thinking: Lenient<Text<'a>>,
}

/// Token counts of one message. The cached tokens are not part of the input.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: Lenient<Cost>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: f64,
}

impl Tokens {
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        usage.input_tokens = self.input;
        usage.output_tokens = self.output;
        usage.cache_read_input_tokens = self.cache_read;
        usage.cache_creation_input_tokens = self.cache_write;
        // A model without a price costs zero.
        usage.cost_usd =
            self.cost.as_ref().map(|cost| cost.total).filter(|total| total.is_finite() && *total > 0.0);
        usage
    }
}
