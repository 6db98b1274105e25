//! The prompt of a run: text given inline, or a template read from a file.
//!
//! An inline prompt is passed on as it is. A file is a template, and so is a text that is said to be one: `syntax` says what is written in it, `quoting` where a
//! value can be put into a command, and a [`PromptTemplate`] is one that was read once, checked, and can be filled with
//! the branches of each iteration. What comes out, [`Filled`], is text and commands; `run::expansion` runs those.

mod file;
mod filled;
mod quoting;
mod syntax;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use self::filled::{Expression, Filled, Piece};
pub(crate) use self::template::PromptTemplate;
use crate::error::{Error, ErrorKind, Result};
use crate::id::BranchName;

/// Stands for the branch that the agent works on.
const SOURCE_BRANCH: &str = "SOURCE_BRANCH";
/// Stands for the branch that its work is for.
const TARGET_BRANCH: &str = "TARGET_BRANCH";

/// Values by name.
type Arguments = BTreeMap<String, String>;

/// Says where a prompt comes from.
#[derive(Clone, Debug)]
pub(crate) enum PromptSource {
    /// The text itself, passed on as it is.
    Inline(String),
    /// A template file, relative to the folder of this process.
    File(PathBuf),
    /// A template that is in no file, and what it is called.
    Template { name: String, text: String },
}

/// The branches that a template can name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branches<'a> {
    /// The one that the agent works on.
    pub(crate) source: &'a BranchName,
    /// The one that its work is for.
    pub(crate) target: &'a BranchName,
}

impl PromptSource {
    /// Reads the prompt, once, and checks everything about it that can be told before a run.
    ///
    /// Of two arguments with one name the last counts.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] when the file cannot be read, an argument is missing or cannot be one, a placeholder is
    /// where no value can be put, or the prompt is blank.
    pub(crate) fn read(&self, arguments: &[(String, String)]) -> Result<PromptTemplate> {
        self.template(arguments)?.complete()
    }

    /// As [`PromptSource::read`], for somebody who can be asked for what [`PromptTemplate::missing`] names.
    pub(crate) fn template(&self, arguments: &[(String, String)]) -> Result<PromptTemplate> {
        match self {
            Self::Inline(text) if arguments.is_empty() => Ok(PromptTemplate::literal(text)),
            Self::Inline(_) => Err(Error::new(
                ErrorKind::Prompt,
                "use arguments with an inline prompt, which has no placeholders",
            )
            .with_hint("read the prompt from a file with `prompt_file`, or put the values into the text")),
            Self::File(path) => {
                let arguments = checked(arguments)?;
                PromptTemplate::parse(&file::read(path)?, path.clone(), arguments)
            }
            Self::Template { name, text } => {
                PromptTemplate::parse(text, PathBuf::from(name), checked(arguments)?)
            }
        }
    }
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

fn checked(arguments: &[(String, String)]) -> Result<Arguments> {
    for (name, value) in arguments {
        let shown = format!("{:.60}", name.escape_debug().to_string());
        let refused = |what: &str| Error::new(ErrorKind::Prompt, what.to_owned());
        if !syntax::is_key(name) {
            return Err(refused(&format!("use `{shown}` as the name of a prompt argument"))
                .with_hint("a name is a letter or `_`, then letters, digits and `_`"));
        }
        if matches!(name.as_str(), SOURCE_BRANCH | TARGET_BRANCH) {
            return Err(refused(&format!("use `{shown}` as the name of a prompt argument: it is built in"))
                .with_hint("`{{SOURCE_BRANCH}}` is the branch of the agent, `{{TARGET_BRANCH}}` the one its work is for"));
        }
        if value.contains('\0') {
            return Err(refused(&format!(
                "use the value of the prompt argument `{shown}`: it has a NUL character"
            ))
            .with_hint("neither a program nor a shell can be given one"));
        }
    }
    Ok(arguments.iter().cloned().collect())
}
