//! What a scripted agent plays: turns of steps.
//!
//! A script is built in Rust or read from JSON; both forms are these types. Nothing here knows how a step is done.

use std::time::Duration;

use sandcastle_core::event::{FailureKind, StopReason};
use sandcastle_core::{Error, ErrorKind, Result};
use serde::Deserialize;
use serde_json::Value;

/// Holds the turns of a scripted agent.
///
/// The first process of a session plays the first turn, and every process that resumes or forks it plays the next.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(super) turns: Vec<Turn>,
    #[serde(default)]
    pub(super) after: AfterLast,
    #[serde(default)]
    pub(super) sequence: Sequence,
}

/// Says what is played when a script has no more turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AfterLast {
    /// Nothing; the turn fails and says so.
    #[default]
    Fail,
    /// The last turn, again and again.
    Repeat,
}

/// Says over what the turns of a script are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sequence {
    /// Over one session; each begins with the first turn.
    #[default]
    PerSession,
    /// Over all sessions in the state folder, as for a run of several iterations, which are a session each.
    AcrossSessions,
}

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

/// The tokens that a turn reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Default for TurnUsage {
    fn default() -> Self {
        Self { input_tokens: 100, output_tokens: 10 }
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

impl Script {
    /// Creates a script without turns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Sets what is played behind the last turn.
    #[must_use]
    pub fn after(mut self, after: AfterLast) -> Self {
        self.after = after;
        self
    }

    /// Sets over what turns are counted.
    #[must_use]
    pub fn sequence(mut self, sequence: Sequence) -> Self {
        self.sequence = sequence;
        self
    }

    /// Reads a script from JSON, for example `{"turns":[{"steps":[{"say":"Hello."},{"commit":"greet"}]}]}`.
    ///
    /// A step is named like the method of [`Turn`] in kebab case; durations are `sleep-ms`, `linger-ms` and
    /// `refuse-resume-for-ms`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] with the path, the line and the column of the mistake.
    pub fn from_json(json: &str) -> Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let script = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| format!("at `{}`: {}", error.path(), error.inner()))
            .and_then(|script| reader.end().map(|()| script).map_err(|error| error.to_string()));
        script.map_err(|problem| Error::new(ErrorKind::InvalidOptions, format!("read the script {problem}")))
    }
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
        self.usage = TurnUsage { input_tokens, output_tokens };
        self
    }

    /// Sets how the model's answer ends.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Ends the turn with a structured value, as an agent does in a mode of its own for them.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_from_json_what_it_builds_in_rust() {
        let json = r#"{
            "turns": [
                {"steps": [{"say": "a"}, {"tool": {"name": "Bash", "input": {"command": "ls"}}}, "hang"]},
                {"steps": [{"sleep-ms": 1500}, {"fail": {"kind": "transport", "message": "m"}}],
                 "usage": {"input_tokens": 1, "output_tokens": 2}, "stop": "refused", "structured": {"n": 1}}
            ],
            "after": "repeat",
            "sequence": "across-sessions"
        }"#;
        let first = Turn::new().say("a").tool("Bash", serde_json::json!({"command": "ls"})).hang();
        let second = Turn::new()
            .sleep(Duration::from_millis(1500))
            .fail(FailureKind::Transport, "m")
            .usage(1, 2)
            .stop(StopReason::Refused)
            .structured(serde_json::json!({"n": 1}));
        let script = Script::new()
            .turn(first)
            .turn(second)
            .after(AfterLast::Repeat)
            .sequence(Sequence::AcrossSessions);
        assert_eq!(Script::from_json(json).unwrap(), script);
    }

    #[test]
    fn a_mistake_in_json_is_located() {
        let error = |json: &str| Script::from_json(json).unwrap_err().to_string();
        let unknown = error(r#"{"turns":[{"steps":[{"say":"a"},{"sya":"b"}]}]}"#);
        assert!(unknown.starts_with("read the script at `turns[0].steps[1]"), "{unknown}");
        assert!(unknown.contains("unknown variant `sya`") && unknown.contains("line 1 column"), "{unknown}");
        assert!(error(r#"{"turns":[],"x":1}"#).contains("unknown field `x`"));
        assert!(error(r#"{"turns":[]} x"#).contains("trailing characters"));
    }
}
