//! The prompt of a run: text given inline, or a template read from a file.
//!
//! An inline prompt is passed on as it is. A file is a template whose placeholders are filled with the arguments.

mod template;

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// Says where a prompt comes from.
#[derive(Clone, Debug)]
pub(crate) enum PromptSource {
    /// The text itself, passed on as it is.
    Inline(String),
    /// A template file, relative to the folder of this process.
    File(PathBuf),
}

/// A prompt that is ready to be said.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    /// Arguments that the template does not mention.
    pub(crate) unused: Vec<String>,
}

/// Returns the slash command that a prompt begins with, such as `/review`; a path is none.
///
/// Agents know such commands at their terminal and take them for plain text where the prompt is piped in.
pub(crate) fn slash_command(prompt: &str) -> Option<&str> {
    let word = prompt.split_whitespace().next()?;
    let name = word.strip_prefix('/')?;
    let in_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(in_a_name)).then_some(word)
}

impl PromptSource {
    /// Reads the prompt and fills in the arguments.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] when the file cannot be read or is not UTF-8, when an argument is missing or cannot be one,
    /// and when the prompt is blank.
    pub(crate) fn resolve(&self, arguments: &[(String, String)]) -> Result<Prompt> {
        let prompt = match self {
            Self::Inline(text) if arguments.is_empty() => Prompt { text: text.clone(), unused: Vec::new() },
            Self::Inline(_) => {
                return Err(Error::new(
                    ErrorKind::Prompt,
                    "use arguments with an inline prompt, which has no placeholders",
                )
                .with_hint(
                    "read the prompt from a file with `prompt_file`, or put the values into the text",
                ));
            }
            Self::File(path) => filled(path, arguments)?,
        };
        if prompt.text.trim().is_empty() {
            return Err(
                Error::new(ErrorKind::Prompt, "use a blank prompt").with_hint("say what the agent is to do")
            );
        }
        Ok(prompt)
    }
}

fn filled(path: &Path, arguments: &[(String, String)]) -> Result<Prompt> {
    if let Some((key, _)) = arguments.iter().find(|(key, _)| !template::is_key(key)) {
        return Err(Error::new(
            ErrorKind::Prompt,
            format!("use `{:.60}` as the name of a prompt argument", key.escape_debug().to_string()),
        )
        .with_hint("a name is a letter or `_`, then letters, digits and `_`"));
    }
    match template::fill(&read(path)?, arguments) {
        Ok(filled) => Ok(Prompt { text: filled.text, unused: filled.unused }),
        Err(unfilled) => {
            let places: Vec<String> = unfilled
                .iter()
                .map(|place| {
                    format!("`{{{{{}}}}}` at {}:{}:{}", place.key, path.display(), place.line, place.column)
                })
                .collect();
            Err(Error::new(
                ErrorKind::Prompt,
                format!("fill in the prompt: no argument for {}", places.join(", ")),
            )
            .with_hint("give it with `prompt_arg`, or write `\\{{` for braces that are meant as text"))
        }
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
