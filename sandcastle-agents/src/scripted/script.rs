//! What a scripted agent plays: turns, and what comes behind the last.
//!
//! A script is built in Rust or read from JSON; both forms are the same types.

use sandcastle_core::agent::SchemaDelivery;
use sandcastle_core::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::turn::Turn;

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
    #[serde(default)]
    pub(super) native: Option<SchemaDelivery>,
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

    /// Takes a schema, as an argument or in a file, and so can be asked for structured output of its own; it has none unless
    /// this is said. The values are those of [`Turn::structured`], whatever the schema is.
    ///
    /// The schema is lowered as for Claude Code if it is an argument, and as for Codex if it is in a file.
    ///
    /// ```
    /// use sandcastle_agents::scripted::{Script, Turn};
    /// use sandcastle_core::agent::SchemaDelivery;
    ///
    /// let value = serde_json::json!({ "n": 5 });
    /// let script = Script::new().native(SchemaDelivery::Argument).turn(Turn::new().structured(value));
    /// ```
    #[must_use]
    pub fn native(mut self, delivery: SchemaDelivery) -> Self {
        self.native = Some(delivery);
        self
    }

    /// Reads a script from JSON.
    ///
    /// A step is named like the method of [`Turn`] in kebab case and holds its argument, or an object with one key for
    /// each of several; one without arguments is a plain string. Durations are milliseconds and their steps
    /// `sleep-ms`, `linger-ms` and `refuse-resume-for-ms`. `after` is `fail` unless it is given, and `sequence` is
    /// `per-session`; the other is `across-sessions`. `native` is `argument` or `file`.
    ///
    /// ```
    /// use sandcastle_agents::scripted::{AfterLast, Script, Turn};
    ///
    /// let json = r#"{
    ///     "turns": [
    ///         {"steps": [
    ///             {"write-file": {"path": "greeting.txt", "content": "hello\n"}},
    ///             {"commit": "greet"},
    ///             {"say": "<result>1</result>"}
    ///         ]},
    ///         {"steps": ["hang"]}
    ///     ],
    ///     "after": "repeat"
    /// }"#;
    /// let greet = Turn::new().write_file("greeting.txt", "hello\n").commit("greet").say("<result>1</result>");
    /// let script = Script::new().turn(greet).turn(Turn::new().hang()).after(AfterLast::Repeat);
    /// assert_eq!(Script::from_json(json)?, script);
    /// # Ok::<(), sandcastle_core::Error>(())
    /// ```
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sandcastle_core::event::{FailureKind, StopReason};

    use super::*;

    #[test]
    fn a_script_reads_from_json_what_it_builds_in_rust() {
        let json = r#"{
            "turns": [
                {"steps": [{"say": "a"}, {"used": {"input_tokens": 5, "output_tokens": 6}}, {"tool": {"name": "Bash", "input": {"command": "ls"}}}, "hang"]},
                {"steps": [{"sleep-ms": 1500}, {"fail": {"kind": "transport", "message": "m"}}],
                 "usage": {"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.25}, "stop": "refused", "structured": {"n": 1}}
            ],
            "after": "repeat",
            "sequence": "across-sessions",
            "native": "file"
        }"#;
        let first =
            Turn::new().say("a").used(5, 6, None).tool("Bash", serde_json::json!({"command": "ls"})).hang();
        let second = Turn::new()
            .sleep(Duration::from_millis(1500))
            .fail(FailureKind::Transport, "m")
            .usage(1, 2)
            .stop(StopReason::Refused)
            .cost(0.25)
            .structured(serde_json::json!({"n": 1}));
        let script = Script::new()
            .turn(first)
            .turn(second)
            .after(AfterLast::Repeat)
            .sequence(Sequence::AcrossSessions)
            .native(SchemaDelivery::File);
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
