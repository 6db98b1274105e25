//! One thing that is wrong with a value, and where.

use std::fmt;

use serde::Serialize;

/// Says what is wrong at one place of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// JSON Pointer (RFC 6901) to the place; empty for the whole value.
    pub path: String,
    /// A sentence without a period, such as ``must be one of `low`, `high` ``.
    pub message: String,
}

impl Problem {
    /// Creates a problem at `path`, a JSON Pointer such as `/items/0/name`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}
