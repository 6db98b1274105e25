//! Shows a run to a person: lines above, progress below; plain lines where nobody sits at a terminal.

use std::io::{self, Write};

use console::Style;

use super::page::Page;
use super::pieces::Pieces;
use super::progress::Progress;
use super::render::{Entry, Tone, clean};
use crate::run::event::RunEvent;

/// The standard error of this process, as a terminal or as a stream.
pub(super) struct Terminal {
    /// Drawn while the run goes on.
    progress: Option<Progress>,
    pieces: Pieces,
    /// Where lines go while there is no progress.
    page: Page<Box<dyn Write + Send + Sync>>,
}

impl Terminal {
    /// Shows the run on the standard error.
    pub(super) fn stderr() -> Self {
        let out = Box::new(io::stderr());
        match Progress::stderr() {
            Some(progress) => Self::live(progress, out),
            None => Self::plain(out),
        }
    }

    /// Shows the run above a line of progress; whatever is left to say when that is gone is said to `out`.
    pub(super) fn live(progress: Progress, out: Box<dyn Write + Send + Sync>) -> Self {
        Self { progress: Some(progress), pieces: Pieces::default(), page: Page::new(out) }
    }

    /// Shows the run as plain lines.
    pub(super) fn plain(out: Box<dyn Write + Send + Sync>) -> Self {
        Self { progress: None, pieces: Pieces::default(), page: Page::new(out) }
    }

    /// Keeps the progress up with what happens.
    pub(super) fn follow(&mut self, event: &RunEvent) {
        if let Some(progress) = &mut self.progress {
            progress.follow(event);
        }
    }

    /// Shows one entry.
    pub(super) fn enter(&mut self, entry: &Entry<'_>) {
        if std::thread::panicking() {
            self.stop_drawing();
        }
        let Some(progress) = &self.progress else { return self.page.enter(entry) };
        match entry {
            Entry::Text(text) => {
                for line in self.pieces.push(text) {
                    progress.print(&line);
                }
                progress.say(self.pieces.waiting());
            }
            Entry::Line { tone, text } => {
                if let Some(rest) = self.pieces.flush() {
                    progress.print(&rest);
                }
                for line in text.split('\n') {
                    progress.print_styled(&style(*tone).apply_to(clean(line)).to_string());
                }
            }
            Entry::Nothing => {}
        }
    }

    /// Takes the progress away. While a thread panics nothing is drawn above it.
    fn stop_drawing(&mut self) {
        if self.progress.take().is_some()
            && let Some(rest) = self.pieces.flush()
        {
            self.page.enter(&Entry::Text(&rest));
        }
    }

    /// Shows what is left, and takes the progress away.
    pub(super) fn close(&mut self) {
        if std::thread::panicking() {
            self.stop_drawing();
        }
        if let (Some(progress), Some(rest)) = (&self.progress, self.pieces.flush()) {
            progress.print(&rest);
        }
        self.progress = None;
        self.page.flush();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close();
    }
}

/// How a line looks; plain where colours are not wanted.
fn style(tone: Tone) -> Style {
    let style = Style::new().for_stderr();
    match tone {
        Tone::Status => style.bold(),
        Tone::Quiet => style.dim(),
        Tone::Warning => style.yellow(),
        Tone::Failure => style.red().bold(),
    }
}
