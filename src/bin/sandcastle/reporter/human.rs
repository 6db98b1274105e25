//! The form for persons. What an agent said is cleaned before it reaches a terminal.

use std::io::{self, IsTerminal};
use std::path::Path;

use sandcastle::{AgentEvent, AttemptOutcome, RunEvent};

use super::Verbosity;
use crate::cli::Color;

/// Words an event, if it is worth a line.
pub(super) fn event(event: &RunEvent, verbosity: Verbosity) -> Option<String> {
    let line = match event {
        RunEvent::Started { agent, branch } => format!("{agent} works on {branch}"),
        RunEvent::LogOpened { path } => format!("  tail -f {}", from_here(path).display()),
        RunEvent::WorktreeReady { path, .. } => format!("  in {}", path.display()),
        RunEvent::HookStarted { command, .. } => format!("  $ {}", first_line(command)),
        RunEvent::Merged { source, target, commits } => {
            format!(
                "merged {source} into {target}: {commits} {}",
                if *commits == 1 { "commit" } else { "commits" }
            )
        }
        RunEvent::StrategyChosen { choice } => {
            format!("  output by `{}`: {}", choice.strategy, choice.reason)
        }
        RunEvent::ExtractionStarted { .. } => "the work is done; asked for the output".to_owned(),
        RunEvent::IterationStarted { number } => format!("agent process {number}"),
        RunEvent::AttemptFailed {
            number,
            outcome: AttemptOutcome::AgentFailed | AttemptOutcome::Transport,
            message,
            ..
        } => {
            format!("attempt {number} failed to {message}")
        }
        RunEvent::AttemptFailed { number, message, remaining, .. } => {
            format!("attempt {number} failed, {remaining} left: {message}")
        }
        RunEvent::BudgetReached { spent } => spent.to_string(),
        RunEvent::Warning { message } => format!("warning: {message}"),
        RunEvent::Agent { event } => return agent(event, verbosity).map(|line| clean(&line)),
        _ => return None,
    };
    Some(clean(&line))
}

/// Returns the path as it is typed in the folder that the command was started in.
fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

fn agent(event: &AgentEvent, verbosity: Verbosity) -> Option<String> {
    match event {
        AgentEvent::ToolCall { name, detail } => Some(format!("  > {name}: {}", first_line(detail))),
        AgentEvent::Waiting { message } => Some(format!("  . {message}")),
        AgentEvent::Warning { message } => Some(format!("  ! {message}")),
        AgentEvent::Text { text } if verbosity == Verbosity::Verbose => Some(text.clone()),
        AgentEvent::Thinking { text } if verbosity == Verbosity::Verbose => Some(format!("  ~ {text}")),
        _ => None,
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(120) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// Words a failure.
pub(super) fn failure(text: &str, color: Color) -> String {
    let coloured = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stderr().is_terminal(),
    };
    let text = clean(text);
    if coloured { format!("\x1b[1;31merror\x1b[0m: {text}") } else { format!("error: {text}") }
}

/// Takes out what a terminal would obey, and what would show a text in another order than it has.
pub(crate) fn clean(text: &str) -> String {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || reorders(c));
    text.chars().map(|c| if is_kept(c) { c } else { '\u{fffd}' }).collect()
}

/// Tells whether a character embeds, overrides or isolates a direction of writing. A direction that letters have by themselves
/// needs none.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// As [`clean`], on one line.
pub(crate) fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_cannot_move_the_cursor() {
        let event = RunEvent::Agent {
            event: AgentEvent::ToolCall { name: "Bash".into(), detail: "echo \x1b[2J\nrm".into() },
        };
        assert_eq!(super::event(&event, Verbosity::Normal).unwrap(), "  > Bash: echo \u{fffd}[2J");
    }

    #[test]
    fn a_text_is_shown_in_its_own_order() {
        let (shown, plain) = (clean("rm \u{202e}sf-\u{202c} \u{2066}x\u{2069}"), "שלום \u{200f}עולם");
        assert_eq!(shown, "rm \u{fffd}sf-\u{fffd} \u{fffd}x\u{fffd}");
        assert_eq!(clean(plain), plain);
    }
}
