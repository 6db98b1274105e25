//! Which conversation an agent is to continue, and what becomes of one that is brought elsewhere.
//!
//! Only the words are here. Agents know where their sessions are kept and bring them; when that is needed, a run knows.

use std::path::PathBuf;

use crate::id::SessionId;

/// The most notes that one transfer keeps.
const MAX_NOTES: usize = 20;

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

/// Says what became of a session that an agent was to bring from one place to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionTransfer {
    /// The session's file in the place that it was brought to.
    pub file: PathBuf,
    /// What was done.
    pub outcome: TransferOutcome,
    /// How many transcripts of sub-agents were written there.
    pub sub_agents: usize,
    /// What was left behind, and why; at most 20 notes.
    pub notes: Vec<String>,
}

/// Says whether a session had to be written to the place that it was brought to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferOutcome {
    /// It was written there.
    Written,
    /// It was there already, with all its lines or more.
    UpToDate,
    /// It went on in both places. The file there was left as it is.
    Parted,
}

impl SessionTransfer {
    /// Creates a transfer without sub-agents and notes.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, outcome: TransferOutcome) -> Self {
        Self { file: file.into(), outcome, sub_agents: 0, notes: Vec::new() }
    }

    /// Notes what was left behind.
    pub fn note(&mut self, note: impl Into<String>) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note.into());
        }
    }
}
