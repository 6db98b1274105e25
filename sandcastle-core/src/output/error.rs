//! Why an answer could not be turned into a value.

use std::error::Error as StdError;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::Problem;

/// Names the step at which an answer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// There is no block with the tag.
    Missing,
    /// The last block is never closed.
    Unclosed,
    /// The block is not one JSON value.
    JsonParse,
    /// The value does not fit the schema or the type.
    SchemaValidate,
    /// The type's own validation refused the value.
    Rejected,
    /// The model refused to answer.
    Refused,
    /// The answer was cut off by the model's output limit.
    Truncated,
}

impl Stage {
    /// Returns the name in kebab case, as the command prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unclosed => "unclosed",
            Self::JsonParse => "json-parse",
            Self::SchemaValidate => "schema-validate",
            Self::Rejected => "rejected",
            Self::Refused => "refused",
            Self::Truncated => "truncated",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Says why a text holds no valid value.
///
/// `{}` is one line; `{:#}` adds every problem and an excerpt of the block with a caret.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExtractError {
    /// The tag that was looked for.
    pub tag: String,
    /// The inside of the block that was judged, exactly as the agent wrote it.
    pub raw_matched: Option<String>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The value, if the block was JSON.
    pub value: Option<Value>,
    stage: Stage,
    source: Option<Box<dyn StdError + Send + Sync + 'static>>,
}

impl ExtractError {
    /// Returns the step that failed.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `<{}>`", self.stage, self.tag)
    }
}

impl StdError for ExtractError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
