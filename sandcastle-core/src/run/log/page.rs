//! Writes entries one below the other.
//!
//! Pieces of text are joined; everything else is on a line of its own. There are no escape codes in a page.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::render::{Entry, clean};

/// How long text may wait in memory before somebody who follows the log sees it.
const PATIENCE: Duration = Duration::from_millis(50);

/// What is written, and where.
pub(super) struct Page<W> {
    out: W,
    at_line_start: bool,
    flushed: Instant,
    trouble: Option<io::Error>,
    reported: bool,
}

impl<W: Write> Page<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, at_line_start: true, flushed: Instant::now(), trouble: None, reported: false }
    }

    /// Writes one entry. That it cannot be written is kept for [`Page::trouble`].
    pub(super) fn enter(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Text(text) => self.text(text),
            Entry::Line { text, .. } => self.line(text),
            Entry::Nothing => {}
        }
    }

    /// Returns why something could not be written, the first time.
    pub(super) fn trouble(&mut self) -> Option<io::Error> {
        let trouble = self.trouble.take().filter(|_| !self.reported);
        self.reported |= trouble.is_some();
        trouble
    }

    pub(super) fn flush(&mut self) {
        let flushed = self.out.flush();
        self.note(flushed);
        self.flushed = Instant::now();
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.put(&clean(text));
        self.at_line_start = text.ends_with('\n');
        if self.flushed.elapsed() > PATIENCE {
            self.flush();
        }
    }

    fn line(&mut self, line: &str) {
        if !self.at_line_start {
            self.put("\n");
        }
        self.put(&clean(line));
        self.put("\n");
        self.at_line_start = true;
        self.flush();
    }

    fn put(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        self.note(written);
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.trouble.get_or_insert(error);
        }
    }
}
