//! A document in a file: the only thing of a workflow's making that reads files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::super::definition::Workflow;
use crate::error::{Error, ErrorKind, Result};

/// The most bytes of a document, and of a prompt in a file beside it.
const MAX_BYTES: u64 = 1024 * 1024;

impl Workflow {
    /// Reads a workflow from a YAML document in a file, and [checks](Self::check) it. Files that it names are looked for in the
    /// folder of the document; without a `name` of its own it is called after the file.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidWorkflow`] if the file cannot be read, or as [`from_yaml`](Self::from_yaml).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read(path).map_err(|error| {
            let what = format!("read the workflow `{}`: {error}", path.display());
            Error::new(ErrorKind::InvalidWorkflow, what)
        })?;
        Self::from_yaml(&text)
    }
}

/// Reads a text that is not too long.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is longer than {MAX_BYTES} bytes")));
    }
    Ok(text)
}
