//! Which conversation an agent is to continue.

use crate::id::SessionId;

/// Asks an agent for a new conversation or for a part in an old one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// Begins a new conversation.
    #[default]
    Fresh,
    /// Continues this conversation; it grows.
    Resume(SessionId),
    /// Begins a new conversation with the history of this one, which stays as it is.
    Fork(SessionId),
}

impl SessionRequest {
    /// Returns the conversation that is continued or copied.
    #[must_use]
    pub fn origin(&self) -> Option<&SessionId> {
        match self {
            Self::Fresh => None,
            Self::Resume(id) | Self::Fork(id) => Some(id),
        }
    }
}
