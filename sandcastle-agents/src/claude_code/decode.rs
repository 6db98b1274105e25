//! From the lines of `claude` to events.
//!
//! The answer is the text of the main agent's messages, in order. The `result` line repeats only the last block of it
//! and is asked for how the turn ended, for what was used, and for the text of an answer that had no message.

use sandcastle_core::SessionId;
use sandcastle_core::Usage;
use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, FailureKind, StopReason, UsageScope};

use serde_json::Value;
use serde_json::value::RawValue;

use super::failure::{self, Symptoms};
use super::wire::{Beginning, Block, Denial, Event, Message, ModelTokens, Retry, Tokens, TurnEnd};
use crate::excerpt::{message, unknown};
use crate::json::Text;
use crate::repair::{read_or_repair, repaired};
use crate::tool;

/// The author of messages that the program puts into the model's mouth.
const SYNTHETIC: &str = "<synthetic>";

/// The tool by which a model gives its structured output. It is there only if the program could compile the schema; otherwise
/// nothing is said.
const OUTPUT_TOOL: &str = "StructuredOutput";

/// The longest structured value that is read, in bytes: in memory it takes many times as much.
const MAX_STRUCTURED: usize = 4 * 1024 * 1024;

/// Reads the stream of one process.
#[derive(Debug, Default)]
pub(crate) struct ClaudeDecoder {
    session: Option<SessionId>,
    /// Whether the main agent has said anything.
    spoke: bool,
    /// What this process had used at its last `result` line.
    used: Usage,
    /// The last error that the program reported in place of an answer.
    error: Option<ReportedError>,
    ended: bool,
}

#[derive(Debug)]
struct ReportedError {
    class: String,
    message: String,
}

impl Decoder for ClaudeDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read_or_repair(line, |line| self.read(line, events)).is_none() {
            unknown(line, events);
        }
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        if let Some(error) = self.error.take().filter(|_| !self.ended) {
            let failure = failure::classify(&Symptoms {
                class: &error.class,
                message: &error.message,
                ..Symptoms::default()
            });
            events.push(AgentEvent::TurnFailed { failure, message: error.message });
        }
    }
}

impl ClaudeDecoder {
    /// Reads a line, or returns `None` without a trace if it is not known.
    fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
        let event: Event<'_> = serde_json::from_slice(line).ok()?;
        match &*event.kind {
            "assistant" => self.assistant(event, events),
            "user" => tool_results(event.message?, events),
            "result" => self.turn_end(line, &event, events)?,
            "system" => match event.subtype.as_deref()? {
                "init" => self.begin(line, &event, events)?,
                "api_retry" => events.push(waiting(&serde_json::from_slice(line).ok()?)),
                "status" | "thinking_tokens" | "task_started" | "task_updated" | "task_notification" => {}
                _ => return None,
            },
            // Pieces of messages that come whole as well.
            "stream_event" | "control_response" => {}
            _ => return None,
        }
        Some(())
    }

    fn begin(&mut self, line: &[u8], event: &Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        let id = SessionId::new(&**event.session_id.as_ref()?).ok()?;
        if event.parent_tool_use_id.is_none() && self.session.as_ref() != Some(&id) {
            self.session = Some(id.clone());
            let beginning: Beginning<'_> = serde_json::from_slice(line).ok()?;
            // Only a list without the tool says that the schema was dropped.
            let lacks_tool = |tools: &[Text<'_>]| tools.iter().all(|tool| **tool != *OUTPUT_TOOL);
            if !beginning.tools.as_ref().is_some_and(|tools| lacks_tool(tools)) {
                events.push(AgentEvent::SchemaTaken);
            }
            events.push(AgentEvent::Session { id });
        }
        Some(())
    }

    fn assistant(&mut self, event: Event<'_>, events: &mut Vec<AgentEvent>) {
        let Some(Message { model, content }) = event.message else { return };
        let synthetic = model.as_deref() == Some(SYNTHETIC);
        if let Some(class) = event.error.filter(|_| synthetic) {
            let class = serde_json::from_str(class.get()).unwrap_or_default();
            let text: String = content.0.iter().filter_map(|block| block.text.as_deref()).collect();
            self.error = Some(ReportedError { class, message: message(&text) });
            return;
        }
        let main = event.parent_tool_use_id.is_none();
        for block in content.0 {
            self.block(block, main, events);
        }
    }

    fn block(&mut self, block: Block<'_>, main: bool, events: &mut Vec<AgentEvent>) {
        match (&*block.kind, main) {
            ("text", true) => events.extend(block.text.filter(|text| !text.is_empty()).map(|text| {
                self.spoke = true;
                AgentEvent::Text { text: text.into_owned() }
            })),
            ("text", false) => {
                events.extend(block.text.map(|text| AgentEvent::SubAgentText { text: text.into_owned() }));
            }
            ("thinking", true) => {
                events.extend(block.thinking.map(|text| AgentEvent::Thinking { text: text.into_owned() }));
            }
            ("tool_use" | "server_tool_use", _) => events.push(AgentEvent::ToolCall {
                name: tool::shortened(block.name.as_deref().unwrap_or("tool")).to_owned(),
                detail: block.input.unwrap_or_default().0,
            }),
            _ => {}
        }
    }

    fn turn_end(&mut self, line: &[u8], event: &Event<'_>, events: &mut Vec<AgentEvent>) -> Option<()> {
        let repaired = repaired(line);
        let end: TurnEnd<'_> = serde_json::from_slice(repaired.as_deref().unwrap_or(line)).ok()?;
        if !self.is_main(event) {
            events.extend(end.result.0.map(|text| AgentEvent::SubAgentText { text: text.into_owned() }));
            return Some(());
        }
        self.ended = true;
        events.extend(end.permission_denials.iter().flat_map(|denials| denials.iter()).map(denied));
        self.used = self.used_by(&end);
        let used = AgentEvent::Usage { usage: self.used, scope: UsageScope::Process };
        if let Some(failed) = self.failed(&end) {
            events.extend([used, failed]);
            return Some(());
        }
        let stop = stop_reason(end.stop_reason.as_deref());
        let text = end.result.0.filter(|text| !self.spoke && !text.is_empty());
        self.spoke |= text.is_some();
        events.extend(text.map(|text| AgentEvent::Text { text: text.into_owned() }));
        let structured = end.structured_output.and_then(|value| structured(value, events));
        events.extend([used, AgentEvent::TurnCompleted { stop, structured }]);
        Some(())
    }

    /// Tells whether a `result` is that of the main agent; a sub-agent in the background prints its own.
    fn is_main(&self, event: &Event<'_>) -> bool {
        let foreign = match (&self.session, event.session_id.as_deref()) {
            (Some(own), Some(id)) => own != id,
            _ => false,
        };
        event.parent_tool_use_id.is_none() && !foreign
    }

    /// Works out what the process has used by the end of a turn. The counts by model cover the whole process with its
    /// sub-agents, as the money does; without them there is only what the main agent used in this turn.
    fn used_by(&self, end: &TurnEnd<'_>) -> Usage {
        let by_model = end.model_usage.as_ref().filter(|models| !models.is_empty());
        let mut used = match by_model {
            Some(models) => models.values().map(usage_of_model).fold(Usage::default(), |sum, one| sum + one),
            None => self.used + usage(end.usage.as_ref()),
        };
        used.cost_usd = end.total_cost_usd.filter(|cost| cost.is_finite()).or(self.used.cost_usd);
        used
    }

    fn failed(&mut self, end: &TurnEnd<'_>) -> Option<AgentEvent> {
        let error = self.error.take();
        let subtype = end.subtype.as_deref().unwrap_or_default();
        // A failed request to the model is a `success` with `is_error`; old versions ran into limits the other way round.
        if end.is_error.0 != Some(true) && !subtype.starts_with("error") {
            return None;
        }
        let text = end.result.as_deref().filter(|text| !text.trim().is_empty());
        let errors = end.errors.as_deref().filter(|errors| !errors.is_empty()).map(join);
        let text = text.or(errors.as_deref()).unwrap_or(subtype);
        let failure = failure::classify(&Symptoms {
            subtype,
            class: error.as_ref().map(|error| &*error.class).unwrap_or_default(),
            message: text,
            status: end.api_error_status.0,
            stop_reason: end.stop_reason.as_deref().unwrap_or_default(),
            terminal_reason: end.terminal_reason.as_deref().unwrap_or_default(),
        });
        // What the program prints then is meant for its makers.
        let text = if failure == FailureKind::Interrupted { "the turn was interrupted" } else { text };
        Some(AgentEvent::TurnFailed { failure, message: message(text) })
    }
}

fn tool_results(message: Message<'_>, events: &mut Vec<AgentEvent>) {
    let results = message.content.0.into_iter().filter(|block| &*block.kind == "tool_result");
    events.extend(results.map(|block| AgentEvent::ToolResult { is_error: block.is_error == Some(true) }));
}

fn waiting(retry: &Retry<'_>) -> AgentEvent {
    let attempt = retry.attempt.unwrap_or_default();
    let mut text = format!("retry {attempt} of the request to the model");
    if let Some(most) = *retry.max_retries {
        text = format!("retry {attempt} of {most} of the request to the model");
    }
    if let Some(delay) = *retry.retry_delay_ms {
        text += &format!(" in {:.1} s", delay / 1000.0);
    }
    let status = retry.error_status.map(|status| status.to_string());
    let reasons: Vec<&str> = retry.error.as_deref().into_iter().chain(status.as_deref()).collect();
    if !reasons.is_empty() {
        text += &format!(": {}", reasons.join(" "));
    }
    AgentEvent::Waiting { message: message(&text) }
}

fn denied(denial: &Denial<'_>) -> AgentEvent {
    let text = format!("permission denied for `{}`: {}", &*denial.tool_name, tool::detail(denial.tool_input));
    AgentEvent::Warning { message: message(&text) }
}

fn structured(value: &RawValue, events: &mut Vec<AgentEvent>) -> Option<Value> {
    let problem = match value.get().len() {
        length if length > MAX_STRUCTURED => format!("it has {length} bytes, more than {MAX_STRUCTURED}"),
        _ => match serde_json::from_str(value.get()) {
            Ok(value) => return Some(value),
            Err(error) => error.to_string(),
        },
    };
    events.push(AgentEvent::Warning { message: format!("the structured output is not read: {problem}") });
    None
}

fn usage(tokens: Option<&Tokens>) -> Usage {
    let mut usage = Usage::default();
    if let Some(tokens) = tokens {
        usage.input_tokens = tokens.input_tokens;
        usage.cache_creation_input_tokens = tokens.cache_creation_input_tokens;
        usage.cache_read_input_tokens = tokens.cache_read_input_tokens;
        usage.output_tokens = tokens.output_tokens;
    }
    usage
}

fn usage_of_model(tokens: &ModelTokens) -> Usage {
    let mut usage = Usage::default();
    usage.input_tokens = tokens.input_tokens;
    usage.cache_creation_input_tokens = tokens.cache_creation_input_tokens;
    usage.cache_read_input_tokens = tokens.cache_read_input_tokens;
    usage.output_tokens = tokens.output_tokens;
    usage
}

fn stop_reason(reason: Option<&str>) -> StopReason {
    match reason {
        Some("refusal") => StopReason::Refused,
        Some("max_tokens") => StopReason::OutputLimit,
        Some("model_context_window_exceeded") => StopReason::ContextLimit,
        _ => StopReason::Complete,
    }
}

fn join(errors: &[Text<'_>]) -> String {
    errors.iter().map(|error| &**error).collect::<Vec<_>>().join("; ")
}
