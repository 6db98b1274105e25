//! The prompt of a run: text given inline, or read from a file.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// Says where a prompt comes from.
#[derive(Clone, Debug)]
pub(crate) enum PromptSource {
    /// The text itself, passed on as it is.
    Inline(String),
    /// A file, relative to the folder of this process.
    File(PathBuf),
}

impl PromptSource {
    /// Reads the prompt.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] when the file cannot be read or is not UTF-8, or when the prompt is blank.
    pub(crate) fn resolve(&self) -> Result<String> {
        let text = match self {
            Self::Inline(text) => text.clone(),
            Self::File(path) => read(path)?,
        };
        if text.trim().is_empty() {
            return Err(
                Error::new(ErrorKind::Prompt, "use a blank prompt").with_hint("say what the agent is to do")
            );
        }
        Ok(text)
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::new(ErrorKind::Prompt, format!("read the prompt file `{}`", path.display()))
            .with_source(error)
            .with_hint("a relative path is looked up in the folder of this process, not in the run's `cwd`")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(
            ErrorKind::Prompt,
            format!("read the prompt file `{}`: byte {at} is not UTF-8", path.display()),
        )
    })
}
