//! From the lines of `codex exec --json` to events.
//!
//! Every message of the agent is part of its answer. Errors are of three sorts: an `error` item or line is a warning,
//! a `Reconnecting` line is a wait, and only `turn.failed`, or a stream that ends after an error and outside of a
//! completed turn, is a failure.

use sandcastle_core::SessionId;
use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, StopReason, UsageScope};

use super::failure;
use super::wire::{Event, Item};
use crate::excerpt::{message, unknown};
use crate::repair::read_or_repair;
use crate::tool;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct CodexDecoder {
    /// The last error line that no end of the turn has followed.
    error: Option<String>,
    /// Whether the last turn was completed: no error behind it can undo that.
    completed: bool,
}

impl Decoder for CodexDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        events.extend(self.error.take().map(|error| failed(&error)));
    }
}

impl CodexDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        match &*event.kind {
            "thread.started" => {
                let id = SessionId::new(&**event.thread_id.as_ref()?).ok()?;
                events.push(AgentEvent::Session { id });
            }
            "turn.started" => self.completed = false,
            "item.started" => started(&event.item?, events)?,
            "item.completed" => completed(event.item?, events)?,
            "item.updated" => {}
            "turn.completed" => self.turn_completed(&event, events),
            "turn.failed" => self.turn_failed(&event, events),
            "error" => self.error(&event.message?, events),
            _ => return None,
        }
        Some(())
    }

    fn turn_completed(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) {
        self.error = None;
        self.completed = true;
        events.extend(
            event.usage.map(|tokens| AgentEvent::Usage { usage: tokens.usage(), scope: UsageScope::Session }),
        );
        events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
    }

    fn turn_failed(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) {
        let earlier = self.error.take();
        let own = event.error.as_ref().and_then(|error| error.message.as_deref());
        events.push(failed(own.or(earlier.as_deref()).unwrap_or("the turn failed without a message")));
    }

    fn error(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        if text.starts_with("Reconnecting...") {
            events.push(AgentEvent::Waiting { message: message(text) });
        } else {
            let message = message(text);
            self.error = Some(message.clone()).filter(|_| !self.completed);
            events.push(AgentEvent::Warning { message });
        }
    }
}

/// Reads the start of an item. Only a command tells then already what it is about.
fn started(item: &Item<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
    match &*item.kind {
        "command_execution" => events.push(call(&item.kind, item.command.as_deref().unwrap_or_default())),
        "mcp_tool_call" => events.push(mcp_call(item)),
        "agent_message" | "reasoning" | "file_change" | "web_search" | "todo_list" | "error" => {}
        _ => return None,
    }
    Some(())
}

fn completed(item: Item<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
    match &*item.kind {
        "agent_message" => events.push(AgentEvent::Text { text: item.text?.into_owned() }),
        "reasoning" => events.push(AgentEvent::Thinking { text: item.text?.into_owned() }),
        "command_execution" | "mcp_tool_call" => events.push(result(&item)),
        "file_change" => {
            let changes = item.changes.iter().flat_map(|changes| changes.iter());
            let paths: Vec<&str> = changes.map(|change| &*change.path).collect();
            events.extend([call(&item.kind, &paths.join(" ")), result(&item)]);
        }
        "web_search" => {
            events.extend([call(&item.kind, item.query.as_deref().unwrap_or_default()), result(&item)]);
        }
        "todo_list" => {}
        "error" => events.push(AgentEvent::Warning { message: message(&item.message?) }),
        _ => return None,
    }
    Some(())
}

fn call(name: &str, detail: &str) -> AgentEvent {
    AgentEvent::ToolCall { name: name.to_owned(), detail: tool::shortened(detail).to_owned() }
}

fn mcp_call(item: &Item<'_>) -> AgentEvent {
    let name: Vec<&str> = item.server.as_deref().into_iter().chain(item.tool.as_deref()).collect();
    AgentEvent::ToolCall {
        name: tool::shortened(&name.join(".")).to_owned(),
        detail: tool::detail(item.arguments),
    }
}

fn result(item: &Item<'_>) -> AgentEvent {
    let finished = item.status.as_deref().is_none_or(|status: &str| status == "completed");
    AgentEvent::ToolResult { is_error: !finished || item.exit_code.is_some_and(|code| code != 0) }
}

fn failed(text: &str) -> AgentEvent {
    AgentEvent::TurnFailed { failure: failure::classify(text), message: failure::for_a_person(text) }
}
