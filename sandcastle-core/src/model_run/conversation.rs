//! What was said in a model run, and how it is put to whoever is asked next.
//!
//! A failed answer and its correction are one turn, kept apart from the others: they are put in the way that the model
//! at hand is asked (as text, or as a call of the answer tool and its result), and they are no part of the conversation
//! that the caller gets back.

use serde_json::Value;

use super::tools::{self, Came};
use crate::model::{Message, ToolCall};

/// A conversation, oldest turn first.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    turns: Vec<Turn>,
}

#[derive(Debug)]
enum Turn {
    /// A message, and the provider that it is from or that what is replayed in it is for.
    Said {
        message: Message,
        provider: String,
    },
    Corrected(Corrected),
}

/// An answer that was not accepted, and what was said about it.
#[derive(Debug)]
pub(super) struct Corrected {
    /// Who gave it.
    pub(super) provider: String,
    /// The answer as text: what was judged, whole.
    pub(super) text: String,
    /// What was said beside the calls of the answer tool, if the answer came by it.
    pub(super) beside: String,
    /// The calls of the answer tool.
    pub(super) calls: Vec<ToolCall>,
    /// What the service wants to see again.
    pub(super) replay: Option<Value>,
    /// What was said about it.
    pub(super) correction: String,
}

/// Whom the conversation is put to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) provider: &'a str,
    /// The answer tool, if it is asked by one.
    pub(super) answer_tool: Option<&'a str>,
}

impl Conversation {
    pub(super) fn push(&mut self, provider: &str, message: Message) {
        self.turns.push(Turn::Said { message, provider: provider.to_owned() });
    }

    pub(super) fn correct(&mut self, corrected: Corrected) {
        self.turns.push(Turn::Corrected(corrected));
    }

    /// Returns the messages for a reader.
    pub(super) fn put_to(&self, reader: Reader<'_>, hidden: &str) -> Vec<Message> {
        let mut messages = Vec::with_capacity(self.turns.len());
        for turn in &self.turns {
            match turn {
                Turn::Said { message, provider } => {
                    let mut message = message.clone();
                    if let Message::Assistant { replay, .. } = &mut message
                        && provider != reader.provider
                    {
                        *replay = None;
                    }
                    match reader.answer_tool {
                        Some(_) => messages.push(message),
                        None => messages.extend(without(message, hidden)),
                    }
                }
                Turn::Corrected(corrected) => corrected.put_to(reader, &mut messages),
            }
        }
        messages
    }

    /// Returns the conversation as the caller may go on with it: without failed answers, their corrections, and the tool
    /// `hidden`.
    pub(super) fn into_messages(self, hidden: &str) -> Vec<Message> {
        let said = self.turns.into_iter().filter_map(|turn| match turn {
            Turn::Said { message, .. } => without(message, hidden),
            Turn::Corrected(_) => None,
        });
        said.collect()
    }
}

impl Corrected {
    fn put_to(&self, reader: Reader<'_>, messages: &mut Vec<Message>) {
        // What is replayed of an answer holds all its calls, so it goes only with all of them.
        let replay = self.replay.clone().filter(|_| self.provider == reader.provider);
        let Some(first) = self.calls.first().filter(|call| goes_as_call(call, reader)) else {
            // An empty message is refused by some services.
            if !self.text.trim().is_empty() {
                let replay = replay.filter(|_| self.calls.is_empty());
                messages.push(Message::Assistant { text: self.text.clone(), calls: Vec::new(), replay });
            }
            messages.push(Message::user(self.correction.clone()));
            return;
        };
        messages.push(Message::Assistant {
            text: self.beside.clone(),
            calls: vec![first.clone()],
            replay: replay.filter(|_| self.calls.len() == 1),
        });
        messages.push(tools::result(first, self.correction.clone(), Came::Failed));
    }
}

/// Tells whether a reader can be shown a call of the answer tool: it knows the tool, and services take only objects for
/// arguments.
fn goes_as_call(call: &ToolCall, reader: Reader<'_>) -> bool {
    reader.answer_tool == Some(&*call.name)
        && serde_json::from_str::<Value>(&call.arguments).is_ok_and(|arguments| arguments.is_object())
}

/// Takes the calls of a tool out of a message, and its results.
fn without(message: Message, tool: &str) -> Option<Message> {
    match message {
        Message::ToolResult { name, .. } if name == tool => None,
        Message::Assistant { text, mut calls, replay } => {
            let before = calls.len();
            calls.retain(|call| call.name != tool);
            let replay = replay.filter(|_| calls.len() == before);
            Some(Message::Assistant { text, calls, replay })
        }
        other => Some(other),
    }
}
