//! From the lines of `copilot --output-format json` to events.
//!
//! The answer is the pieces of the main agent's messages as they come; a message that came in pieces is printed whole
//! as well, and one that did not come in pieces only so. Errors are events of their own, and a turn that was stopped
//! ends with exit code 0: the line `result` is a success only if neither came before it.

use sandcastle_core::SessionId;
use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, FailureKind, StopReason};

use super::failure;
use super::wire::{Data, Event};
use crate::excerpt::{cut, message, unknown};
use crate::repair::read_or_repair;
use crate::tool;

/// The longest id of a message that is remembered, in bytes.
const ID: usize = 200;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct CopilotDecoder {
    /// The message whose pieces came last.
    in_pieces: Option<String>,
    /// The last error behind which the main agent said nothing.
    failure: Option<(FailureKind, String)>,
}

impl Decoder for CopilotDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        events.extend(self.failed());
    }
}

impl CopilotDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        let main = event.agent.is_none() && event.data.parent_tool_call_id.is_none();
        let data = event.data;
        match &*event.kind {
            "assistant.message_delta" => self.piece(data, main, events)?,
            "assistant.message" => self.whole(data, main, events),
            "assistant.reasoning" if main => {
                events.push(AgentEvent::Thinking { text: data.content.0?.into_owned() })
            }
            "tool.execution_start" => events.push(AgentEvent::ToolCall {
                name: tool::shortened(data.tool_name.as_deref().unwrap_or("tool")).to_owned(),
                detail: data.arguments.0.unwrap_or_default().0,
            }),
            "tool.execution_complete" => {
                events.push(AgentEvent::ToolResult { is_error: data.success.0 != Some(true) });
            }
            "assistant.turn_retry" => events.push(waiting(&data)),
            "session.warning" => {
                events.push(AgentEvent::Warning { message: message(data.message.as_deref()?) })
            }
            "session.error" | "error" | "agent_error" => self.error(&data, main, events)?,
            "abort" | "agent.interrupted" if main => self.interrupted(),
            "assistant.idle" if data.aborted.0 == Some(true) => self.interrupted(),
            "result" => self.turn_end(event.session.as_deref(), event.exit_code.0, events),
            kind if is_silent(kind) => {}
            _ => return None,
        }
        Some(())
    }

    fn piece(&mut self, data: Data<'_>, main: bool, events: &mut Vec<AgentEvent>) -> Option<()> {
        let text = data.delta_content?.into_owned();
        if main {
            self.failure = None;
            let id = cut(data.message_id.as_deref().unwrap_or_default(), ID);
            if self.in_pieces.as_deref() != Some(id) {
                self.in_pieces = Some(id.to_owned());
            }
            events.push(AgentEvent::Text { text });
        } else {
            events.push(AgentEvent::SubAgentText { text });
        }
        Some(())
    }

    fn whole(&mut self, data: Data<'_>, main: bool, events: &mut Vec<AgentEvent>) {
        let id = cut(data.message_id.as_deref().unwrap_or_default(), ID);
        let is_new = self.in_pieces.as_deref() != Some(id);
        let text = data.content.0.filter(|text| main && is_new && !text.is_empty());
        if let Some(text) = text {
            self.failure = None;
            events.push(AgentEvent::Text { text: text.into_owned() });
        }
    }

    fn error(&mut self, data: &Data<'_>, main: bool, events: &mut Vec<AgentEvent>) -> Option<()> {
        let text = data.message.as_deref()?;
        let kind =
            failure::classify(data.error_type.as_deref().unwrap_or_default(), data.status_code.0, text);
        if main {
            self.failure = Some((kind, message(text)));
        }
        events.push(AgentEvent::Warning { message: message(text) });
        Some(())
    }

    fn interrupted(&mut self) {
        self.failure = Some((FailureKind::Interrupted, "the turn was interrupted".to_owned()));
    }

    fn turn_end(&mut self, session: Option<&str>, exit_code: Option<i64>, events: &mut Vec<AgentEvent>) {
        let id = session.and_then(|id| SessionId::new(id).ok());
        events.extend(id.map(|id| AgentEvent::Session { id }));
        events.push(match (self.failed(), exit_code) {
            (Some(failed), _) => failed,
            (None, Some(0)) => AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None },
            (None, code) => {
                let code = code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
                let message = format!("the turn ended with {code} and without a message");
                AgentEvent::TurnFailed { failure: FailureKind::Other, message }
            }
        });
    }

    fn failed(&mut self) -> Option<AgentEvent> {
        self.failure.take().map(|(failure, message)| AgentEvent::TurnFailed { failure, message })
    }
}

fn waiting(data: &Data<'_>) -> AgentEvent {
    let reason = data.reason.as_deref().unwrap_or("an error");
    AgentEvent::Waiting { message: message(&format!("retry of the request to the model: {reason}")) }
}

/// Tells whether a line repeats what others say, or says what only an interface shows.
fn is_silent(kind: &str) -> bool {
    const SILENT: &[&str] = &[
        "assistant.idle",
        "assistant.intent",
        "assistant.message_start",
        "assistant.reasoning",
        "assistant.reasoning_delta",
        "assistant.tool_call_delta",
        "assistant.turn_end",
        "assistant.turn_start",
        "assistant.usage",
        "model.call_failure",
        "model.call_final_result",
        "model.call_finished",
        "model.call_start",
        "session.background_tasks_changed",
        "session.info",
        "session.mcp_servers_loaded",
        "session.resume",
        "session.skills_loaded",
        "session.start",
        "session.tools_updated",
        "tool.execution_partial_result",
        "tool.execution_progress",
        "tool.shell_output",
        "user.message",
    ];
    SILENT.binary_search(&kind).is_ok()
}
