//! Words what is told: each event is a piece of text, a line, or nothing.

use std::borrow::Cow;
use std::path::PathBuf;

use super::Header;
use crate::event::AgentEvent;
use crate::run::event::RunEvent;
use crate::work::{AttemptOutcome, Usage, Work};

/// How much of a thing that is not an answer is shown.
const SHOWN: usize = 500;

/// What is written for one event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// A piece of what the agent says, joined to the last one.
    Text(&'a str),
    /// A line of its own; it may hold line feeds.
    Line { tone: Tone, text: String },
    /// Not worth a word.
    Nothing,
}

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// The run goes on.
    Status,
    /// What the agent does besides talking.
    Quiet,
    /// Something went wrong, and the run goes on.
    Warning,
    /// The run has ended badly.
    Failure,
}

impl Entry<'_> {
    pub(super) fn line(tone: Tone, text: impl Into<String>) -> Self {
        Self::Line { tone, text: text.into() }
    }
}

/// Words the lines that begin a run.
pub(super) fn header(header: &Header<'_>) -> Vec<String> {
    let Header { run, name, agent, model, sandbox, strategy, branch } = header;
    let model = model.map(|model| format!(", model {}", one_line(model))).unwrap_or_default();
    let mut lines = vec![
        format!("=== run {run}, begun {}", now()),
        format!("    agent: {}{model}", one_line(agent)),
        format!("    sandbox: {}", one_line(sandbox)),
        format!("    branch: {} ({strategy})", one_line(branch)),
    ];
    if let Some(name) = name {
        lines.insert(1, format!("    name: {}", one_line(name)));
    }
    lines
}

/// Words what a run has brought.
pub(super) fn summary(work: &Work) -> String {
    let commits = work.commits.len();
    let plural = if commits == 1 { "" } else { "s" };
    let tokens = work.usage.total_tokens();
    format!("=== {} done: {commits} commit{plural}, {tokens} tokens", now())
}

/// Words an event.
pub(super) fn entry(event: &RunEvent) -> Entry<'_> {
    let line = match event {
        RunEvent::Agent { event } => return agent(event),
        RunEvent::RawLine { line } => return Entry::line(Tone::Quiet, format!("  # {line}")),
        RunEvent::Warning { message } => return Entry::line(Tone::Warning, format!("!!! {message}")),
        RunEvent::AttemptFailed { .. } => return Entry::line(Tone::Warning, attempt(event)),
        RunEvent::ChangeUndone { paths, refs, .. } => return Entry::line(Tone::Warning, undone(paths, refs)),
        RunEvent::BudgetReached { spent } => return Entry::line(Tone::Warning, format!("--- {spent}")),
        RunEvent::FallbackUsed { preview, .. } => return Entry::line(Tone::Warning, given("made", preview)),
        RunEvent::CannedUsed { preview, .. } => return Entry::line(Tone::Warning, given("put by", preview)),
        RunEvent::Started { agent, branch } => format!("{agent} works on {branch}"),
        RunEvent::LogOpened { .. } => return Entry::Nothing,
        RunEvent::WorktreeReady { path, branch, fresh } => {
            let state = if *fresh { "new" } else { "reused" };
            format!("{state} worktree of {branch}: {}", path.display())
        }
        RunEvent::HookStarted { hook, command } => format!("{} hook {hook}: {}", now(), one_line(command)),
        RunEvent::HookEnded { hook, exit, duration, .. } => {
            format!("{} hook {hook} ended with {exit} after {:.1} s", now(), duration.as_secs_f64())
        }
        RunEvent::Expanded { command, tokens } => {
            format!("shell expression `{}` gave about {tokens} tokens", one_line(command))
        }
        RunEvent::StrategyChosen { choice } => {
            format!("output by the strategy `{}`: {}", choice.strategy, one_line(&choice.reason))
        }
        RunEvent::ExtractionStarted { session } => {
            format!("{} the work is done; asked for the output in the session {session}", now())
        }
        RunEvent::IterationStarted { number } => format!("{} agent process {number}", now()),
        RunEvent::Silent { minutes } => {
            let plural = if *minutes == 1 { "" } else { "s" };
            format!("{} the agent has printed nothing for {minutes} minute{plural}", now())
        }
        RunEvent::IterationEnded { exit, usage } => format!("{} {exit}{}", now(), used(usage)),
        RunEvent::TerminalLent { agent } => format!("{} {agent} has the terminal", now()),
        RunEvent::TerminalReturned { exit } => format!("{} {exit}", now()),
        RunEvent::SessionCaptured { id, file } => format!("session {id} kept in {}", file.display()),
        RunEvent::Merged { source, target, commits } => {
            let plural = if *commits == 1 { "" } else { "s" };
            format!("{} {commits} commit{plural} of {source} merged into {target}", now())
        }
    };
    Entry::line(Tone::Status, format!("--- {line}"))
}

/// Lists what was undone, a line each.
fn undone(paths: &[PathBuf], refs: &[String]) -> String {
    let paths = paths.iter().map(|path| one_line(&path.to_string_lossy()));
    let all = paths.chain(refs.iter().map(|name| one_line(name)));
    let lines: String = all.map(|name| format!("\n    {name}")).collect();
    format!("--- undone, because the agent may only speak now:{lines}")
}

/// Words what was given in place of an answer.
fn given(how: &str, rejected: &str) -> String {
    format!("--- a value that was {how} is given in place of the answer: {rejected}")
}

fn attempt(event: &RunEvent) -> String {
    match event {
        RunEvent::AttemptFailed {
            number,
            outcome: AttemptOutcome::AgentFailed | AttemptOutcome::Transport,
            message,
            ..
        } => format!("--- attempt {number} failed to {message}"),
        RunEvent::AttemptFailed { number, message, remaining, .. } => {
            format!("--- attempt {number} failed, {remaining} left: {message}")
        }
        _ => String::new(),
    }
}

/// Words what an agent process used: how full the model's context was, in thousands of tokens rounded up.
fn used(usage: &Usage) -> String {
    let context = context_window(usage);
    if context == 0 { String::new() } else { format!("\n    context window: {}", thousands(context)) }
}

/// Adds up what the model was given, from a cache or not.
fn context_window(usage: &Usage) -> u64 {
    let cached = usage.cache_creation_input_tokens.saturating_add(usage.cache_read_input_tokens);
    usage.input_tokens.saturating_add(cached)
}

/// Writes a number of tokens in thousands, rounded up.
pub(super) fn thousands(tokens: u64) -> String {
    format!("{}k", tokens.div_ceil(1000))
}

fn agent(event: &AgentEvent) -> Entry<'_> {
    let quiet = |mark: &str, text: &str| Entry::line(Tone::Quiet, format!("  {mark} {}", one_line(text)));
    match event {
        AgentEvent::Text { text } => Entry::Text(text),
        AgentEvent::Session { id } => Entry::line(Tone::Status, format!("--- session {id}")),
        AgentEvent::Thinking { text } => quiet("~", text),
        AgentEvent::SubAgentText { text } => quiet("|", text),
        AgentEvent::ToolCall { name, detail } => quiet(">", &tool(name, detail)),
        AgentEvent::ToolResult { is_error: true } => quiet("<", "failed"),
        AgentEvent::Waiting { message } => quiet(".", message),
        AgentEvent::Warning { message } => Entry::line(Tone::Warning, format!("  ! {}", one_line(message))),
        AgentEvent::TurnFailed { message, .. } => {
            Entry::line(Tone::Warning, format!("  ! turn failed: {}", one_line(message)))
        }
        AgentEvent::Unknown { line } => quiet("?", line),
        AgentEvent::ToolResult { .. }
        | AgentEvent::Usage { .. }
        | AgentEvent::SchemaTaken
        | AgentEvent::TurnCompleted { .. } => Entry::Nothing,
    }
}

/// Words a tool call.
pub(super) fn tool(name: &str, detail: &str) -> String {
    format!("{name}: {detail}")
}

pub(super) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Puts a text on one line, bounded.
pub(super) fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if line.len() < text.len() {
        line.push_str(" ...");
    }
    line
}

/// Makes control characters visible, so that a terminal does not obey them.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return text.into();
    }
    let show = |c: char| match c {
        c if !is_harmful(c) => c,
        c if c < ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    };
    text.chars().map(show).collect::<String>().into()
}

/// Tells what a terminal obeys, or what lets a line look like another one: marks that turn the direction of writing.
fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}
