//! The ways in which the schema of an output can reach a model, by name.
//!
//! Only the names are here, because records of attempts bear them; which one is used is decided by `strategy`.

use std::fmt;

use serde::Serialize;

/// Says how the schema of an output reaches the model.
///
/// Whatever it is, every answer is validated here against the type's own schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OutputStrategy {
    /// By words: the prompt asks for a tag. Works with every agent and model.
    #[default]
    Tag,
    /// By the program's or the service's own structured output.
    Native,
    /// By a tool that the model is made to call, whose arguments are the answer.
    ForcedTool,
    /// By the strongest of these that is positively declared for the agent or the model and that the schema fits; otherwise
    /// by words.
    Auto,
}

impl OutputStrategy {
    /// Returns the name that options and records use, in kebab case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Native => "native",
            Self::ForcedTool => "forced-tool",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for OutputStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
