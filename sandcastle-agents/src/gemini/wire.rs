//! What `gemini --output-format stream-json` prints, as far as it is read.
//!
//! One flat type serves every line: tagged enums would buffer the whole line to find the tag.

use serde::Deserialize;

use crate::json::{Lenient, Text};
use crate::tool::Arguments;

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub session_id: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub role: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub tool_name: Lenient<Text<'a>>,
    #[serde(default)]
    pub parameters: Lenient<Arguments>,
    #[serde(borrow, default)]
    pub status: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub severity: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub error: Lenient<Failure<'a>>,
    #[serde(default)]
    pub stats: Lenient<Stats>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub message: Lenient<Text<'a>>,
}

/// Token counts of one process.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    pub total_tokens: u64,
    /// With those that were cached.
    pub input_tokens: u64,
    /// Without what was thought, which is in the total only.
    pub output_tokens: u64,
    pub cached: u64,
}

impl Stats {
    pub(super) fn usage(self) -> sandcastle_core::Usage {
        let mut usage = sandcastle_core::Usage::default();
        usage.input_tokens = self.input_tokens.saturating_sub(self.cached);
        usage.cache_read_input_tokens = self.cached;
        usage.output_tokens = self.output_tokens.max(self.total_tokens.saturating_sub(self.input_tokens));
        usage
    }
}
