//! The files that a document names: prompts, below the folder that the document is in.
//!
//! No path and no symbolic link leads out of that folder, and what is read is bounded: a document may come from anywhere.

use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::report::shown;

/// The most bytes of a file with a prompt.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the prompts that are not in the document itself.
pub(super) trait PromptFiles {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    fn read(&self, name: &str) -> Result<String, Trouble>;
}

/// Says why a prompt cannot be read.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// A document that is a text, and in no folder.
pub(super) struct NoFolder;

impl PromptFiles for NoFolder {
    fn read(&self, _: &str) -> Result<String, Trouble> {
        let message = "needs a document that is a file".to_owned();
        Err(Trouble {
            message,
            hint: "read the document with `Workflow::from_file`, or write the prompt into it",
        })
    }
}

/// The folder of a document that is a file.
pub(super) struct Folder<'a>(pub(super) &'a Path);

impl PromptFiles for Folder<'_> {
    fn read(&self, name: &str) -> Result<String, Trouble> {
        self.open(name).map_err(|error| {
            let (reason, hint) = match error.kind() {
                io::ErrorKind::NotFound => {
                    ("there is no such file", "the path begins at the folder of the document")
                }
                io::ErrorKind::PermissionDenied => (
                    "it may not be read, or leads out of the folder of the document",
                    "move it into that folder, or below it",
                ),
                io::ErrorKind::FileTooLarge => ("it is larger than 1 MiB", "shorten it"),
                io::ErrorKind::InvalidData => ("it is no text in UTF-8", "save it as UTF-8"),
                _ => ("it is no file that can be read", "name a file with a text"),
            };
            Trouble { message: format!("cannot read `{}`: {reason}", shown(name)), hint }
        })
    }
}

impl Folder<'_> {
    fn open(&self, name: &str) -> io::Result<String> {
        let folder = Dir::open_ambient_dir(self.0, ambient_authority())?;
        // Opening a pipe would wait for somebody to write to it.
        if !folder.metadata(name)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        read_bounded(folder.open(name)?, MAX_BYTES)
    }
}

/// Reads a text that has to end within `limit` bytes.
pub(super) fn read_bounded(file: impl io::Read, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8"))
}
