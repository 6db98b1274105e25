//! Shows a run to a person: lines above, progress below; plain lines where nobody sits at a terminal.

use std::io::{self, Write};

use console::{Style, Term};

use super::page::Page;
use super::pieces::Pieces;
use super::progress::Progress;
use super::render::{Entry, Tone, clean};
use crate::run::event::RunEvent;

/// The standard error of this process, as a terminal or as a stream.
pub(super) struct Terminal {
    /// Drawn while the run goes on.
    progress: Option<Progress>,
    /// Where it is drawn.
    term: Option<Term>,
    pieces: Pieces,
    page: Page<Box<dyn Write + Send + Sync>>,
}

impl Terminal {
    /// Shows the run on the standard error.
    pub(super) fn stderr() -> Self {
        let term = Term::buffered_stderr();
        let can_draw = term.is_term() && !console::is_dumb();
        if can_draw { Self::live(term) } else { Self::plain(Box::new(io::stderr())) }
    }

    /// Shows the run with a line of progress that is drawn anew and anew.
    pub(super) fn live(term: Term) -> Self {
        // Whatever is left to say when the progress is gone is said to the same terminal.
        let page = Page::new(Box::new(term.clone()) as Box<dyn Write + Send + Sync>);
        Self { progress: Some(Progress::on(term.clone())), term: Some(term), pieces: Pieces::default(), page }
    }

    /// Shows the run as plain lines.
    pub(super) fn plain(out: Box<dyn Write + Send + Sync>) -> Self {
        Self { progress: None, term: None, pieces: Pieces::default(), page: Page::new(out) }
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
                    progress.print(&clean(&line));
                }
                progress.say(self.pieces.waiting());
            }
            Entry::Line { tone, text } => {
                if let Some(rest) = self.pieces.flush() {
                    progress.print(&clean(&rest));
                }
                for line in text.split('\n') {
                    progress.print(&style(*tone).apply_to(clean(line)).to_string());
                }
            }
            Entry::Nothing => {}
        }
    }

    /// Takes the progress away by hand. While a thread panics it is neither drawn nor taken away when it is asked to be.
    fn stop_drawing(&mut self) {
        let (Some(_), Some(term)) = (self.progress.take(), &self.term) else { return };
        // A terminal that is gone cannot be helped.
        let _ = term.clear_line().and_then(|()| term.flush());
        if let Some(rest) = self.pieces.flush() {
            self.page.enter(&Entry::Text(&rest));
        }
    }

    /// Shows what is left, and takes the progress away.
    pub(super) fn close(&mut self) {
        if std::thread::panicking() {
            self.stop_drawing();
        }
        if let (Some(progress), Some(rest)) = (&self.progress, self.pieces.flush()) {
            progress.print(&clean(&rest));
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
