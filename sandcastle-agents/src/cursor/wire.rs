//! What the program `agent` prints with `--output-format stream-json`, as far as it is read.
//!
//! One flat type serves every line: tagged enums would buffer the whole line to find the tag.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{Lenient, Text};
use crate::tool::Arguments;

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub subtype: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub session_id: Lenient<Text<'a>>,
    #[serde(default)]
    pub message: Lenient<Message>,
    #[serde(borrow, default)]
    pub text: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub tool_call: Lenient<Call<'a>>,
    #[serde(default)]
    pub is_error: Lenient<bool>,
    #[serde(borrow, default)]
    pub result: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    pub error: Lenient<Text<'a>>,
    #[serde(default)]
    pub usage: Lenient<Tokens>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub content: Content,
}

/// The texts of the blocks of a message, joined: there may be any number of blocks.
#[derive(Debug)]
pub(super) struct Content(pub String);

#[derive(Debug, Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
}

/// Token counts of one process.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

impl Tokens {
    pub(super) fn usage(self) -> sandcastle_core::Usage {
        let mut usage = sandcastle_core::Usage::default();
        usage.input_tokens = self.input_tokens;
        usage.cache_creation_input_tokens = self.cache_write_tokens;
        usage.cache_read_input_tokens = self.cache_read_tokens;
        usage.output_tokens = self.output_tokens;
        usage
    }
}

/// A tool call: an object whose first key names the tool, such as `{"shellToolCall": {"args": {}, "result": {}}}`.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub name: Text<'a>,
    pub body: Lenient<Body<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Body<'a> {
    #[serde(default)]
    pub args: Lenient<Arguments>,
    #[serde(borrow, default)]
    pub result: Lenient<Outcome<'a>>,
    /// The name of a tool that has no key of its own.
    #[serde(borrow, default)]
    pub name: Lenient<Text<'a>>,
    /// Its arguments, as JSON in a string.
    #[serde(borrow, default)]
    pub arguments: Lenient<Text<'a>>,
}

/// What came of a tool call: `success`, or any other word.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome<'a> {
    #[serde(borrow)]
    pub success: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ContentVisitor).map(Self)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of blocks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut text = String::new();
        while let Some(block) = seq.next_element::<Block<'de>>()? {
            text.push_str(block.text.as_deref().unwrap_or_default());
        }
        Ok(text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Call<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CallVisitor)
    }
}

struct CallVisitor;

impl<'de> Visitor<'de> for CallVisitor {
    type Value = Call<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut call = Call { name: Text::default(), body: Lenient(None) };
        if let Some((name, body)) = map.next_entry()? {
            call = Call { name, body };
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(call)
    }
}
