//! A token that opens something.
//!
//! It is given by whoever has it; nothing here reads the environment. It is shown by nothing: `Debug` has a mask.

use std::fmt;
use std::sync::Arc;

use super::MASK;

/// A token that opens something for whoever has it, such as a repository on a code host. It is never shown.
///
/// ```
/// use sandcastle_core::secret::Token;
///
/// assert_eq!(format!("{:?}", Token::from("hunter2")), "Token(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

impl Token {
    /// Returns the token itself, for who checks it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Token {
    fn from(token: &str) -> Self {
        Self(token.into())
    }
}

impl From<String> for Token {
    fn from(token: String) -> Self {
        Self(token.into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({MASK})")
    }
}
