//! A prompt that was read and checked: its pieces and its arguments.
//!
//! What an argument brings is data. In text it is text and is never looked at again. In a shell expression the place of
//! a placeholder holds a reference to a variable, quoted as its surroundings ask for, and the value travels beside the
//! command: `git log {{REV}}` is run as `git log "${SANDCASTLE_ARG_REV}"`. Nothing here runs anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::filled::{Expression, Filled, Piece};
use super::quoting::Quotes;
use super::syntax::{self, Command, CommandPart, Key, Part, Place};
use super::{Arguments, Branches, SOURCE_BRANCH, TARGET_BRANCH};
use crate::error::{Error, ErrorKind, Result};

/// What a value in a shell expression may have: an operating system hands on no argument of 128 KiB.
const VALUE_LIMIT: usize = 120 * 1024;

/// A prompt, with its arguments but without the branches, which are not known before there is a worktree.
#[derive(Clone, Debug)]
pub(crate) struct PromptTemplate {
    parts: Vec<Part>,
    arguments: Arguments,
    file: PathBuf,
}

impl PromptTemplate {
    /// Takes a text as it is.
    pub(super) fn literal(text: &str) -> Self {
        let parts = vec![Part::Text(text.to_owned())];
        Self { parts, arguments: Arguments::default(), file: PathBuf::new() }
    }

    /// Reads the text of a template file.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] when a placeholder is at a place of a shell expression where no value can be put safely,
    /// or a value is too long to be handed to a shell.
    pub(super) fn parse(text: &str, file: PathBuf, arguments: Arguments) -> Result<Self> {
        let template = Self { parts: syntax::parse(text), arguments, file };
        for part in template.commands().flat_map(|command| &command.parts) {
            match part {
                CommandPart::Misplaced(key, reason) => return Err(template.misplaced(key, reason)),
                CommandPart::Key(key, _) => template.check_length(key)?,
                CommandPart::Shell(_) => {}
            }
        }
        Ok(template)
    }

    /// Returns the keys without an argument, each once, in the order of the file.
    pub(crate) fn missing(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for key in self.missing_keys() {
            if !names.contains(&key.name.as_str()) {
                names.push(&key.name);
            }
        }
        names
    }

    /// Returns the arguments that the template does not mention, by name.
    pub(crate) fn unused(&self) -> Vec<&str> {
        let is_used = |name: &&str| self.keys().any(|key| key.name == **name);
        self.arguments.keys().map(String::as_str).filter(|name| !is_used(name)).collect()
    }

    /// Hands the template on if nothing is missing and it is not blank.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`] with the place of each placeholder that has no argument.
    pub(super) fn complete(self) -> Result<Self> {
        let missing: Vec<String> = self
            .missing_keys()
            .map(|key| format!("`{{{{{}}}}}` at {}", key.name, self.place(key.at)))
            .collect();
        if !missing.is_empty() {
            return Err(Error::new(
                ErrorKind::Prompt,
                format!("fill in the prompt: no argument for {}", missing.join(", ")),
            )
            .with_hint("give it with `prompt_arg`, or write `\\{{` for braces that are meant as text"));
        }
        if self.is_blank() {
            return Err(
                Error::new(ErrorKind::Prompt, "use a blank prompt").with_hint("say what the agent is to do")
            );
        }
        Ok(self)
    }

    /// Puts the arguments in their places.
    pub(crate) fn fill(&self, branches: &Branches<'_>) -> Filled {
        let value = |key: &Key| match key.name.as_str() {
            SOURCE_BRANCH => branches.source.as_str(),
            TARGET_BRANCH => branches.target.as_str(),
            name => self.arguments.get(name).map_or("", String::as_str),
        };
        let mut pieces = Vec::new();
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(known) => text.push_str(known),
                Part::Key(key) => text.push_str(value(key)),
                Part::Command(command) => {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Expression(self.expression(command, value)));
                }
            }
        }
        pieces.push(Piece::Text(text));
        Filled { pieces }
    }

    fn expression<'a>(&self, command: &'a Command, value: impl Fn(&'a Key) -> &'a str) -> Expression {
        let mut shell = String::new();
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        for part in &command.parts {
            match part {
                CommandPart::Shell(text) => shell.push_str(text),
                CommandPart::Key(key, quotes) => {
                    values.insert(&key.name, value(key));
                    shell.push_str(&reference(&key.name, *quotes));
                }
                // Refused when it was read.
                CommandPart::Misplaced(..) => {}
            }
        }
        let names: Vec<&str> = values.keys().copied().collect();
        let values = values.into_values().map(str::to_owned).collect();
        Expression::new(&command.source, self.place(command.at), prelude(&names) + &shell, values)
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(_) => Vec::new(),
            Part::Key(key) => vec![key],
            Part::Command(command) => command.keys().collect(),
        })
    }

    fn missing_keys(&self) -> impl Iterator<Item = &Key> {
        self.keys().filter(|key| {
            !matches!(key.name.as_str(), SOURCE_BRANCH | TARGET_BRANCH)
                && !self.arguments.contains_key(&key.name)
        })
    }

    fn commands(&self) -> impl Iterator<Item = &Command> {
        self.parts.iter().filter_map(|part| match part {
            Part::Command(command) => Some(command),
            Part::Text(_) | Part::Key(_) => None,
        })
    }

    /// Tells whether the prompt is blank whatever branches there are; what commands print is not known here.
    fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) => text.trim().is_empty(),
            Part::Key(key) => self.arguments.get(&key.name).is_some_and(|value| value.trim().is_empty()),
            Part::Command(_) => false,
        })
    }

    fn place(&self, at: Place) -> String {
        format!("{}:{}:{}", self.file.display(), at.line, at.column)
    }

    fn misplaced(&self, key: &Key, reason: &str) -> Error {
        let (name, place) = (&key.name, self.place(key.at));
        Error::new(
            ErrorKind::Prompt,
            format!("fill in the prompt: `{{{{{name}}}}}` at {place} is {reason}, where no value can be put safely"),
        )
        .with_hint("begin the expression with `value={{KEY}};` and use `$value` where the shell allows it")
        .with_hint("write `\\{{` for braces that are meant as text")
    }

    fn check_length(&self, key: &Key) -> Result<()> {
        let length = self.arguments.get(&key.name).map_or(0, String::len);
        if length <= VALUE_LIMIT {
            return Ok(());
        }
        let (name, place) = (&key.name, self.place(key.at));
        Err(Error::new(
            ErrorKind::Prompt,
            format!(
                "put the argument `{name}` into the expression at {place}: it has {length} bytes, and a shell takes no more than {VALUE_LIMIT}"
            ),
        )
        .with_hint("use it in the text of the template, where it may be as long as the prompt"))
    }
}

impl Command {
    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.parts.iter().filter_map(|part| match part {
            CommandPart::Key(key, _) | CommandPart::Misplaced(key, _) => Some(key),
            CommandPart::Shell(_) => None,
        })
    }
}

/// Refers to a value so that it is one word, or a part of one.
fn reference(name: &str, quotes: Quotes) -> String {
    match quotes {
        Quotes::None => format!("\"${{SANDCASTLE_ARG_{name}}}\""),
        Quotes::Double => format!("${{SANDCASTLE_ARG_{name}}}"),
        // The single quotes end before it and begin again behind it.
        Quotes::Single => format!("'\"${{SANDCASTLE_ARG_{name}}}\"'"),
    }
}

/// Names the values that the shell is given. They come as its arguments and not in its environment, so that programs
/// inside do not inherit them and no sandbox has to carry line feeds in variables.
fn prelude(names: &[&str]) -> String {
    let mut prelude = String::new();
    for (index, name) in names.iter().enumerate() {
        prelude.push_str(&format!("SANDCASTLE_ARG_{name}=${{{}}} ", index + 1));
    }
    if !names.is_empty() {
        prelude.push_str(&format!("; shift {}; ", names.len()));
    }
    prelude
}
