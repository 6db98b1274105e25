//! One answer of the model, said without a protocol: blocks of text, thinking and tool calls, or a failure.
//!
//! What it looks like on the wire is the business of [`super::wire`].

use std::time::Duration;

use hyper::body::Bytes;

use serde_json::Value;

/// One answer of the scripted model, used up by one request unless it is [`Reply::always`] given.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(super) outcome: Outcome,
    pub(super) times: Times,
}

/// How often a reply is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Once,
    Always,
}

/// What becomes of the request.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// The model answers.
    Message(Message),
    /// The server refuses, in the error shape of its protocol.
    Status(Refusal),
    /// The connection closes without a byte.
    Dropped,
    /// The head arrives, then nothing for that long, then the connection closes.
    Silence(Duration),
    /// Bytes as they are, whatever the protocol.
    Raw(Raw),
}

/// An answer and how its stream ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) blocks: Vec<Block>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
    pub(super) pause: Option<Duration>,
    pub(super) delivery: Delivery,
}

/// In which pieces a stream is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Delivery {
    #[default]
    Events,
    /// Every byte alone.
    Bytes,
}

/// A response as it stands, for what no service should answer.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    /// Sent behind the body, over and over, until the client goes away.
    pub(super) endless: Option<Bytes>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    /// A command for whichever shell tool the agent offers.
    Shell(String),
    /// A call of a tool by its own name.
    Tool {
        name: String,
        arguments: Value,
    },
    /// A call of a tool that takes plain text (the Responses protocol only).
    TextTool {
        name: String,
        input: String,
    },
    /// A value by the agent's own way to structured output: a tool if it offers one, else text.
    Structured(Value),
}

/// Why an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stop {
    /// By itself: at its end, or at a tool call.
    #[default]
    Finished,
    /// At the limit of output tokens.
    OutputLimit,
    /// At the limit of what the model can see; as a service says it that has a word for it.
    ContextLimit,
    /// Because the model refuses.
    Refused,
    /// Because the service does not let it through.
    Filtered,
    /// Before its last block is closed: the response ends well formed, the answer does not.
    CutShort,
    /// Before its last block is closed, by the loss of the connection.
    Severed,
    /// After its first event, by an error event of this type.
    ErrorEvent(String),
}

/// Token counts that the answer reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    /// Written to a cache and read from one, beside the input.
    pub(super) written: u64,
    pub(super) read: u64,
}

impl Usage {
    /// All that went in, as most services count.
    pub(super) fn all_input(self) -> u64 {
        self.input + self.written + self.read
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 11, output: 7, written: 0, read: 0 }
    }
}

/// A response with an error status.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Reply {
    /// An answer without any block.
    pub(crate) fn empty() -> Self {
        Self::outcome(Outcome::Message(Message::default()))
    }

    /// An answer that is one block of text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::empty().and_text(text)
    }

    /// An answer that begins with thinking.
    pub(crate) fn thinking(text: impl Into<String>) -> Self {
        Self::empty().block(Block::Thinking(text.into()))
    }

    /// An answer that calls the agent's shell tool.
    pub(crate) fn shell(command: impl Into<String>) -> Self {
        Self::empty().and_shell(command)
    }

    /// An answer that calls a tool by its own name.
    pub(crate) fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::empty().block(Block::Tool { name: name.into(), arguments })
    }

    /// An answer that calls a tool whose argument is plain text.
    pub(crate) fn text_tool(name: impl Into<String>, input: impl Into<String>) -> Self {
        Self::empty().block(Block::TextTool { name: name.into(), input: input.into() })
    }

    /// An answer that gives a value by the agent's own way to structured output.
    pub(crate) fn structured(value: Value) -> Self {
        Self::empty().block(Block::Structured(value))
    }

    /// A refusal with this status, of the kind that the real services give it.
    pub(crate) fn status(status: u16) -> Self {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let message = format!("scripted status {status}");
        Self::outcome(Outcome::Status(Refusal {
            status,
            kind: kind.to_owned(),
            message,
            headers: Vec::new(),
        }))
    }

    /// A connection that closes without an answer.
    pub(crate) fn dropped() -> Self {
        Self::outcome(Outcome::Dropped)
    }

    /// A stream that opens and stays silent for this long, or until the client goes away.
    pub(crate) fn silence(duration: Duration) -> Self {
        Self::outcome(Outcome::Silence(duration))
    }

    /// Adds a block of text of its own.
    pub(crate) fn and_text(self, text: impl Into<String>) -> Self {
        self.block(Block::Text(text.into()))
    }

    /// Adds a call of a tool by its own name.
    pub(crate) fn and_tool(self, name: impl Into<String>, arguments: Value) -> Self {
        self.block(Block::Tool { name: name.into(), arguments })
    }

    /// Adds a call of the agent's shell tool.
    pub(crate) fn and_shell(self, command: impl Into<String>) -> Self {
        self.block(Block::Shell(command.into()))
    }

    /// Says why in place of the scripted words (refusals only).
    pub(crate) fn because(mut self, message: impl Into<String>) -> Self {
        self.refusal().message = message.into();
        self
    }

    /// Says after how many seconds to come back (refusals only).
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.refusal().headers.push(("retry-after", seconds.to_string()));
        self
    }

    /// Reports these token counts.
    pub(crate) fn usage(mut self, input: u64, output: u64) -> Self {
        let usage = &mut self.message().usage;
        (usage.input, usage.output) = (input, output);
        self
    }

    /// Reports these token counts of a cache, beside the others.
    pub(crate) fn cached(mut self, written: u64, read: u64) -> Self {
        let usage = &mut self.message().usage;
        (usage.written, usage.read) = (written, read);
        self
    }

    /// Sends every byte of the stream alone.
    pub(crate) fn byte_by_byte(mut self) -> Self {
        self.message().delivery = Delivery::Bytes;
        self
    }

    /// A response of these bytes, under this type of content.
    pub(crate) fn raw(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self::outcome(Outcome::Raw(Raw { status, headers, body: body.into(), endless: None }))
    }

    /// Adds a header (raw responses only).
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.bytes().headers.push((name, value.into()));
        self
    }

    /// Sends these bytes behind the others, over and over (raw responses only).
    pub(crate) fn and_endless(mut self, bytes: impl Into<Bytes>) -> Self {
        self.bytes().endless = Some(bytes.into());
        self
    }

    /// Waits before each event of the stream, to give it some length.
    pub(crate) fn slowly(mut self, pause: Duration) -> Self {
        self.message().pause = Some(pause);
        self
    }

    /// Ends at the limit of output tokens.
    pub(crate) fn at_output_limit(self) -> Self {
        self.stop(Stop::OutputLimit)
    }

    /// Ends because the conversation fills all that the model can see.
    pub(crate) fn at_context_limit(self) -> Self {
        self.stop(Stop::ContextLimit)
    }

    /// Ends because the model refuses.
    pub(crate) fn refused(self) -> Self {
        self.stop(Stop::Refused)
    }

    /// Ends because the service does not let it through.
    pub(crate) fn filtered(self) -> Self {
        self.stop(Stop::Filtered)
    }

    /// Ends the stream before the last block is closed, as a well-formed response.
    pub(crate) fn cut_short(self) -> Self {
        self.stop(Stop::CutShort)
    }

    /// Loses the connection before the last block is closed.
    pub(crate) fn severed(self) -> Self {
        self.stop(Stop::Severed)
    }

    /// An answer that opens and then breaks off with an error event.
    pub(crate) fn error_event(kind: impl Into<String>) -> Self {
        Self::empty().stop(Stop::ErrorEvent(kind.into()))
    }

    /// Gives this reply to every request from here on.
    pub(crate) fn always(mut self) -> Self {
        self.times = Times::Always;
        self
    }

    fn outcome(outcome: Outcome) -> Self {
        Self { outcome, times: Times::Once }
    }

    fn block(mut self, block: Block) -> Self {
        self.message().blocks.push(block);
        self
    }

    fn stop(mut self, stop: Stop) -> Self {
        self.message().stop = stop;
        self
    }

    fn message(&mut self) -> &mut Message {
        match &mut self.outcome {
            Outcome::Message(message) => message,
            other => panic!("only an answer has blocks and an end, this is {other:?}"),
        }
    }

    fn bytes(&mut self) -> &mut Raw {
        match &mut self.outcome {
            Outcome::Raw(raw) => raw,
            other => panic!("only a raw response has bytes of its own, this is {other:?}"),
        }
    }

    fn refusal(&mut self) -> &mut Refusal {
        match &mut self.outcome {
            Outcome::Status(refusal) => refusal,
            other => panic!("only a refusal has a reason and headers, this is {other:?}"),
        }
    }
}
