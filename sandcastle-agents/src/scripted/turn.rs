//! One turn of a script, step by step.
//!
//! The methods of [`Turn`] and the steps in JSON go by the same names. Nothing here knows how a step is done.

use std::time::Duration;

use sandcastle_core::event::{FailureKind, StopReason};
use serde::Deserialize;
use serde_json::Value;

/// Holds what is done between one prompt and the end of the answer to it.
///
/// A turn that does not fail or exit ends with an event that says that it is complete.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    #[serde(default)]
    pub(super) usage: TurnUsage,
    #[serde(default)]
    pub(super) stop: Option<StopReason>,
    #[serde(default)]
    pub(super) structured: Option<Value>,
}

/// What a turn reports to have used.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[serde(default)]
    pub cost_usd: Option<f64>,
}

impl Default for TurnUsage {
    fn default() -> Self {
        Self { input_tokens: 100, output_tokens: 10, cost_usd: None }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Step {
    Say(String),
    SayPieces(Vec<String>),
    Think(String),
    SubAgentSays(String),
    Tool { name: String, input: Value },
    ToolOutput(String),
    ToolFails(String),
    Used(TurnUsage),
    WriteFile { path: String, content: String },
    Commit(String),
    Shell(String),
    RawLine(String),
    Stderr(String),
    SleepMs(u64),
    Hang,
    Complete,
    Fail { kind: FailureKind, message: String },
    Exit(u8),
    KillSelf(u8),
    LeaveBehind { seconds: u32, output: LeftOutput },
    LingerMs(u64),
    HoldOpen,
    IgnoreStop,
    Repeat { text: String, times: u64 },
    RefuseResumeForMs(u64),
}

/// Says what a process that is left behind does with the outputs of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LeftOutput {
    /// It has closed them.
    Closed,
    /// It keeps them open, so that they do not end with the agent.
    Held,
}

impl Turn {
    /// Creates a turn that says nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Says something, in one piece.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.step(Step::Say(text.into()))
    }

    /// Says something in several pieces.
    #[must_use]
    pub fn say_pieces<T: Into<String>>(self, pieces: impl IntoIterator<Item = T>) -> Self {
        self.step(Step::SayPieces(pieces.into_iter().map(Into::into).collect()))
    }

    /// Thinks aloud.
    #[must_use]
    pub fn think(self, text: impl Into<String>) -> Self {
        self.step(Step::Think(text.into()))
    }

    /// Lets a sub-agent say something.
    #[must_use]
    pub fn sub_agent_says(self, text: impl Into<String>) -> Self {
        self.step(Step::SubAgentSays(text.into()))
    }

    /// Reports the call of a tool; nothing is called.
    #[must_use]
    pub fn tool(self, name: impl Into<String>, input: Value) -> Self {
        self.step(Step::Tool { name: name.into(), input })
    }

    /// Reports what a tool gave back.
    #[must_use]
    pub fn tool_output(self, text: impl Into<String>) -> Self {
        self.step(Step::ToolOutput(text.into()))
    }

    /// Reports that a tool failed.
    #[must_use]
    pub fn tool_fails(self, text: impl Into<String>) -> Self {
        self.step(Step::ToolFails(text.into()))
    }

    /// Reports in the middle of the turn what it has used so far. What the turn reports at its end replaces it.
    #[must_use]
    pub fn used(self, input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> Self {
        self.step(Step::Used(TurnUsage { input_tokens, output_tokens, cost_usd }))
    }

    /// Writes a file, with the folders above it; the path is relative to the working folder.
    #[must_use]
    pub fn write_file(self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.step(Step::WriteFile { path: path.into(), content: content.into() })
    }

    /// Commits everything; with an identity of its own where none is configured.
    #[must_use]
    pub fn commit(self, message: impl Into<String>) -> Self {
        self.step(Step::Commit(message.into()))
    }

    /// Runs a shell command, whose output goes to the error output. If it fails, so does the turn.
    #[must_use]
    pub fn shell(self, command: impl Into<String>) -> Self {
        self.step(Step::Shell(command.into()))
    }

    /// Prints a line as it is.
    #[must_use]
    pub fn raw_line(self, line: impl Into<String>) -> Self {
        self.step(Step::RawLine(line.into()))
    }

    /// Prints a line on the error output.
    #[must_use]
    pub fn stderr(self, line: impl Into<String>) -> Self {
        self.step(Step::Stderr(line.into()))
    }

    /// Waits.
    #[must_use]
    pub fn sleep(self, duration: Duration) -> Self {
        self.step(Step::SleepMs(milliseconds(duration)))
    }

    /// Falls silent for ever.
    #[must_use]
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// Says now that the turn is complete; steps may follow.
    #[must_use]
    pub fn complete(self) -> Self {
        self.step(Step::Complete)
    }

    /// Says that the turn failed; the process will exit with code 1 unless a step says otherwise.
    #[must_use]
    pub fn fail(self, kind: FailureKind, message: impl Into<String>) -> Self {
        self.step(Step::Fail { kind, message: message.into() })
    }

    /// Ends the process at once.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        self.step(Step::Exit(code))
    }

    /// Ends the process by a signal, given by its number.
    #[must_use]
    pub fn kill_self(self, signal: u8) -> Self {
        self.step(Step::KillSelf(signal))
    }

    /// Starts a process in a session of its own that goes on for so many seconds.
    #[must_use]
    pub fn leave_behind(self, seconds: u32, output: LeftOutput) -> Self {
        self.step(Step::LeaveBehind { seconds, output })
    }

    /// Completes the turn and stays for a while.
    #[must_use]
    pub fn linger(self, duration: Duration) -> Self {
        self.step(Step::LingerMs(milliseconds(duration)))
    }

    /// Completes the turn and stays for ever.
    #[must_use]
    pub fn hold_open(self) -> Self {
        self.step(Step::HoldOpen)
    }

    /// Ignores requests to stop from now on.
    #[must_use]
    pub fn ignore_stop(self) -> Self {
        self.step(Step::IgnoreStop)
    }

    /// Says the same so many times, as fast as it can.
    #[must_use]
    pub fn repeat(self, text: impl Into<String>, times: u64) -> Self {
        self.step(Step::Repeat { text: text.into(), times })
    }

    /// Keeps the session from being found for a while from now on, as programs do that write it late.
    #[must_use]
    pub fn refuse_resume_for(self, duration: Duration) -> Self {
        self.step(Step::RefuseResumeForMs(milliseconds(duration)))
    }

    /// Sets the tokens that the turn reports; 100 and 10 by default.
    #[must_use]
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = TurnUsage { input_tokens, output_tokens, ..self.usage };
        self
    }

    /// Sets what the turn reports to have cost, in US dollars; nothing by default.
    #[must_use]
    pub fn cost(mut self, dollars: f64) -> Self {
        self.usage.cost_usd = Some(dollars);
        self
    }

    /// Sets how the model's answer ends.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Ends the turn with a structured value, as an agent does in a mode of its own for them. It counts where the script
    /// is [`native`](super::Script::native) and the run asks for it.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
