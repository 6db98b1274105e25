//! What `codex exec --json` prints, as far as it is read.
//!
//! Two flat types serve every line and every item: tagged enums would buffer the whole line to find the tag.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{Lenient, Text};

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub thread_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub item: Option<Item<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub error: Option<Failure<'a>>,
    #[serde(default)]
    pub usage: Lenient<Tokens>,
}

/// One thing that the agent did, of any type.
#[derive(Debug, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub status: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub command: Lenient<Text<'a>>,
    #[serde(default)]
    pub exit_code: Lenient<i64>,
    #[serde(borrow, default)]
    pub changes: Lenient<Vec<Change<'a>>>,
    #[serde(borrow, default)]
    pub server: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub tool: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub query: Lenient<Text<'a>>,
}

/// One file that a patch changed.
#[derive(Debug, Deserialize)]
pub(super) struct Change<'a> {
    #[serde(borrow)]
    pub path: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Failure<'a> {
    #[serde(borrow, default)]
    pub message: Lenient<Text<'a>>,
}

/// Token counts of a whole thread, in the stream and in its rollout file.
///
/// The cached tokens are part of the input tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub input_tokens: u64,
    pub cached_input_tokens: u64,
    pub cache_write_input_tokens: u64,
    pub output_tokens: u64,
}

impl Tokens {
    pub(super) fn usage(self) -> sandcastle_core::Usage {
        let mut usage = sandcastle_core::Usage::default();
        let cached = self.cached_input_tokens.saturating_add(self.cache_write_input_tokens);
        usage.input_tokens = self.input_tokens.saturating_sub(cached);
        usage.cache_creation_input_tokens = self.cache_write_input_tokens;
        usage.cache_read_input_tokens = self.cached_input_tokens;
        usage.output_tokens = self.output_tokens;
        usage
    }
}
