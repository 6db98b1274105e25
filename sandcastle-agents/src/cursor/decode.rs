//! From the lines of Cursor's `agent` to events.
//!
//! The answer is the text of the `assistant` messages. The `result` line repeats it and is asked for how the turn ended,
//! and for the text of an answer that had no message. A failed turn has no such line; its reason is on the error output.

use sandcastle_core::SessionId;
use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, StopReason, UsageScope};

use super::failure;
use super::wire::{Body, Call, Event};
use crate::excerpt::{message, unknown};
use crate::json::Lenient;
use crate::repair::read_or_repair;
use crate::tool::{self, Arguments};

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct CursorDecoder {
    /// Whether the agent has said anything.
    spoke: bool,
    /// The last error behind which the agent neither said nor did anything.
    error: Option<String>,
}

impl Decoder for CursorDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        events.extend(self.error.take().map(|error| failed(&error)));
    }
}

impl CursorDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        match (&*event.kind, event.subtype.as_deref()) {
            ("system", Some("init")) => {
                let id = SessionId::new(event.session_id.as_deref()?).ok()?;
                events.push(AgentEvent::Session { id });
            }
            ("assistant", _) => self.assistant(event, events)?,
            ("thinking", Some("delta")) => {
                events.push(AgentEvent::Thinking { text: event.text.0?.into_owned() });
            }
            ("tool_call", Some("started")) => {
                self.error = None;
                events.push(call(event.tool_call.0?));
            }
            ("tool_call", Some("completed")) => {
                let result = event.tool_call.0?.body.0.and_then(|body| body.result.0);
                let is_error = result.is_some_and(|result| result.success.is_none());
                events.push(AgentEvent::ToolResult { is_error });
            }
            ("error", _) => self.error(&event, events)?,
            ("result", _) => self.turn_end(event, events),
            // The echo of the prompt, the end of a thought, and questions that the program answers itself.
            ("user" | "thinking" | "interaction_query", _) => {}
            _ => return None,
        }
        Some(())
    }

    /// Reads a message; one without any text is nothing that is known.
    fn assistant(&mut self, event: Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        let text = Some(event.message.0?.content.0).filter(|text| !text.is_empty())?;
        self.spoke = true;
        self.error = None;
        events.push(AgentEvent::Text { text });
        Some(())
    }

    fn error(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        let text = [&event.error, &event.result, &event.text].into_iter().find_map(|text| text.as_deref());
        let message = message(text?);
        self.error = Some(message.clone());
        events.push(AgentEvent::Warning { message });
        Some(())
    }

    fn turn_end(&mut self, event: Event<'_>, events: &mut Vec<AgentEvent>) {
        let earlier = self.error.take();
        events.extend(
            event.usage.map(|tokens| AgentEvent::Usage { usage: tokens.usage(), scope: UsageScope::Process }),
        );
        let is_success = event.subtype.as_deref() == Some("success") && event.is_error.0 != Some(true);
        if !is_success || earlier.is_some() {
            let own = event.error.0.or(event.result.0.filter(|_| !is_success));
            let text = own.as_deref().filter(|text: &&str| !text.trim().is_empty()).or(earlier.as_deref());
            events.push(failed(text.unwrap_or("the turn failed without a message")));
            return;
        }
        let text = event.result.0.filter(|text| !self.spoke && !text.is_empty());
        self.spoke |= text.is_some();
        events.extend(text.map(|text| AgentEvent::Text { text: text.into_owned() }));
        events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
    }
}

/// Reads the start of a tool call. Its name is the key that it stands under, without what all keys end in.
fn call(call: Call<'_>) -> AgentEvent {
    let key = call.name.strip_suffix("ToolCall").unwrap_or(&call.name).to_owned();
    let (name, detail) = match call.body.0 {
        Some(Body { name: Lenient(Some(name)), arguments, .. }) => {
            let arguments = arguments.0.unwrap_or_default();
            let detail = serde_json::from_str(&arguments).map(|Arguments(detail)| detail);
            (name.into_owned(), detail.unwrap_or_else(|_| tool::shortened(&arguments).to_owned()))
        }
        Some(body) => (key, body.args.0.unwrap_or_default().0),
        None => (key, String::new()),
    };
    AgentEvent::ToolCall { name: tool::shortened(&name).to_owned(), detail }
}

fn failed(text: &str) -> AgentEvent {
    AgentEvent::TurnFailed { failure: failure::classify(text), message: message(text) }
}
