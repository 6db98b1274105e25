//! What is shown: results on the standard output, everything else on the standard error.
//!
//! Who sits at a terminal sees a line below all that while a run goes on, the library's own; it is gone before a result or a
//! failure is shown.

pub(crate) mod findings;
mod human;
mod json;
mod lines;
pub(crate) mod next;
pub(crate) mod pr;
pub(crate) mod runs;
mod steps;
pub(crate) mod workflow;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandcastle::{Progress, RunEvent};
use serde_json::Value;

use crate::cli::{Color, Format};
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use self::human::{clean, one_line};
pub(crate) use self::lines::Lines;
pub(crate) use self::steps::Steps;

/// How much is told about what goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Shows what happens in the form that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    format: Format,
    verbosity: Verbosity,
    color: Color,
    /// The line that says how a run goes on, while one does.
    progress: Arc<Mutex<Option<Progress>>>,
}

impl Reporter {
    pub(crate) fn new(format: Format, verbosity: Verbosity, color: Color) -> Self {
        Self { format, verbosity, color, progress: Arc::default() }
    }

    /// Begins to show how a run goes on, for a person at a terminal, until a result or a failure is shown.
    pub(crate) fn begin(&self) {
        if self.format == Format::Human && self.verbosity != Verbosity::Quiet {
            *self.line() = Progress::stderr();
        }
    }

    /// Shows something that goes on.
    pub(crate) fn event(&self, event: &RunEvent) {
        if let Some(progress) = &mut *self.line() {
            progress.follow(event);
        }
        if let Some(line) = human::event(event, self.verbosity) {
            self.progress(&line);
        }
    }

    /// Shows the steps of a workflow while they go on.
    pub(crate) fn steps(&self) -> Steps {
        Steps::new(self.verbosity, self.color)
    }

    /// Shows a line of something that goes on.
    pub(crate) fn progress(&self, line: &str) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let line = clean(line);
        match &*self.line() {
            Some(progress) => progress.print(&line),
            None => _ = writeln!(io::stderr(), "{line}"),
        }
    }

    fn line(&self) -> MutexGuard<'_, Option<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a result: `json` for a program, `human` for a person.
    pub(crate) fn result(&self, json: &Value, human: &str) -> Result<(), Failure> {
        *self.line() = None;
        let text = match self.format {
            Format::Json => json::object(json),
            Format::Human => human.to_owned(),
        };
        match writeln!(io::stdout(), "{text}").and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::io("write to the standard output", error))
            }
            _ => Ok(()),
        }
    }

    /// Shows a failure, and says how the command ends.
    pub(crate) fn failed(&self, failure: &Failure) -> Exit {
        *self.line() = None;
        match self.format {
            Format::Json => {
                let mut object = serde_json::json!({ "error": failure.json });
                for (name, value) in &failure.beside {
                    object[name] = value.clone();
                }
                let _ = writeln!(io::stdout(), "{}", json::object(&object));
            }
            Format::Human => {
                let _ = writeln!(io::stderr(), "{}", human::failure(&failure.text, self.color));
            }
        }
        failure.exit
    }
}
