//! What a program reads on its standard input.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

use crate::process::Program;

/// How much of a file is read at once.
const READ: usize = 64 * 1024;

/// A pipe, and what is to go through it.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) pipe: ChildStdin,
    pub(super) feed: Feed,
}

/// What is written to a program.
#[derive(Debug, Default)]
pub(in crate::process) struct Feed {
    bytes: Vec<u8>,
    written: usize,
    file: Option<Arc<File>>,
    /// Whether more may follow, so that the pipe stays open.
    is_open: bool,
}

impl Feed {
    /// Returns what stays open until it is told what to write.
    pub(super) fn open() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// What `program` reads, behind `first`.
    pub(in crate::process) fn of(mut first: Vec<u8>, program: &Program) -> Self {
        first.extend_from_slice(&program.stdin);
        Self { bytes: first, written: 0, file: program.stdin_file.clone(), is_open: false }
    }

    /// Tells whether there is nothing to write, now or later.
    pub(super) fn is_nothing(&self) -> bool {
        self.bytes.is_empty() && self.file.is_none() && !self.is_open
    }

    /// Returns the next piece; `None` when there is no more.
    fn piece(&mut self) -> Option<&[u8]> {
        if self.written == self.bytes.len() {
            self.bytes.resize(READ, 0);
            let count = self.file.as_deref().map_or(0, |mut file| file.read(&mut self.bytes).unwrap_or(0));
            self.bytes.truncate(count);
            self.written = 0;
        }
        Some(&self.bytes[self.written..]).filter(|piece| !piece.is_empty())
    }
}

/// Whether there is more to write.
#[derive(PartialEq)]
pub(super) enum Fed {
    More,
    Done,
}

/// Writes some of the input. A broken pipe is the program's own choice not to read on.
pub(super) async fn feed(stdin: &mut Option<Input>) -> Fed {
    let Some(input) = stdin else { return std::future::pending().await };
    if input.feed.is_open {
        return std::future::pending().await;
    }
    let Some(piece) = input.feed.piece() else { return Fed::Done };
    match input.pipe.write(piece).await {
        Ok(0) | Err(_) => Fed::Done,
        Ok(count) => {
            input.feed.written += count;
            Fed::More
        }
    }
}
