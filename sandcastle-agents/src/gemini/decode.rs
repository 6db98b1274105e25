//! From the lines of `gemini --output-format stream-json` to events.
//!
//! The answer is the pieces of the `assistant` messages; the `user` message repeats the prompt, and what the model
//! thought is not printed. An answer that broke off is asked for again without a word, so its pieces stay in the
//! answer. Only the line `result` says that the turn is over: a program that is asked to stop prints none and exits
//! with success all the same.

use sandcastle_core::SessionId;
use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, StopReason, UsageScope};

use super::failure;
use super::wire::Event;
use crate::excerpt::{message, unknown};
use crate::repair::read_or_repair;
use crate::tool;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct GeminiDecoder {
    /// The last error behind which the agent neither said nor did anything.
    error: Option<String>,
    /// Whether the agent has said anything.
    spoke: bool,
}

impl Decoder for GeminiDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        events.extend(self.error.take().map(|error| failed("", &error)));
    }
}

impl GeminiDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        match &*event.kind {
            "init" => {
                let id = SessionId::new(event.session_id.as_deref()?).ok()?;
                events.push(AgentEvent::Session { id });
            }
            "message" => self.message(event, events)?,
            "tool_use" => {
                self.error = None;
                events.push(AgentEvent::ToolCall {
                    name: tool::shortened(event.tool_name.as_deref().unwrap_or("tool")).to_owned(),
                    detail: event.parameters.0.unwrap_or_default().0,
                });
            }
            "tool_result" => {
                events.push(AgentEvent::ToolResult { is_error: event.status.as_deref() != Some("success") });
            }
            "error" => self.error(&event, events)?,
            "result" => self.turn_end(&event, events),
            _ => return None,
        }
        Some(())
    }

    fn message(&mut self, event: Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        match event.role.as_deref()? {
            "user" => {}
            "assistant" => {
                self.error = None;
                self.spoke = true;
                events.push(AgentEvent::Text { text: event.content?.into_owned() });
            }
            _ => return None,
        }
        Some(())
    }

    fn error(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        let message = message(event.message.as_deref()?);
        if event.severity.as_deref() != Some("warning") {
            self.error = Some(message.clone());
        }
        events.push(AgentEvent::Warning { message });
        Some(())
    }

    fn turn_end(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) {
        let earlier = self.error.take();
        events.extend(
            event.stats.map(|stats| AgentEvent::Usage { usage: stats.usage(), scope: UsageScope::Process }),
        );
        let own = event.error.as_ref();
        let kind = own.and_then(|error| error.kind.as_deref()).unwrap_or_default();
        let text = own.and_then(|error| error.message.as_deref()).or(earlier.as_deref());
        events.push(match (event.status.as_deref(), text) {
            (Some("success"), None) => completed(),
            // The program and the service have done their part: it is the answer that is not there.
            (_, Some(text)) if !self.spoke && failure::is_empty_answer(text) => completed(),
            (_, text) => failed(kind, text.unwrap_or("the turn failed without a message")),
        });
    }
}

fn completed() -> AgentEvent {
    AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None }
}

fn failed(kind: &str, text: &str) -> AgentEvent {
    AgentEvent::TurnFailed { failure: failure::classify(kind, text), message: failure::for_a_person(text) }
}
