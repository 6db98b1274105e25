//! Prompts that have to go by the command line.
//!
//! Unattended turns get their prompt by standard input; only a terminal interface, whose input is the keyboard, is
//! given its first prompt as an argument.

use sandcastle_core::{Error, ErrorKind, Result};

/// The longest argument that Linux starts a program with, its end included.
pub(crate) const MAX_ARGUMENT: usize = 128 * 1024;

/// Returns the prompt as an argument, or `None` if there is none.
pub(crate) fn prompt_argument<'a>(agent: &str, prompt: &'a str) -> Result<Option<&'a str>> {
    let problem = if prompt.len() >= MAX_ARGUMENT {
        format!("it has {} bytes, and a program can be given less than {MAX_ARGUMENT}", prompt.len())
    } else if prompt.contains('\0') {
        "it contains a NUL character".to_owned()
    } else {
        return Ok(Some(prompt).filter(|prompt| !prompt.is_empty()));
    };
    Err(Error::new(ErrorKind::Prompt, format!("pass the prompt to `{agent}` as an argument: {problem}"))
        .with_hint("put the long part into a file and name the file in the prompt"))
}
