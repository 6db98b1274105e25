//! The run log: what happened, as text that a person can read.
//!
//! `render` words what is told, `page` writes it down, `file` opens the file it goes to, which `name` names, and
//! `terminal` shows it to a person. Everything of one run goes through one writer, in order, and nothing is left behind
//! when the run is dropped or panics.
//!
//! What comes here is masked already (see `audience`). It may still be hostile: control characters are made visible, so
//! that showing the log in a terminal is safe.

mod file;
mod name;
mod page;
mod pieces;
mod progress;
mod render;
mod resting;
mod terminal;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

pub(super) use self::name::LogName;
use self::page::Page;
pub use self::progress::{Activity, Progress, progress_target};
use self::render::{Entry, Tone};
use self::terminal::Terminal;
use super::event::RunEvent;
use super::logging::{Destination, Detail, Logging};
use crate::config::ConfigDir;
use crate::error::{Error, Result};
use crate::id::RunId;
use crate::work::Work;

/// A log that is open, or none.
#[derive(Debug)]
pub(super) struct RunLog {
    sink: Sink,
    file: Option<PathBuf>,
    detail: Detail,
    state: State,
}

enum Sink {
    File(Page<BufWriter<File>>),
    Terminal(Terminal),
    Off,
}

/// How far a run has come, as the log knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Ended,
}

/// What the lines that begin a run say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    pub(super) run: &'a RunId,
    /// What the caller calls it.
    pub(super) name: Option<&'a str>,
    pub(super) agent: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) sandbox: &'a str,
    pub(super) strategy: &'a str,
    pub(super) branch: &'a str,
}

impl RunLog {
    /// Opens the log that `logging` asks for, or the default one of the repository.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the file cannot be opened. From then on nothing about a log fails a run.
    pub(super) fn open(logging: Option<&Logging>, config: &ConfigDir, name: &LogName<'_>) -> Result<Self> {
        let detail = logging.map_or(Detail::Events, |logging| logging.detail);
        let (file, path) = match logging.map(|logging| &logging.destination) {
            Some(Destination::Off) => return Ok(Self::to(Sink::Off, None, detail)),
            Some(Destination::Terminal) => {
                return Ok(Self::to(Sink::Terminal(Terminal::stderr()), None, detail));
            }
            Some(Destination::File(path)) => file::open_at(path)?,
            None => file::open_default(config, name)?,
        };
        Ok(Self::to(Sink::File(Page::new(BufWriter::new(file))), Some(path), detail))
    }

    fn to(sink: Sink, file: Option<PathBuf>, detail: Detail) -> Self {
        Self { sink, file, detail, state: State::New }
    }

    /// Returns the file it goes to.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Tells whether the lines of the agent are wanted as they are.
    pub(super) fn wants_raw_lines(&self) -> bool {
        self.detail == Detail::RawLines
    }

    /// Writes the lines that begin a run.
    pub(super) fn header(&mut self, header: &Header<'_>) {
        self.state = State::Begun;
        for line in render::header(header) {
            self.enter(&Entry::line(Tone::Status, line));
        }
    }

    /// Writes what happened.
    pub(super) fn write(&mut self, event: &RunEvent) {
        match &mut self.sink {
            Sink::File(_) => {}
            Sink::Terminal(terminal) => terminal.follow(event),
            Sink::Off => return,
        }
        self.enter(&render::entry(event));
    }

    /// Writes the error that ended a run.
    pub(super) fn failed(&mut self, error: &Error) {
        self.enter(&Entry::line(Tone::Failure, format!("!!! {} failed to {error:#}", render::now())));
        self.close();
    }

    /// Writes what a run has brought.
    pub(super) fn succeeded(&mut self, work: &Work) {
        self.enter(&Entry::line(Tone::Status, render::summary(work)));
        self.close();
    }

    /// Returns why the log could not be written, once.
    pub(super) fn trouble(&mut self) -> Option<io::Error> {
        match &mut self.sink {
            Sink::File(page) => page.trouble(),
            Sink::Terminal(_) | Sink::Off => None,
        }
    }

    fn close(&mut self) {
        self.state = State::Ended;
        match &mut self.sink {
            Sink::File(page) => page.flush(),
            Sink::Terminal(terminal) => terminal.close(),
            Sink::Off => {}
        }
    }

    fn enter(&mut self, entry: &Entry<'_>) {
        match &mut self.sink {
            Sink::File(page) => page.enter(entry),
            Sink::Terminal(terminal) => terminal.enter(entry),
            Sink::Off => {}
        }
    }
}

impl Drop for RunLog {
    /// Says so when a run was dropped, or panicked, before it came to its end.
    fn drop(&mut self) {
        if self.state == State::Begun {
            self.enter(&Entry::line(Tone::Failure, format!("!!! {} dropped before its end", render::now())));
            self.close();
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Terminal(_) => "Terminal",
            Self::Off => "Off",
        })
    }
}

#[cfg(test)]
mod tests;
