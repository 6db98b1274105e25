//! Finds the last answer in an agent's text while the text streams.
//!
//! [`Locator`] takes the text in pieces of any size and keeps what the last attempt at an answer needs: its own text, at
//! most [`MAX_BLOCK_BYTES`], and a short tail to say why nothing was found. It never keeps the transcript, and its cost
//! is linear in the text whatever the text contains.
//!
//! The work is split by concept. `escape` drops terminal escape sequences. `tags` finds the tag's opener and closer at
//! the speed of a memory search. Behind an opener `opener` decides whether a value begins there, `reader` follows the
//! JSON so that tags in strings are data, and `trailer` looks for the closing fence and the closer. `ledger` keeps the
//! order: which attempts are open, and which outcome stands. `store` holds their text. `json` and `text` put these
//! together for the two formats.
//!
//! What this does not do: judge the value. A block that is well delimited is handed on, and `read` says whether it is
//! JSON.

mod diagnosis;
mod escape;
mod json;
mod ledger;
mod opener;
mod reader;
#[cfg(test)]
mod reference;
mod store;
mod tags;
mod tail;
mod text;
mod trailer;

use self::escape::EscapeFilter;
use self::json::JsonScan;
use self::text::TextScan;
use super::{ExtractError, OutputFormat};

/// The most text that one block may hold, in bytes.
pub const MAX_BLOCK_BYTES: usize = 8 << 20;

/// Pieces are worked on in parts of this size, so that every step after the first finds them in the cache.
const PART_BYTES: usize = 32 << 10;

/// Finds the last block with a tag while the text streams.
///
/// ```
/// use sandcastle_core::output::OutputFormat;
/// use sandcastle_core::output::locate::Locator;
///
/// let mut locator = Locator::new("result", OutputFormat::Json);
/// locator.push("I put it in <result> tags: <res");
/// locator.push("ult>{\"text\": \"a </result> b\"}</result>");
/// assert_eq!(locator.finish()?.as_str(), r#"{"text": "a </result> b"}"#);
/// # Ok::<(), sandcastle_core::output::ExtractError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Locator {
    escapes: EscapeFilter,
    scan: Scan,
}

#[derive(Clone, Debug)]
enum Scan {
    Json(Box<JsonScan>),
    Text(Box<TextScan>),
}

/// The inside of the block that counts, exactly as the agent wrote it except for terminal escape sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block(String);

impl Block {
    /// Returns the text between the opener and the closer.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text between the opener and the closer.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Locator {
    /// Creates a locator for `<tag>...</tag>`; the tag is taken as it is.
    #[must_use]
    pub fn new(tag: &str, format: OutputFormat) -> Self {
        let scan = match format {
            OutputFormat::Json => Scan::Json(Box::new(JsonScan::new(tag))),
            OutputFormat::Text => Scan::Text(Box::new(TextScan::new(tag))),
        };
        Self { escapes: EscapeFilter::default(), scan }
    }

    /// Takes the next piece of the text. Where the text is cut makes no difference.
    pub fn push(&mut self, text: &str) {
        let Self { escapes, scan } = self;
        let mut rest = text;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
            escapes.filter(part, &mut |clean| scan.feed(clean));
            rest = behind;
        }
    }

    /// Ends the text and returns the block of the last attempt.
    ///
    /// The block is well delimited; whether it holds a valid value is judged by whoever reads it.
    ///
    /// # Errors
    /// [`Stage::Missing`](super::Stage::Missing) without any block, [`Stage::Unclosed`](super::Stage::Unclosed) when
    /// the last attempt is never closed, and [`Stage::JsonParse`](super::Stage::JsonParse) when it is larger than
    /// [`MAX_BLOCK_BYTES`].
    pub fn finish(self) -> Result<Block, ExtractError> {
        match self.scan {
            Scan::Json(scan) => scan.finish(),
            Scan::Text(scan) => scan.finish(),
        }
        .map(Block)
    }
}

impl Scan {
    fn feed(&mut self, clean: &str) {
        match self {
            Self::Json(scan) => scan.feed(clean),
            Self::Text(scan) => scan.feed(clean),
        }
    }
}
