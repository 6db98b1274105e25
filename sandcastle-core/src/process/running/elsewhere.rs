//! What is different where the program runs elsewhere and the child is only its client: what the launcher says is told from what
//! the program prints, and a client that ends first has lost the connection.

use std::io;

use super::{Running, STDERR_TAIL};
use crate::process::input::Feed;
use crate::process::remote::Far;
use crate::process::tail::Tail;

impl Running {
    pub(super) fn take_stderr(&mut self, count: usize) {
        let piece = &self.stderr_buffer[..count];
        match &mut self.far {
            None => self.stderr_tail.push(piece),
            Some(far) => {
                let mut rest = Vec::new();
                far.stderr(piece, &mut rest);
                self.stderr_tail.push(&rest);
            }
        }
    }

    /// Notes that a program elsewhere has ended, as its launcher says: its client is not waited for.
    pub(super) fn note_far_end(&mut self) {
        if self.exit.is_none()
            && let Some(exit) = self.far.as_ref().and_then(|far| far.exit())
        {
            self.exit = Some(exit);
            self.stdin = None;
            self.close_pipes();
        }
    }

    /// Waits for a line of the launcher that means something to `meaning`.
    pub(in crate::process) async fn hear<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> io::Result<T> {
        loop {
            while let Some(line) = self.far.as_mut().and_then(|far| far.said()) {
                if let Some(meant) = meaning(&line) {
                    return Ok(meant);
                }
            }
            self.check_is_not_lost()?;
            self.step().await?;
        }
    }

    /// Checks that a client has not ended while its program goes on.
    pub(super) fn check_is_not_lost(&self) -> io::Result<()> {
        match (self.gone, self.exit, &self.stdout, &self.stderr) {
            (Some(status), None, None, None) => {
                let said = self.stderr_tail.text();
                let said = said.trim();
                let what = if said.is_empty() { "it said nothing" } else { said };
                Err(io::Error::other(format!("the connection to the sandbox was lost ({status}): {what}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns what is known of the program if it runs elsewhere.
    pub(in crate::process) fn far(&self) -> Option<&Far> {
        self.far.as_deref()
    }

    /// Forgets what was printed on the standard error by now: it was the client's.
    pub(in crate::process) fn forget_stderr(&mut self) {
        self.stderr_tail = Tail::new(STDERR_TAIL);
    }

    /// Lets go of what runs elsewhere: only the client is ended with this.
    pub(in crate::process) fn forget_far(&mut self) {
        self.far = None;
    }

    /// Writes to an input that was kept open, and closes it behind that.
    pub(in crate::process) fn write(&mut self, feed: Feed) {
        if let Some(input) = &mut self.stdin {
            input.feed = feed;
        }
    }
}
