//! What `opencode run --format json` prints, as far as it is read.
//!
//! Two flat types serve every line and every part of a message: tagged enums would buffer the whole line to find the
//! tag.

use sandcastle_core::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{Lenient, Text};

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default, rename = "sessionID")]
    pub session: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub part: Option<Part<'a>>,
    #[serde(borrow, default)]
    pub error: Option<Failure<'a>>,
}

/// One part of a message, of any type.
#[derive(Debug, Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub tool: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub state: Option<State<'a>>,
    #[serde(borrow, default)]
    pub reason: Lenient<Text<'a>>,
    #[serde(default)]
    pub tokens: Lenient<Tokens>,
    #[serde(default)]
    pub cost: Lenient<f64>,
}

/// What became of a tool call.
#[derive(Debug, Deserialize)]
pub(super) struct State<'a> {
    #[serde(borrow, default)]
    pub status: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub input: Option<&'a RawValue>,
    #[serde(default)]
    pub metadata: Lenient<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub exit: Lenient<i64>,
}

/// Token counts of one step. Neither the cached tokens nor those of the reasoning are part of the others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: CachedTokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CachedTokens {
    read: u64,
    write: u64,
}

impl Part<'_> {
    /// Returns what the step used that this part ends.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        if let Some(tokens) = self.tokens.as_ref() {
            usage.input_tokens = tokens.input;
            usage.output_tokens = tokens.output.saturating_add(tokens.reasoning);
            usage.cache_read_input_tokens = tokens.cache.read;
            usage.cache_creation_input_tokens = tokens.cache.write;
        }
        // A model without a price costs zero.
        usage.cost_usd = self.cost.filter(|cost| cost.is_finite() && *cost > 0.0);
        usage
    }
}

/// Why a turn failed.
#[derive(Debug, Deserialize)]
pub(super) struct Failure<'a> {
    #[serde(borrow, default)]
    pub name: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Lenient<Details<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Details<'a> {
    #[serde(borrow)]
    pub message: Lenient<Text<'a>>,
    pub status_code: Lenient<u16>,
    pub is_retryable: Lenient<bool>,
}
