//! Why a command did not do what it was asked for, ready to be shown.

use std::fmt::Display;

use sandcastle::workflow::{Findings, WorkflowFailure};
use sandcastle::{Error, ErrorKind, ExtractError, StructuredOutputError, Work};
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::reporter::Lines;

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What a person reads.
    pub(crate) text: String,
    /// What a program reads: the value of `error`.
    pub(crate) json: Value,
    /// What a program reads beside it: what there was when it failed.
    pub(crate) beside: Map<String, Value>,
}

impl Failure {
    /// A command line that makes no sense.
    pub(crate) fn usage(message: impl Display) -> Self {
        let text = message.to_string();
        Self {
            exit: Exit::Usage,
            json: json!({ "kind": "usage", "message": text }),
            text,
            beside: Map::new(),
        }
    }

    /// Something of this kind that could not be done.
    pub(crate) fn of_kind(exit: Exit, kind: &str, what: impl Display) -> Self {
        let text = format!("failed to {what}");
        Self { exit, json: json!({ "kind": kind, "message": text }), text, beside: Map::new() }
    }

    /// A file that cannot be used; nothing was begun.
    pub(crate) fn input(what: impl Display, error: impl Display) -> Self {
        Self::usage(format!("failed to {what}: {error}"))
    }

    /// Something that the operating system refused.
    pub(crate) fn io(what: impl Display, error: impl Display) -> Self {
        let text = format!("failed to {what}: {error}");
        Self { exit: Exit::Failed, json: json!({ "kind": "io", "message": text }), text, beside: Map::new() }
    }

    /// Somebody thought better of it.
    pub(crate) fn cancelled(what: impl Display) -> Self {
        let text = format!("failed to {what}");
        Self {
            exit: Exit::Interrupted,
            json: json!({ "kind": "cancelled", "message": text }),
            text,
            beside: Map::new(),
        }
    }

    /// Adds one sentence on what to do.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.text += &format!("\n  hint: {hint}");
        self.json["hints"] = json!([hint]);
        self
    }

    /// A failure of something that was not begun: whatever a check at its entry found.
    pub(crate) fn at_entry(error: &Error) -> Self {
        Self { exit: exit_at_entry(error), ..Self::of_run(error, &Next::default()) }
    }

    /// The same of a document, whose author knows keys and no flags.
    pub(crate) fn of_document(error: &Error) -> Self {
        Self { exit: exit_at_entry(error), ..Self::of_library(error, KEYS, &Next::default()) }
    }

    /// A failure of the library; of a run, with what that had done by then and what there is to go on with.
    pub(crate) fn of_run(error: &Error, next: &Next) -> Self {
        Self::of_library(error, FLAGS, next)
    }

    /// A failure of the library, with its hints in these words.
    fn of_library(error: &Error, words: Words, next: &Next) -> Self {
        let hints: Vec<String> = error.hints().iter().map(|hint| in_words(hint, words)).collect();
        let mut json = described(error, &hints);
        if let Some(work) = error.work()
            && let Value::Object(work) = json!(work)
        {
            json.extend(work);
        }
        json.insert("session_id".into(), json!(error.work().and_then(Work::session_id)));
        json.insert(
            "session_file".into(),
            json!(error.work().and_then(Work::session_file).map(|file| file.to_string_lossy())),
        );
        json.insert("resume_command".into(), json!(next.resume));
        Self {
            exit: exit_of(error),
            text: worded(error, &hints, next),
            json: Value::Object(json),
            beside: Map::new(),
        }
    }
}

impl Failure {
    /// Adds what is wrong with a document, for a program.
    pub(crate) fn with_findings(mut self, findings: &Findings) -> Self {
        self.json["findings"] = json!(findings);
        self
    }

    /// A failure of a workflow that had begun, with what it had done by then and the command line that resumes it.
    pub(crate) fn of_workflow(error: &Error, ended: &WorkflowFailure, resume: &str) -> Self {
        // How to go on is said by the command line that does it.
        let hints = error.hints().iter().filter(|hint| !hint.contains(ended.run_id.as_str()));
        let hints: Vec<String> = hints.map(|hint| in_words(hint, KEYS)).collect();
        let (mut json, mut beside) = (Value::Object(described(error, &hints)), json!(ended));
        ended.secrets().mask_value(&mut json);
        ended.secrets().mask_value(&mut beside);
        json["resume_command"] = json!(resume);
        let mut lines = Lines::default();
        lines.all("hint", hints.iter());
        for record in ended.trace.iter().filter(|record| !record.commits.is_empty()) {
            lines.some("branch", record.branch.as_ref());
            lines.commits(&record.commits);
        }
        lines.add("run", &ended.run_id);
        let facts = format!("failed to {error}\n{}", lines.behind("  "));
        let facts = ended.secrets().mask(&facts);
        let mut lines = Lines::default();
        lines.add("go on", resume);
        let text = format!("{facts}\n{}", lines.behind("  "));
        let beside = match beside {
            Value::Object(beside) => beside,
            _ => Map::new(),
        };
        Self { exit: exit_of(error), text, json, beside }
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
        Self { exit: Exit::NoOutput, text: format!("{error:#}"), json, beside: Map::new() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of_run(&error, &Next::default())
    }
}

/// Command lines to go on with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Next {
    /// Shows the run.
    pub(crate) show: Option<String>,
    /// Continues its conversation.
    pub(crate) resume: Option<String>,
}

/// What the library's hints call something, and what somebody else calls it.
type Words = &'static [(&'static str, &'static str)];

/// What the command calls it.
const FLAGS: Words = &[
    ("the type's `prompt_snippet()`", "what `sandcastle schema snippet` prints"),
    ("`Logging::file`, or use `Logging::off`", "`--log`"),
    (
        "set its own limit with `Hook::timeout`, or raise `hook` in the timeouts of the run",
        "raise it with `--timeout hook=SECS`",
    ),
    (
        "raise `prompt_expression` in the timeouts of the run",
        "raise it with `--timeout prompt-expression=SECS`",
    ),
    (
        "raise `copy_to_worktree` in the timeouts of the run",
        "raise it with `--timeout copy-to-worktree=SECS`",
    ),
    ("the limit of this step with `timeouts`", "the limit of this step with `--timeout STEP=SECS`"),
    ("`RunOptions::env`", "`--env`"),
    ("with `env` or", "with `--env` or"),
    ("`PullRequestRun::prompt` or `prompt_file`", "`--prompt-file`"),
    ("`PullRequestRun::branch`", "`--branch`"),
    ("have the pull request on a branch of another name", "name another branch with `--branch`"),
    ("`push_remote`", "`--push-remote`"),
    ("`allow_untrusted`", "`--allow-untrusted`"),
    ("with `push`", "with `--push`"),
    ("`prompt_arg`", "`--arg`"),
    ("`prompt_file`", "`--prompt-file`"),
    ("`copy_to_worktree`", "`--copy`"),
    ("the branch strategy `branch`", "`--branch-strategy branch:NAME`"),
    ("the branch strategy `merge_to_head`", "`--branch-strategy merge-to-head`"),
    ("the strategy `merge_to_head` or `branch`", "`--branch-strategy merge-to-head` or `branch:NAME`"),
    ("`base`", "`--base`"),
    ("`cwd`", "`--cwd`"),
    ("`idle_timeout`", "`--idle-timeout`"),
    ("`total_timeout`", "`--total-timeout`"),
    ("`max_cost`", "`--max-cost`"),
    ("`max_tokens`", "`--max-tokens`"),
    ("`max_iterations`", "`--max-iterations`"),
    ("`max_retries`", "`--max-retries`"),
    ("as the model", "with `--model`"),
    ("the strategy `auto` or `tag`", "`--strategy auto` or `--strategy tag`"),
    ("the strategy `tag`", "`--strategy tag`"),
    ("aim at another one with `.host(url)`", "name another one with `DOCKER_HOST` in the environment"),
    ("aim at another one with `.context(name)`", "name another one with `CONTAINER_HOST` in the environment"),
];

/// What the document of a workflow calls it: most options are keys of the same name there.
const KEYS: Words = &[
    ("`total_timeout`, or resume the session to go on", "`timeout`"),
    ("`, or resume the session to go on with a new budget", "`"),
    ("name another model with `alternate`", "have it called again with `transport_retries`"),
    ("the strategy `merge_to_head` or `branch`", "`branch: merge-to-head`, or the name of a branch"),
    ("the branch strategy `merge_to_head`", "`branch: merge-to-head`"),
    ("`RunOptions::env`", "`env`"),
    ("aim at another one with `.host(url)`", "name another one with `DOCKER_HOST` in the environment"),
    ("aim at another one with `.context(name)`", "name another one with `CONTAINER_HOST` in the environment"),
];

/// Says a hint of the library in the words of somebody who types flags, or writes a document.
fn in_words(hint: &str, words: Words) -> String {
    words.iter().fold(hint.to_owned(), |hint, (option, word)| hint.replace(option, word))
}

/// Nothing was begun, so that there is no repository is a matter of how the command was called.
fn exit_at_entry(error: &Error) -> Exit {
    if error.kind() == ErrorKind::Git { Exit::Usage } else { exit_of(error) }
}

fn exit_of(error: &Error) -> Exit {
    match error.kind() {
        ErrorKind::StructuredOutput => Exit::NoOutput,
        ErrorKind::Cancelled => Exit::Interrupted,
        _ if error.is_entry_check() => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// Words a failure for a person: what, why, what to do, and what there is to go on with.
fn worded(error: &Error, hints: &[String], next: &Next) -> String {
    let mut text = format!("failed to {error:#}");
    for (said, hint) in error.hints().iter().zip(hints) {
        text = text.replace(said, hint);
    }
    let Some(work) = error.work() else { return text };
    let mut lines = Lines::default();
    lines.some("answer", work.answer.as_ref());
    lines.some("branch", work.branch.as_ref());
    lines.commits(&work.commits);
    // A run that goes on from here works on the branch as it is; bringing it home is left to the user.
    let is_left =
        |branch: &&sandcastle::BranchName| branch.starts_with("sandcastle/") && !work.commits.is_empty();
    lines.some("merge", work.branch.as_ref().filter(is_left).map(|branch| format!("git merge {branch}")));
    lines.some("worktree", work.preserved_worktree.as_ref().map(|path| path.display()));
    lines.some("session", work.session_id());
    lines.some("log", work.log_file.as_ref().map(|path| path.display()));
    lines.some("show", next.show.as_ref());
    lines.some("resume", next.resume.as_ref());
    text + "\n" + &lines.behind("  ")
}

/// What a program reads of any error of the library.
fn described(error: &Error, hints: &[String]) -> Map<String, Value> {
    let mut json = Map::new();
    json.insert("kind".into(), json!(kind_name(error.kind())));
    json.insert("message".into(), json!(error.to_string()));
    if let Some(output) = error.structured_output() {
        describe_output(&mut json, output);
    }
    if let Some(spent) = error.spent() {
        json.insert("budget".into(), json!(spent));
    }
    json.insert("hints".into(), json!(hints));
    json
}

fn describe_output(json: &mut Map<String, Value>, output: &StructuredOutputError) {
    json.insert("stage".into(), json!(output.stage()));
    json.insert("tag".into(), json!(output.tag));
    json.insert("raw_matched".into(), json!(output.raw_matched));
    json.insert("problems".into(), json!(output.problems));
    json.insert("strategy".into(), json!(output.strategy));
}

fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidOptions => "invalid-options",
        ErrorKind::Prompt => "prompt",
        ErrorKind::InvalidOutput => "invalid-output",
        ErrorKind::Git => "git",
        ErrorKind::Worktree => "worktree",
        ErrorKind::BranchBusy => "branch-busy",
        ErrorKind::Merge => "merge",
        ErrorKind::RepositoryChanged => "repository-changed",
        ErrorKind::Copy => "copy",
        ErrorKind::Hook => "hook",
        ErrorKind::PromptExpansion => "prompt-expansion",
        ErrorKind::StepTimeout => "step-timeout",
        ErrorKind::Sandbox => "sandbox",
        ErrorKind::Sync => "sync",
        ErrorKind::AgentStart => "agent-start",
        ErrorKind::AgentFailed => "agent-failed",
        ErrorKind::SessionNotFound => "session-not-found",
        ErrorKind::NoSession => "no-session",
        ErrorKind::IdleTimeout => "idle-timeout",
        ErrorKind::TotalTimeout => "total-timeout",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::Budget => "budget",
        ErrorKind::ModelFailed => "model-failed",
        ErrorKind::StructuredOutput => "structured-output",
        ErrorKind::InvalidWorkflow => "invalid-workflow",
        ErrorKind::WorkflowStep => "workflow-step",
        ErrorKind::Forge => "forge",
        ErrorKind::NothingProduced => "nothing-produced",
        ErrorKind::Io => "io",
        _ => "other",
    }
}
