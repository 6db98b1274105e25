//! A prompt with its arguments in place, and its shell expressions still to be run.

/// The pieces of a prompt, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text; nothing in it is looked at again.
    Text(String),
    /// What a command prints.
    Expression(Expression),
}

/// A command whose output is a piece of a prompt.
///
/// Values are not part of the command: they are handed to the shell beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression {
    /// As it is written in the template, for people.
    pub(crate) source: String,
    /// Where it is written: file, line and column.
    pub(crate) place: String,
    command: String,
    values: Vec<String>,
}

impl Expression {
    /// Joins a command with the values that it knows as `$1`, `$2` and so on.
    pub(super) fn new(source: &str, place: String, command: String, values: Vec<String>) -> Self {
        Self { source: source.to_owned(), place, command, values }
    }

    /// Returns the arguments of the `sh` that runs it.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let mut arguments = vec!["-c", self.command.as_str()];
        if !self.values.is_empty() {
            arguments.push("sh");
            arguments.extend(self.values.iter().map(String::as_str));
        }
        arguments
    }
}

impl Filled {
    /// Tells whether there is anything to run.
    pub(crate) fn has_expressions(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Expression(_)))
    }

    /// Returns the text as far as it is known before anything was run: expressions are as they are written.
    ///
    /// Without expressions it is the prompt.
    pub(crate) fn for_checks(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(known) => text.push_str(known),
                Piece::Expression(expression) => {
                    text.push_str("!`");
                    text.push_str(&expression.source);
                    text.push('`');
                }
            }
        }
        text
    }
}
