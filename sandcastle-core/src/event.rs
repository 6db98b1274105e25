//! What any agent can say, in one vocabulary.
//!
//! A decoder turns the lines of one agent program into these events; nothing behind it knows the program's own wire.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::SessionId;
use crate::work::Usage;

/// Reports one thing that an agent did or said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The agent named its conversation.
    Session {
        /// The id to resume it with.
        id: SessionId,
    },
    /// The program has taken the schema that it is to hold the answer to, or tells nothing against it. Said of programs that
    /// would drop one without a word.
    SchemaTaken,
    /// The main agent said something. Pieces are joined without separators.
    Text {
        /// What it said.
        text: String,
    },
    /// The main agent thought aloud; never part of an answer.
    Thinking {
        /// What it thought.
        text: String,
    },
    /// A sub-agent said something; never part of an answer.
    SubAgentText {
        /// What it said.
        text: String,
    },
    /// A tool was started.
    ToolCall {
        /// The agent's name for the tool.
        name: String,
        /// The argument that tells most (a command, a path, a query), or the arguments as compact JSON.
        detail: String,
    },
    /// A tool came back.
    ToolResult {
        /// Whether it failed.
        is_error: bool,
    },
    /// The agent waits and tries again, usually for the model; this does not count as activity.
    Waiting {
        /// Why.
        message: String,
    },
    /// Something went wrong that does not end the turn.
    Warning {
        /// What.
        message: String,
    },
    /// What was used so far in this process, or in the whole session (see [`UsageScope`]). The last one counts.
    Usage {
        /// The numbers.
        usage: Usage,
        /// What they cover.
        scope: UsageScope,
    },
    /// The turn came to its end.
    TurnCompleted {
        /// How the model's answer ended.
        stop: StopReason,
        /// The value of the agent's own structured-output mode, if it was on and gave one.
        #[serde(skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
    },
    /// The turn failed.
    TurnFailed {
        /// Why, for a program.
        failure: FailureKind,
        /// Why, for a person.
        message: String,
    },
    /// A line that the decoder does not know; kept so that nothing gets lost, never fatal.
    Unknown {
        /// The line, cut to 2,000 bytes.
        line: String,
    },
}

/// Tells what the numbers of [`AgentEvent::Usage`] cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UsageScope {
    /// This process.
    Process,
    /// The session since it began, earlier processes included. A fork goes on counting where its origin was.
    Session,
}

/// Tells how the model's last answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// It was complete.
    Complete,
    /// The model refused.
    Refused,
    /// The model's service held it back because of what it says.
    Filtered,
    /// The model ran into its output limit.
    OutputLimit,
    /// The conversation fills all that the model can see.
    ContextLimit,
}

/// Tells why a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The model's service could not be reached, was overloaded, or limited the rate; trying later may help.
    Transport,
    /// The model's service did not accept the credentials.
    Authentication,
    /// The model's service refused the request, for example because it is too long.
    Request,
    /// A limit on turns or money was reached.
    Limit,
    /// The money was used up that [`AgentRequest::max_cost`](crate::agent::AgentRequest::max_cost) allowed.
    Budget,
    /// The model ran into its output limit.
    OutputLimit,
    /// The model refused to answer.
    Refused,
    /// The model's service held the answer back because of what it says.
    Filtered,
    /// The model's service, or the program, refused the schema that the answer was to be held to.
    SchemaRefused,
    /// The program itself held the answer to the schema, and had none that fits however often it asked.
    InvalidAnswer,
    /// The session to resume or fork is not known.
    SessionNotFound,
    /// The turn was interrupted.
    Interrupted,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// Returns how the model's last answer ended, where that is what failed the turn.
    #[must_use]
    pub fn stop(self) -> Option<StopReason> {
        match self {
            Self::OutputLimit => Some(StopReason::OutputLimit),
            Self::Refused => Some(StopReason::Refused),
            Self::Filtered => Some(StopReason::Filtered),
            _ => None,
        }
    }
}
