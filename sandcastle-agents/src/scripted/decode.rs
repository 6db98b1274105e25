//! From the lines of a scripted agent to events.

use sandcastle_core::agent::Decoder;
use sandcastle_core::event::{AgentEvent, UsageScope};
use sandcastle_core::{SessionId, Usage};

use super::wire::Record;
use crate::excerpt::{message, unknown};
use crate::repair::repaired;
use crate::tool;

/// Reads the stream of one process. A line says all there is to know, so nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct ScriptedDecoder;

impl Decoder for ScriptedDecoder {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        if read(line, events).is_none() && repaired(line).and_then(|line| read(&line, events)).is_none() {
            unknown(line, events);
        }
    }
}

/// Reads a line, or returns `None` without a trace if it is not known.
fn read(line: &[u8], events: &mut Vec<AgentEvent>) -> Option<()> {
    let event = match serde_json::from_slice(line).ok()? {
        Record::Session(id) => AgentEvent::Session { id: SessionId::new(&*id).ok()? },
        Record::Text(text) => AgentEvent::Text { text: text.into_owned() },
        Record::Thinking(text) => AgentEvent::Thinking { text: text.into_owned() },
        Record::SubAgentText(text) => AgentEvent::SubAgentText { text: text.into_owned() },
        Record::Tool { name, input } => AgentEvent::ToolCall {
            name: tool::shortened(&name).to_owned(),
            detail: tool::detail(Some(input)),
        },
        Record::ToolResult { is_error, .. } => AgentEvent::ToolResult { is_error },
        Record::Used { input_tokens, output_tokens, cost_usd } => used(input_tokens, output_tokens, cost_usd),
        Record::Completed { input_tokens, output_tokens, cost_usd, stop, structured } => {
            events.push(used(input_tokens, output_tokens, cost_usd));
            AgentEvent::TurnCompleted { stop, structured }
        }
        Record::Failed { kind, message: text } => {
            AgentEvent::TurnFailed { failure: kind, message: message(&text) }
        }
    };
    events.push(event);
    Some(())
}

fn used(input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> AgentEvent {
    let mut usage = Usage::default();
    usage.input_tokens = input_tokens;
    usage.output_tokens = output_tokens;
    usage.cost_usd = cost_usd;
    AgentEvent::Usage { usage, scope: UsageScope::Process }
}
