//! From the lines of `opencode run --format json` to events.
//!
//! The program prints each part of a message once, when it is whole, and no line that ends the turn: a turn is over
//! when a step of it ends by itself. A step that ends for a reason that the program does not know is followed by
//! another one, for as long as somebody lets it.

use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, StopReason, UsageScope};
use sandcastle_core::{SessionId, Usage};

use super::failure;
use super::wire::{Event, Part};
use crate::excerpt::unknown;
use crate::json::Text;
use crate::repair::read_or_repair;
use crate::tool;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct OpenCodeDecoder {
    session: Option<SessionId>,
    used: Usage,
    step: Step,
}

/// Where the turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Step {
    #[default]
    Begun,
    /// A tool was called, so another step follows whatever the model says of the end of this one.
    CalledATool,
    /// It ended like the end of a turn, but had called a tool. If nothing follows, it was one.
    MayBeTheLast(StopReason),
}

impl Decoder for OpenCodeDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        if let Step::MayBeTheLast(stop) = self.step {
            events.push(AgentEvent::TurnCompleted { stop, structured: None });
        }
    }
}

impl OpenCodeDecoder {
    /// Reads a line, or returns `None` if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        let is_main = self.is_main(event.session.as_deref(), events);
        match (&*event.kind, is_main) {
            ("step_start", true) => self.step = Step::Begun,
            ("text", true) => events.push(AgentEvent::Text { text: text(event.part)? }),
            ("text", false) => events.push(AgentEvent::SubAgentText { text: text(event.part)? }),
            ("reasoning", true) => events.push(AgentEvent::Thinking { text: text(event.part)? }),
            ("tool_use", is_main) => {
                tool_use(&event.part?, events);
                if is_main {
                    self.step = Step::CalledATool;
                }
            }
            ("step_finish", true) => self.step_finish(&event.part?, events),
            ("error", true) => {
                let error = event.error?;
                self.step = Step::Begun;
                events.push(AgentEvent::TurnFailed {
                    failure: failure::classify(&error),
                    message: failure::for_a_person(&error),
                });
            }
            ("step_finish", false) => self.count(&event.part?, events),
            ("step_start" | "reasoning" | "error", false) => {}
            _ => return None,
        }
        Some(())
    }

    /// Tells whether a line is of the session of the main agent, which is the first that is named.
    fn is_main(&mut self, session: Option<&str>, events: &mut Vec<AgentEvent>) -> bool {
        let Some(session) = session else { return true };
        if let Some(own) = &self.session {
            return **own == *session;
        }
        if let Ok(id) = SessionId::new(session) {
            self.session = Some(id.clone());
            events.push(AgentEvent::Session { id });
        }
        true
    }

    /// Counts what a step has used, whoever made it.
    fn count(&mut self, part: &Part<'_>, events: &mut Vec<AgentEvent>) {
        self.used += part.usage();
        events.push(AgentEvent::Usage { usage: self.used, scope: UsageScope::Process });
    }

    fn step_finish(&mut self, part: &Part<'_>, events: &mut Vec<AgentEvent>) {
        self.count(part, events);
        let stop = match part.reason.as_deref().unwrap_or_default() {
            "stop" => StopReason::Complete,
            "length" => StopReason::OutputLimit,
            "content-filter" => StopReason::Filtered,
            _ => return,
        };
        if self.step == Step::CalledATool {
            self.step = Step::MayBeTheLast(stop);
        } else {
            events.push(AgentEvent::TurnCompleted { stop, structured: None });
        }
    }
}

fn text(part: Option<Part<'_>>) -> Option<String> {
    part?.text.map(Text::into_owned)
}

/// Reads a tool call, which is printed when it has come back.
fn tool_use(part: &Part<'_>, events: &mut Vec<AgentEvent>) {
    let state = part.state.as_ref();
    let failed = state.is_some_and(|state| {
        let exit = state.metadata.as_ref().and_then(|metadata| *metadata.exit);
        state.status.as_deref() == Some("error") || exit.is_some_and(|code| code != 0)
    });
    events.push(AgentEvent::ToolCall {
        name: tool::shortened(part.tool.as_deref().unwrap_or("tool")).to_owned(),
        detail: tool::detail(state.and_then(|state| state.input)),
    });
    events.push(AgentEvent::ToolResult { is_error: failed });
}
