//! Why a command did not do what it was asked for, ready to be shown.

use std::fmt::Display;

use sandcastle::{Error, ErrorKind, ExtractError, StructuredOutputError};
use serde_json::{Map, Value, json};

use crate::exit::Exit;

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What a person reads.
    pub(crate) text: String,
    /// What a program reads: the value of `error`.
    pub(crate) json: Value,
}

impl Failure {
    /// A command line that makes no sense.
    pub(crate) fn usage(message: impl Display) -> Self {
        let text = message.to_string();
        Self { exit: Exit::Usage, json: json!({ "kind": "usage", "message": text }), text }
    }

    /// A file that cannot be used; nothing was begun.
    pub(crate) fn input(what: impl Display, error: impl Display) -> Self {
        Self::usage(format!("failed to {what}: {error}"))
    }

    /// Something that the operating system refused.
    pub(crate) fn io(what: impl Display, error: impl Display) -> Self {
        let text = format!("failed to {what}: {error}");
        Self { exit: Exit::Failed, json: json!({ "kind": "io", "message": text }), text }
    }
}

impl From<&ExtractError> for Failure {
    fn from(error: &ExtractError) -> Self {
        let json = json!({
            "stage": error.stage(),
            "tag": error.tag,
            "message": error.to_string(),
            "raw_matched": error.raw_matched,
            "problems": error.problems,
        });
        Self { exit: Exit::NoOutput, text: format!("{error:#}"), json }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::StructuredOutput => Exit::NoOutput,
            ErrorKind::Cancelled => Exit::Interrupted,
            _ if error.is_entry_check() => Exit::Usage,
            _ => Exit::Failed,
        };
        let mut json = Map::new();
        json.insert("kind".into(), json!(kind_name(error.kind())));
        json.insert("message".into(), json!(error.to_string()));
        if let Some(output) = error.structured_output() {
            describe_output(&mut json, output);
        }
        let hints: Vec<String> = error.hints().iter().map(|hint| in_flags(hint)).collect();
        json.insert("hints".into(), json!(hints));
        if let Some(work) = error.work()
            && let Value::Object(work) = json!(work)
        {
            json.extend(work);
        }
        json.insert("session_id".into(), json!(error.work().and_then(|work| work.session_id())));
        json.insert("session_file".into(), json!(error.work().and_then(|work| work.session_file())));
        Self { exit, text: worded(&error, &hints), json: Value::Object(json) }
    }
}

/// What the library's hints call something, and what the command calls it.
const FLAGS: &[(&str, &str)] = &[
    ("the type's `prompt_snippet()`", "what `sandcastle schema snippet` prints"),
    ("`Logging::file`, or use `Logging::off`", "`--log`"),
    ("`prompt_arg`", "`--arg`"),
    ("`prompt_file`", "`--prompt-file`"),
    ("`cwd`", "`--cwd`"),
    ("`idle_timeout`", "`--idle-timeout`"),
    ("`total_timeout`", "`--total-timeout`"),
    ("`max_iterations`", "`--max-iterations`"),
    ("`max_retries`", "`--max-retries`"),
    ("as the model", "with `--model`"),
];

/// Says a hint of the library in the words of somebody who types flags.
fn in_flags(hint: &str) -> String {
    FLAGS.iter().fold(hint.to_owned(), |hint, (option, flag)| hint.replace(option, flag))
}

/// Words a failure for a person: what, why, what to do, and what there is to go on with.
fn worded(error: &Error, hints: &[String]) -> String {
    let mut text = format!("failed to {error:#}");
    for (said, hint) in error.hints().iter().zip(hints) {
        text = text.replace(said, hint);
    }
    let Some(work) = error.work() else { return text };
    for commit in &work.commits {
        text += &format!("\n  commit   {:.10} {}", commit.sha, commit.subject);
    }
    if let Some(session) = work.session_id() {
        text += &format!("\n  session  {session}");
    }
    if let Some(log) = &work.log_file {
        text += &format!("\n  log      {}", log.display());
    }
    text
}

fn describe_output(json: &mut Map<String, Value>, output: &StructuredOutputError) {
    json.insert("stage".into(), json!(output.stage()));
    json.insert("tag".into(), json!(output.tag));
    json.insert("raw_matched".into(), json!(output.raw_matched));
    json.insert("problems".into(), json!(output.problems));
}

fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidOptions => "invalid-options",
        ErrorKind::Prompt => "prompt",
        ErrorKind::InvalidOutput => "invalid-output",
        ErrorKind::Git => "git",
        ErrorKind::Sandbox => "sandbox",
        ErrorKind::AgentStart => "agent-start",
        ErrorKind::AgentFailed => "agent-failed",
        ErrorKind::SessionNotFound => "session-not-found",
        ErrorKind::IdleTimeout => "idle-timeout",
        ErrorKind::TotalTimeout => "total-timeout",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::StructuredOutput => "structured-output",
        _ => "other",
    }
}
