//! The line below everything that says how the run goes on: time, agent process, tokens, last tool.

use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::render::{clean, one_line, thousands, tool};
use crate::event::AgentEvent;
use crate::run::event::RunEvent;
use crate::work::Usage;

/// How often the line is drawn anew while nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// The line, and what it says. It is taken away when it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    iteration: u32,
    /// What the processes used that have ended.
    before: u64,
    /// What this one has used so far.
    tokens: u64,
    doing: String,
}

impl Progress {
    /// Draws the line on a terminal that can move its cursor.
    pub(super) fn on(term: Term) -> Self {
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(term), 10);
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self { bar, iteration: 0, before: 0, tokens: 0, doing: String::new() }
    }

    /// Writes a line above it, which has been cleaned.
    pub(super) fn print(&self, line: &str) {
        self.bar.println(line);
    }

    /// Says what happens now.
    pub(super) fn follow(&mut self, event: &RunEvent) {
        match event {
            RunEvent::IterationStarted { number } => {
                self.iteration = *number;
                self.doing.clear();
            }
            RunEvent::IterationEnded { usage, .. } => {
                self.before = self.before.saturating_add(usage.total_tokens());
                self.tokens = 0;
                self.doing.clear();
            }
            RunEvent::Agent { event: AgentEvent::Usage { usage, .. } } => {
                self.tokens = Usage::total_tokens(usage)
            }
            RunEvent::Agent { event: AgentEvent::ToolCall { name, detail } } => {
                self.doing = one_line(&tool(name, detail));
            }
            RunEvent::Agent { event: AgentEvent::Waiting { message } } => self.doing = one_line(message),
            RunEvent::HookStarted { hook, command } => {
                self.doing = one_line(&format!("hook {hook}: {command}"))
            }
            _ => return,
        }
        self.say("");
    }

    /// Shows text that is not a line yet in the place of the last tool.
    pub(super) fn say(&self, waiting: &str) {
        let mut parts = Vec::new();
        if self.iteration > 0 {
            parts.push(format!("agent process {}", self.iteration));
        }
        let tokens = self.before.saturating_add(self.tokens);
        if tokens > 0 {
            parts.push(format!("{} tokens", thousands(tokens)));
        }
        let doing = if waiting.trim().is_empty() { &self.doing } else { waiting };
        if !doing.is_empty() {
            parts.push(one_line(doing));
        }
        self.bar.set_message(clean(&parts.join(" · ")).replace('\t', " "));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
