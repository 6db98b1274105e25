//! From the lines of `pi --mode json` to events.
//!
//! A message is read once, when it is whole. The program exits as after a success whatever became of its turn: how it
//! went stands in the last message of the model, and a turn that failed may be begun again by the program itself. So a
//! success is told where it is read, and a failure only when nothing follows it.

use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, FailureKind, StopReason, UsageScope};
use sandcastle_core::{SessionId, Usage};

use super::failure;
use super::wire::{Event, Message};
use crate::excerpt::{message, unknown};
use crate::repair::repaired;
use crate::tool;

/// How lines begin that say something is under way and otherwise repeat, with every piece, all that there is of it.
const UNDER_WAY: [&[u8]; 2] = [br#"{"type":"message_update""#, br#"{"type":"tool_execution_update""#];

/// How lines begin that only repeat what other lines have told.
const REPEATED: [&[u8]; 2] = [br#"{"type":"message_start""#, br#"{"type":"turn_end""#];

const AGENT_END: &[u8] = br#"{"type":"agent_end""#;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct PiDecoder {
    used: Usage,
    /// How the last message of the model ended.
    last: Option<Ending>,
}

#[derive(Debug)]
enum Ending {
    Completed(StopReason),
    Failed {
        failure: FailureKind,
        message: String,
    },
    /// It called a tool, and the turn goes on.
    GoesOn,
}

impl Decoder for PiDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        // An answer of two megabytes comes with a gigabyte of such lines: their beginning has to be enough.
        if UNDER_WAY.iter().any(|beginning| line.starts_with(beginning)) {
            // Whoever waits for the agent is to know that it is not silent.
            events.push(self.usage());
        } else if line.starts_with(AGENT_END) {
            self.agent_end(events);
        } else if !REPEATED.iter().any(|beginning| line.starts_with(beginning)) {
            // What a field of another type costs must not be what half an emoji costs, so repairs come first.
            let repaired = repaired(line);
            if self.read(repaired.as_deref().unwrap_or(line), events).is_none() {
                unknown(line, events);
            }
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        if matches!(self.last, Some(Ending::Completed(_))) {
            events.push(self.usage());
        }
        self.fail(events);
    }
}

impl PiDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        match &*event.kind {
            "session" => {
                let id = SessionId::new(&**event.id.as_ref()?).ok()?;
                events.push(AgentEvent::Session { id });
            }
            "agent_start" => self.last = None,
            "message_end" => self.message(event.message?, events),
            "tool_execution_start" => events.push(AgentEvent::ToolCall {
                name: tool::shortened(event.tool_name.as_deref().unwrap_or("tool")).to_owned(),
                detail: tool::detail(event.args),
            }),
            "tool_execution_end" => {
                events.push(AgentEvent::ToolResult { is_error: event.is_error.unwrap_or(false) });
            }
            "auto_retry_start" => {
                self.last = None;
                events.push(waiting(&event));
            }
            "auto_retry_end" => self.retries_end(&event, events),
            "compaction_start" => events.push(AgentEvent::Waiting {
                message: message(&format!(
                    "shortening the conversation ({})",
                    event.reason.as_deref().unwrap_or("no reason given")
                )),
            }),
            "compaction_end" => {
                let text = event.error_message.as_deref();
                events.extend(text.map(|text| AgentEvent::Warning { message: message(text) }));
            }
            // The first three are here for lines with white space between their parts.
            "message_update"
            | "tool_execution_update"
            | "message_start"
            | "turn_start"
            | "turn_end"
            | "queue_update"
            | "session_info_changed"
            | "thinking_level_changed" => {}
            "agent_end" => self.agent_end(events),
            _ => return None,
        }
        Some(())
    }

    fn message(&mut self, message: Message<'_>, events: &mut Vec<AgentEvent>) {
        if &*message.role != "assistant" {
            return;
        }
        self.used += message.usage.as_ref().map(super::wire::Tokens::usage).unwrap_or_default();
        let ending = ending(&message);
        // What was said of an answer that failed is no part of one: it is said again when the program tries again.
        if !matches!(ending, Ending::Failed { .. }) {
            for block in message.content.0.into_iter().flatten() {
                let said = |text: &str| !text.is_empty();
                match &*block.kind {
                    "text" => events.extend(
                        block
                            .text
                            .0
                            .filter(|text| said(text))
                            .map(|text| AgentEvent::Text { text: text.into_owned() }),
                    ),
                    "thinking" => events.extend(
                        block
                            .thinking
                            .0
                            .filter(|text| said(text))
                            .map(|text| AgentEvent::Thinking { text: text.into_owned() }),
                    ),
                    _ => {}
                }
            }
        }
        // What the last answer of a turn has cost is told with the end of the turn: no budget can undo it, and one that is
        // told to be spent ends the program.
        if !matches!(ending, Ending::Completed(_)) {
            events.push(self.usage());
        }
        self.last = Some(ending);
    }

    /// Reads the end of a turn, which the program may still begin again if it failed.
    fn agent_end(&mut self, events: &mut Vec<AgentEvent>) {
        if let Some(Ending::Completed(stop)) = self.last {
            self.last = None;
            events.extend([self.usage(), AgentEvent::TurnCompleted { stop, structured: None }]);
        }
    }

    fn retries_end(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) {
        if event.success.unwrap_or(true) {
            return;
        }
        if !matches!(self.last, Some(Ending::Failed { .. })) {
            self.last = event.final_error.as_deref().map(failed);
        }
        self.fail(events);
    }

    /// Tells of a failure that nothing has followed.
    fn fail(&mut self, events: &mut Vec<AgentEvent>) {
        if let Some(Ending::Failed { failure, message }) = self.last.take() {
            events.push(AgentEvent::TurnFailed { failure, message });
        }
    }

    fn usage(&self) -> AgentEvent {
        AgentEvent::Usage { usage: self.used, scope: UsageScope::Process }
    }
}

fn ending(message: &Message<'_>) -> Ending {
    match message.stop_reason.as_deref().unwrap_or_default() {
        "toolUse" => Ending::GoesOn,
        "length" => Ending::Completed(StopReason::OutputLimit),
        reason @ ("error" | "aborted") => failed(message.error_message.as_deref().unwrap_or(reason)),
        _ => Ending::Completed(StopReason::Complete),
    }
}

fn failed(text: &str) -> Ending {
    Ending::Failed { failure: failure::classify(text), message: message(text) }
}

fn waiting(event: &Event<'_>) -> AgentEvent {
    let text = format!(
        "attempt {} of {} in {} ms: {}",
        event.attempt.unwrap_or(0),
        event.max_attempts.unwrap_or(0),
        event.delay_ms.unwrap_or(0),
        event.error_message.as_deref().unwrap_or("no reason given")
    );
    AgentEvent::Waiting { message: message(&text) }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// What an answer of some megabytes, given in small pieces, makes the program print.
    #[test]
    fn sixteen_gigabytes_of_repetition_cost_nothing_and_break_the_silence() {
        let mut line = br#"{"type":"message_update","message":{"content":[{"type":"text","text":""#.to_vec();
        line.resize(16 * 1024 * 1024, b'x');
        let mut decoder = PiDecoder::default();
        let mut events = Vec::new();
        let begun = Instant::now();
        for _ in 0..1000 {
            decoder.line(&line, &mut events);
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!(events.len(), 1000);
        assert!(events.iter().all(|event| matches!(event, AgentEvent::Usage { .. })));
    }
}
