//! The words that `#[output(...)]` understands.
//!
//! Only the vocabulary lives here: what a key's value must look like is [`attr`](crate::attr)'s business, and what it
//! may mean is [`check`](crate::check)'s.

use std::fmt;

/// The name of the attribute.
pub(crate) const OUTPUT: &str = "output";

/// A key inside `#[output(...)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Tag,
    MaxRetries,
    Validate,
    Prepare,
    Text,
    Crate,
}

impl Key {
    /// Every key, in the order in which the documentation lists them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Tag, Self::MaxRetries, Self::Validate, Self::Prepare, Self::Text, Self::Crate];

    /// Finds the key that is spelled `word`.
    pub(crate) fn spelled(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::MaxRetries => "max_retries",
            Self::Validate => "validate",
            Self::Prepare => "prepare",
            Self::Text => "text",
            Self::Crate => "crate",
        }
    }

    /// Shows the key with a value that would be accepted.
    pub(crate) fn form(self) -> &'static str {
        match self {
            Self::Tag => "tag = \"result\"",
            Self::MaxRetries => "max_retries = 2",
            Self::Validate => "validate = \"path::to::function\"",
            Self::Prepare => "prepare = \"path::to::function\"",
            Self::Text => "text",
            Self::Crate => "crate = \"sandcastle_core\"",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
