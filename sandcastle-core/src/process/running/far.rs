//! What is different about a program that runs elsewhere: the child is its client.

use std::io;

use super::feed::Feed;
use super::{Running, STDERR_TAIL};
use crate::process::remote::Far;
use crate::process::{Program, Tail};

impl Running {
    /// Starts the client of a program that runs elsewhere, and keeps its input open.
    pub(in crate::process) fn start_far(client: &Program, far: Far) -> io::Result<Self> {
        Self::start_with(client, Feed::open(), Some(Box::new(far)))
    }

    /// Takes what came on the standard error.
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

    /// Tells whether the child has ended.
    pub(in crate::process) fn is_gone(&mut self) -> bool {
        self.gone.is_some() || !matches!(self.child.try_wait(), Ok(None))
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
