//! The protocols: what a reply looks like to a client of each, as data.
//!
//! Nothing here sends anything; [`super::http`] does.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod responses;

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::offer::{self, Part};
use super::reply::{Delivery, Message, Outcome, Raw, Refusal, Reply, Stop, Usage};

/// A protocol that agents speak to models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini, streaming.
    Gemini,
    /// Ollama, streaming.
    Ollama,
}

/// A response to be sent.
#[derive(Debug)]
pub(super) enum Answer {
    Whole {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Value,
    },
    Stream(Stream),
    Raw(Raw),
    /// No response at all.
    Dropped,
}

/// A stream of events.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) framing: Framing,
    pub(super) delivery: Delivery,
    pub(super) events: Vec<Event>,
    pub(super) pause: Option<Duration>,
    pub(super) ending: Ending,
}

/// What follows the last event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Closed,
    Severed,
    Silence(Duration),
}

/// A server-sent event. Protocols that name it do so twice: on its own line and as the `type` of its data. Chat
/// Completions name none, and end with one that is a mere word.
#[derive(Debug)]
pub(super) struct Event(Value);

/// How the events of a stream are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    ServerSent,
    /// Each is a line.
    Lines,
}

/// An answer with its tools resolved, and what an answer needs to know of its request.
#[derive(Debug)]
struct Turn<'a> {
    parts: Vec<Part>,
    usage: Usage,
    stop: &'a Stop,
    /// Makes the ids of this answer its own.
    number: usize,
    model: &'a str,
}

impl Protocol {
    /// The protocol of a request path, if it is one for answers.
    pub(super) fn of(path: &str) -> Option<Self> {
        [
            ("/v1/messages", Self::Messages),
            ("/v1/responses", Self::Responses),
            ("/v1/chat/completions", Self::Chat),
            (":streamGenerateContent", Self::Gemini),
            ("/api/chat", Self::Ollama),
        ]
        .into_iter()
        .find(|(suffix, _)| path.ends_with(suffix))
        .map(|(_, protocol)| protocol)
    }

    /// What a client gets for its request, the `number`th of this server.
    pub(super) fn answer(self, outcome: &Outcome, number: usize, body: &Value) -> Answer {
        match outcome {
            Outcome::Message(message) => self.message(message, number, body).unwrap_or_else(|problem| {
                self.answer(&Reply::status(400).because(problem).outcome, number, body)
            }),
            Outcome::Status(refusal) if self == Self::Gemini => gemini::refused(refusal),
            Outcome::Status(refusal) if self == Self::Ollama => ollama::refused(refusal),
            Outcome::Status(refusal) => refused(refusal),
            Outcome::Dropped => Answer::Dropped,
            Outcome::Raw(raw) => Answer::Raw(raw.clone()),
            Outcome::Silence(duration) => {
                Answer::Stream(Stream { ending: Ending::Silence(*duration), ..self.stream(Vec::new()) })
            }
        }
    }

    fn message(self, message: &Message, number: usize, body: &Value) -> Result<Answer, String> {
        let parts: Result<_, _> = message.blocks.iter().map(|block| offer::resolve(block, body)).collect();
        let turn = Turn {
            parts: parts?,
            usage: message.usage,
            stop: &message.stop,
            number,
            model: body["model"].as_str().unwrap_or("scripted"),
        };
        if body["stream"] != true && !matches!(self, Self::Gemini | Self::Ollama) {
            let body = match self {
                Self::Messages => messages::whole(&turn),
                Self::Responses => responses::whole(&turn),
                Self::Chat => chat::whole(&turn),
                Self::Gemini | Self::Ollama => Value::Null,
            };
            return Ok(Answer::Whole { status: 200, headers: Vec::new(), body });
        }
        let events = match self {
            Self::Messages => messages::events(&turn),
            Self::Responses => responses::events(&turn),
            Self::Chat => chat::events(&turn),
            Self::Gemini => gemini::events(&turn),
            Self::Ollama => ollama::events(&turn),
        };
        let ending = if message.stop == Stop::Severed { Ending::Severed } else { Ending::Closed };
        let (pause, delivery) = (message.pause, message.delivery);
        Ok(Answer::Stream(Stream { pause, delivery, ending, ..self.stream(events) }))
    }

    fn stream(self, events: Vec<Event>) -> Stream {
        let framing = if self == Self::Ollama { Framing::Lines } else { Framing::ServerSent };
        Stream { framing, delivery: Delivery::Events, events, pause: None, ending: Ending::Closed }
    }
}

impl Framing {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::ServerSent => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }

    /// An event as it goes out.
    pub(super) fn frame(self, event: &Event) -> String {
        match self {
            Self::ServerSent => event.to_string(),
            Self::Lines => format!("{}\n", event.0),
        }
    }
}

impl Turn<'_> {
    /// Whether the stream stops before the part at this index is closed.
    fn breaks_off_in(&self, index: usize) -> bool {
        matches!(self.stop, Stop::CutShort | Stop::Severed) && index + 1 == self.parts.len()
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:05}", self.number)
    }

    fn part_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:05}_{index}", self.number)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(word) = self.0.as_str() {
            return write!(f, "data: {word}\n\n");
        }
        if let Some(name) = self.0["type"].as_str() {
            writeln!(f, "event: {name}")?;
        }
        write!(f, "data: {}\n\n", self.0)
    }
}

/// Both services give an error as an object with a type and a message; `code` is OpenAI's.
fn refused(refusal: &Refusal) -> Answer {
    let Refusal { status, kind, message, headers } = refusal;
    let body = json!({ "type": "error", "error": { "type": kind, "code": kind, "message": message } });
    Answer::Whole { status: *status, headers: headers.clone(), body }
}

/// The text in the pieces of a stream: never more than this many characters in one event.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    const CHARACTERS: usize = 4000;
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(CHARACTERS).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}
