//! What is shown: results on the standard output, everything else on the standard error.

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

use sandcastle::RunEvent;
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
}

impl Reporter {
    pub(crate) fn new(format: Format, verbosity: Verbosity, color: Color) -> Self {
        Self { format, verbosity, color }
    }

    /// Shows something that goes on.
    pub(crate) fn event(&self, event: &RunEvent) {
        if self.verbosity != Verbosity::Quiet
            && let Some(line) = human::event(event, self.verbosity)
        {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Shows the steps of a workflow while they go on.
    pub(crate) fn steps(&self) -> Steps {
        Steps::new(self.verbosity, self.color)
    }

    /// Shows a line of something that goes on.
    pub(crate) fn progress(&self, line: &str) {
        if self.verbosity != Verbosity::Quiet {
            let _ = writeln!(io::stderr(), "{}", clean(line));
        }
    }

    /// Prints a result: `json` for a program, `human` for a person.
    pub(crate) fn result(&self, json: &Value, human: &str) -> Result<(), Failure> {
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
