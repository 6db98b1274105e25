//! What the steps of a workflow do, while they do it: a line that moves for each that is at work, above them what is done.
//!
//! Where nobody sits at a terminal there are plain lines. While somebody is asked, everything waits.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::Style;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use sandcastle::__private::progress_target;
use sandcastle::workflow::{StepStatus, WorkflowEvent};
use sandcastle::{Activity, ModelRunEvent};

use super::Verbosity;
use super::human::{clean, one_line};
use super::workflow as words;
use crate::cli::Color;

/// How often a line is drawn anew while nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// Shows the steps of one run of a workflow.
#[derive(Clone, Debug)]
pub(crate) struct Steps(Arc<Mutex<Screen>>);

#[derive(Debug)]
struct Screen {
    verbosity: Verbosity,
    /// The lines that move; `None` where nobody would see them move.
    rows: Option<Rows>,
    /// What was said while somebody is asked.
    held: Option<Vec<String>>,
}

#[derive(Debug)]
struct Rows {
    bars: MultiProgress,
    at_work: Vec<Row>,
}

/// One step that is at work.
#[derive(Debug)]
struct Row {
    step: String,
    kind: String,
    bar: ProgressBar,
    attempt: u32,
    activity: Activity,
}

/// Somebody is asked; everything else waits until this is dropped.
#[derive(Debug)]
pub(crate) struct Quiet(Steps);

impl Steps {
    pub(super) fn new(verbosity: Verbosity, color: Color) -> Self {
        match color {
            Color::Auto => {}
            Color::Always => console::set_colors_enabled_stderr(true),
            Color::Never => console::set_colors_enabled_stderr(false),
        }
        let target = if verbosity == Verbosity::Quiet { None } else { progress_target() };
        let rows =
            target.map(|target| Rows { bars: MultiProgress::with_draw_target(target), at_work: Vec::new() });
        Self(Arc::new(Mutex::new(Screen { verbosity, rows, held: None })))
    }

    /// Shows something that happened.
    pub(crate) fn follow(&self, event: &WorkflowEvent) {
        self.screen().follow(event);
    }

    /// Takes the lines away for as long as somebody is asked.
    pub(crate) fn quiet(&self) -> Quiet {
        let mut screen = self.screen();
        screen.held = Some(Vec::new());
        if let Some(rows) = &screen.rows {
            let _ = rows.bars.clear();
            rows.bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        drop(screen);
        Quiet(self.clone())
    }

    /// Takes all lines away that move.
    pub(crate) fn close(&self) {
        if let Some(rows) = self.screen().rows.take() {
            rows.at_work.iter().for_each(|row| row.bar.finish_and_clear());
        }
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let mut screen = self.0.screen();
        if let (Some(rows), Some(target)) = (&screen.rows, progress_target()) {
            rows.bars.set_draw_target(target);
        }
        for line in screen.held.take().unwrap_or_default() {
            screen.print(line);
        }
    }
}

impl Screen {
    fn follow(&mut self, event: &WorkflowEvent) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let moves = self.rows.is_some();
        if let Some(rows) = &mut self.rows {
            rows.follow(event);
        }
        if let Some(line) = words::event(event, self.verbosity, moves) {
            let line = clean(&line);
            self.print(if moves { coloured(event, &line) } else { line });
        }
    }

    fn print(&mut self, line: String) {
        match (&mut self.held, &self.rows) {
            (Some(held), _) => held.push(line),
            (None, Some(rows)) => {
                let _ = rows.bars.println(line);
            }
            (None, None) => {
                let _ = writeln!(io::stderr(), "{line}");
            }
        }
    }
}

/// A step that is done is told from one that failed at a glance.
fn coloured(event: &WorkflowEvent, line: &str) -> String {
    let style = Style::new().for_stderr();
    let style = match event {
        WorkflowEvent::StepEnded { record } => match record.status {
            StepStatus::Completed | StepStatus::Resumed => style.green(),
            StepStatus::Failed | StepStatus::Rejected => style.red(),
            _ => style.yellow(),
        },
        WorkflowEvent::Warning { .. } | WorkflowEvent::StepRetried { .. } => style.yellow(),
        _ => style.dim(),
    };
    style.apply_to(line).to_string()
}

impl Rows {
    fn follow(&mut self, event: &WorkflowEvent) {
        match event {
            WorkflowEvent::StepStarted { step, kind, .. } => {
                let row = Row::new(step, kind, self.bars.add(ProgressBar::new_spinner()));
                row.show();
                self.at_work.push(row);
            }
            WorkflowEvent::StepEnded { record } => {
                if let Some(index) = self.at_work.iter().position(|row| row.step == record.step) {
                    self.at_work.remove(index).bar.finish_and_clear();
                }
            }
            WorkflowEvent::StepRetried { step, .. } => self.change(step, |row| row.attempt += 1),
            WorkflowEvent::Model { step, event } => self.change(step, |row| row.model(event)),
            WorkflowEvent::Agent { step, event } => self.change(step, |row| _ = row.activity.follow(event)),
            _ => {}
        }
    }

    fn change(&mut self, step: &str, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.at_work.iter_mut().find(|row| row.step == step) {
            change(row);
            row.show();
        }
    }
}

impl Row {
    fn new(step: &str, kind: &str, bar: ProgressBar) -> Self {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(one_line(step));
        bar.enable_steady_tick(TICK);
        let (step, kind) = (step.to_owned(), kind.to_owned());
        Self { step, kind, bar, attempt: 1, activity: Activity::default() }
    }

    fn model(&mut self, event: &ModelRunEvent) {
        match event {
            ModelRunEvent::CallEnded { usage, .. } | ModelRunEvent::CallFailed { usage, .. } => {
                self.activity.count(usage);
            }
            _ => {}
        }
    }

    fn show(&self) {
        let mut parts = vec![one_line(&self.kind)];
        if self.attempt > 1 {
            parts.push(format!("attempt {}", self.attempt));
        }
        let activity = self.activity.to_string();
        if !activity.is_empty() {
            parts.push(activity);
        }
        self.bar.set_message(parts.join(" · "));
    }
}
