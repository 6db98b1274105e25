//! The line below everything that says how a run goes on: time, agent process, tokens, last tool.
//!
//! `Logging::terminal` draws it below the run log, the command below its own words. What is above it is none of its business.

use std::fmt;
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::render::{clean, one_line, thousands, tool};
use super::resting::Resting;
use crate::event::AgentEvent;
use crate::run::event::RunEvent;
use crate::work::Usage;

/// How often the line is drawn anew while nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// How often anything is drawn in a second, at the most.
const HERTZ: u8 = 10;

/// A line at the bottom of a terminal that says how a run goes on: how long, and its [`Activity`].
///
/// [`Logging::terminal`](crate::Logging::terminal) draws it below the run log. Whoever words the events of a run in another way
/// draws it below those words:
///
/// ```
/// use std::sync::{Mutex, PoisonError};
///
/// use sandcastle_core::{Progress, RunEvent};
///
/// let progress = Mutex::new(Progress::stderr());
/// // For `RunOptions::on_event`. The line is taken away with the last that holds it.
/// let on_event = move |event: &RunEvent| {
///     let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
///     match (&mut *progress, event) {
///         (Some(progress), RunEvent::Warning { message }) => progress.print(message),
///         (None, RunEvent::Warning { message }) => eprintln!("{message}"),
///         (Some(progress), event) => progress.follow(event),
///         (None, _) => {}
///     }
/// };
/// # on_event(&RunEvent::IterationStarted { number: 1 });
/// ```
///
/// It is taken away when it is dropped, also by a panic. Between [`RunEvent::TerminalLent`] and
/// [`RunEvent::TerminalReturned`] the terminal is another's, so it has to be gone by then.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    term: Term,
    activity: Activity,
}

impl Progress {
    /// Draws the line on the standard error, if that is a terminal that can move its cursor: `None` elsewhere, and where `TERM`
    /// is `dumb` or not set.
    #[must_use]
    pub fn stderr() -> Option<Self> {
        let term = Term::buffered_stderr();
        can_draw(&term).then(|| Self::on(term))
    }

    /// Draws the line on a terminal that can move its cursor.
    pub(super) fn on(term: Term) -> Self {
        let bar = ProgressBar::with_draw_target(None, target(&term));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self { bar, term, activity: Activity::default() }
    }

    /// Writes lines above it, without what a terminal would obey.
    pub fn print(&self, text: &str) {
        text.split('\n').for_each(|line| self.print_styled(&clean(line)));
    }

    /// Writes a line above it, which has been cleaned.
    pub(super) fn print_styled(&self, line: &str) {
        self.bar.println(line);
    }

    /// Says what happens now.
    pub fn follow(&mut self, event: &RunEvent) {
        if self.activity.follow(event) {
            self.say("");
        }
    }

    /// Shows text that is not a line yet in the place of the last tool.
    pub(super) fn say(&self, waiting: &str) {
        self.bar.set_message(self.activity.with(waiting));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The bar neither draws nor goes away by then. A terminal that is gone cannot be helped.
            let _ = self.term.clear_line().and_then(|()| self.term.flush());
        } else {
            self.bar.finish_and_clear();
        }
    }
}

/// What a run is at: which agent process, the tokens used so far, in thousands, and the last tool call, joined on one line.
///
/// [`Progress`] shows it; by itself it is for those who draw several runs at once. It displays as nothing before there is
/// something to tell, and holds nothing that a terminal would obey.
///
/// ```
/// use sandcastle_core::{Activity, AgentEvent, RunEvent};
///
/// let mut activity = Activity::default();
/// activity.follow(&RunEvent::IterationStarted { number: 1 });
/// let event = AgentEvent::ToolCall { name: "Bash".into(), detail: "cargo test".into() };
/// activity.follow(&RunEvent::Agent { event });
/// assert_eq!(activity.to_string(), "agent process 1 · Bash: cargo test");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Activity {
    iteration: u32,
    /// What calls and processes used that have ended.
    before: u64,
    /// What this process has used so far.
    tokens: u64,
    doing: String,
}

impl Activity {
    /// Notices what happens to a run of an agent, and tells whether there is something else to show.
    pub fn follow(&mut self, event: &RunEvent) -> bool {
        match event {
            RunEvent::IterationStarted { number } => {
                self.iteration = *number;
                self.doing.clear();
            }
            RunEvent::IterationEnded { usage, .. } => {
                self.count(usage);
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
            _ => return false,
        }
        true
    }

    /// Counts what was used beside agents, such as by a call of a model.
    pub fn count(&mut self, usage: &Usage) {
        self.before = self.before.saturating_add(usage.total_tokens());
    }

    /// Words it with a text that is not a line yet in the place of the last tool.
    fn with(&self, waiting: &str) -> String {
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
        clean(&parts.join(" · ")).replace('\t', " ")
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(""))
    }
}

/// Returns where lines are drawn on the standard error, with the cursor at rest where an echo does no harm; `None` where
/// [`Progress::stderr`] is.
#[must_use]
pub fn progress_target() -> Option<ProgressDrawTarget> {
    let term = Term::buffered_stderr();
    can_draw(&term).then(|| target(&term))
}

fn can_draw(term: &Term) -> bool {
    term.is_term() && !console::is_dumb()
}

fn target(term: &Term) -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(Box::new(Resting(term.clone())), HERTZ)
}
