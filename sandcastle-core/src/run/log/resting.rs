//! Where the cursor is while a line is drawn anew and anew.
//!
//! `indicatif` leaves it at the right edge. What the terminal itself echoes there, such as the `^C` of an interrupt, goes to the
//! next line, which is then taken away in the place of the one that was drawn. So it rests at the left, where an echo is
//! drawn over.

use std::io;

use console::Term;
use indicatif::TermLike;

/// A terminal whose cursor is brought back to the beginning of the line that was drawn last.
#[derive(Clone, Debug)]
pub(super) struct Resting(pub(super) Term);

impl TermLike for Resting {
    fn width(&self) -> u16 {
        TermLike::width(&self.0)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.write_str("\r")?;
        self.0.flush()
    }
}
