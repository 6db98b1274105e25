//! What an agent says of its own way to hold an answer to a schema.
//!
//! Only facts are here: what its wire takes, where the schema goes in and where the value comes out, and from which version
//! on that can be relied on. Whether it is used is decided by `strategy` and `run`.

use std::path::Path;

use semver::Version;
use serde::Deserialize;

use super::AgentCommand;
use crate::output::lower::Dialect;
use crate::strategy::Support;

/// Describes the structured output of an agent program.
///
/// ```
/// use sandcastle_core::agent::{AgentCommand, NativeOutput, SchemaDelivery, VersionCheck};
/// use sandcastle_core::{Support, output::lower::Dialect};
///
/// let ask = AgentCommand::new("codex").arg("--version");
/// let native = NativeOutput::new(Dialect::Codex, SchemaDelivery::File)
///     .with_support(Support::Declared)
///     .with_version(VersionCheck::new(ask, "0.80.0").resumed_since("0.132.0"));
/// # let _ = native;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NativeOutput {
    /// What it accepts of JSON Schema.
    pub dialect: Dialect,
    /// Whether it is known to work with the model that the program is told to use; [`Support::Unlisted`] by default.
    pub support: Support,
    /// How the schema gets to the program.
    pub delivery: SchemaDelivery,
    /// Where the value is; [`AnswerPlace::Value`] by default.
    pub answer: AnswerPlace,
    /// Whether the program says that it has taken the schema; [`Confirmation::None`] by default.
    pub confirmation: Confirmation,
    /// From which version on it works; every version by default.
    pub version: Option<VersionCheck>,
}

/// Says how a schema gets to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SchemaDelivery {
    /// As one argument, which has less than 128 KiB.
    Argument,
    /// In a file inside the sandbox, whose path is an argument.
    File,
}

/// Says where the value of a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerPlace {
    /// In `structured` of [`AgentEvent::TurnCompleted`](crate::AgentEvent::TurnCompleted).
    Value,
    /// It is the whole of the last [`AgentEvent::Text`](crate::AgentEvent::Text).
    LastMessage,
}

/// Says whether a program tells that it has taken the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// It does not.
    None,
    /// It does so with [`AgentEvent::SchemaTaken`](crate::AgentEvent::SchemaTaken), no later than it names its session. A
    /// schema that it drops without a word is known by the lack of that.
    Event,
}

/// Says from which version on a program holds its answers to a schema, and how it is asked for its version.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VersionCheck {
    /// Asks the program for its version, without a word to any model.
    ///
    /// The version is the first word on its standard output that is one, such as `2.1.0` or `v2.1.0`.
    pub command: AgentCommand,
    /// The oldest version that does it right.
    pub since: &'static str,
    /// The oldest that does it right in a turn that resumes or forks a session.
    pub resumed_since: &'static str,
}

/// The schema that an answer is to be held to, in the way that [`NativeOutput::delivery`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestSchema<'a> {
    /// Its text: JSON on one line.
    Text(&'a str),
    /// The file that holds it, as seen inside the sandbox.
    File(&'a Path),
}

impl NativeOutput {
    /// Names what the program accepts of JSON Schema, and how it is given one.
    #[must_use]
    pub fn new(dialect: Dialect, delivery: SchemaDelivery) -> Self {
        Self {
            dialect,
            support: Support::Unlisted,
            delivery,
            answer: AnswerPlace::Value,
            confirmation: Confirmation::None,
            version: None,
        }
    }

    /// Sets whether it is known to work with the model that the program is told to use.
    #[must_use]
    pub fn with_support(mut self, support: Support) -> Self {
        self.support = support;
        self
    }

    /// Sets where the value is.
    #[must_use]
    pub fn with_answer(mut self, answer: AnswerPlace) -> Self {
        self.answer = answer;
        self
    }

    /// Sets whether the program says that it has taken the schema.
    #[must_use]
    pub fn with_confirmation(mut self, confirmation: Confirmation) -> Self {
        self.confirmation = confirmation;
        self
    }

    /// Sets from which version on it works.
    #[must_use]
    pub fn with_version(mut self, check: VersionCheck) -> Self {
        self.version = Some(check);
        self
    }
}

impl VersionCheck {
    /// Names the command that prints the version, and the oldest version that does it right.
    #[must_use]
    pub fn new(command: AgentCommand, since: &'static str) -> Self {
        Self { command, since, resumed_since: since }
    }

    /// Sets the oldest version that does it right in a turn that resumes or forks a session.
    #[must_use]
    pub fn resumed_since(mut self, version: &'static str) -> Self {
        self.resumed_since = version;
        self
    }
}

/// Finds the version in what a program prints when it is asked for it.
pub(crate) fn version_in(printed: &str) -> Option<Version> {
    printed.split_whitespace().find_map(|word| Version::parse(word.trim_start_matches('v')).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_among_other_words() {
        let found = |printed: &str| version_in(printed).map(|version| version.to_string());
        assert_eq!(found("2.1.197 (Claude Code)\n").as_deref(), Some("2.1.197"));
        assert_eq!(found("codex-cli 0.171.0\n").as_deref(), Some("0.171.0"));
        assert_eq!(found("tool v0.132.0-alpha.3").as_deref(), Some("0.132.0-alpha.3"));
        assert_eq!(found("command not found"), None);
        assert_eq!(found("version 12"), None);
    }

    #[test]
    fn a_version_before_a_release_is_older_than_it() {
        assert!(version_in("0.132.0-alpha.3") < version_in("0.132.0"));
    }
}
