//! What is written in a template: text, placeholders and shell expressions.
//!
//! One pass from front to back, linear in the text. `{{KEY}}` is a placeholder, with or without white space inside the
//! braces. An exclamation mark and a command in single backticks is a shell expression; the command may hold
//! placeholders and line feeds and no backtick. A backslash before either makes text of it. Braces around anything that
//! is no key, as in program code, and marks without a command behind them stay as they are.

use super::quoting::{Quotes, Quoting};

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Key(Key),
    Command(Command),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) at: Place,
}

/// A shell expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// As it is written between the backticks.
    pub(super) source: String,
    pub(super) parts: Vec<CommandPart>,
    pub(super) at: Place,
}

/// A piece of a shell expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPart {
    Shell(String),
    Key(Key, Quotes),
    /// A placeholder where none can be, and the reason.
    Misplaced(Key, &'static str),
}

/// A place in a file; both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Reads a template.
pub(super) fn parse(template: &str) -> Vec<Part> {
    let mut scanner = Scanner::new(template);
    let mut parts = Vec::new();
    let mut text = String::new();
    while let Some(mark) = scanner.next_mark(&mut text) {
        let part = match mark {
            Mark::Braces => scanner.key().map(Part::Key),
            Mark::Backtick => scanner.command().map(Part::Command),
        };
        match part {
            Some(part) => {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(part);
            }
            None => text.push_str(scanner.take(1)),
        }
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// Tells whether a name can be a key: a letter or `_`, then letters, digits and `_`.
pub(super) fn is_key(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[derive(Clone, Copy)]
enum Mark {
    Braces,
    Backtick,
}

struct Scanner<'a> {
    rest: &'a str,
    at: Place,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, at: Place { line: 1, column: 1 } }
    }

    /// Moves to the next mark that no backslash makes text of; what is before it is added to `text`.
    fn next_mark(&mut self, text: &mut String) -> Option<Mark> {
        loop {
            let at = self.rest.find(['{', '!']).unwrap_or(self.rest.len());
            text.push_str(self.take(at));
            let mark = match self.rest.as_bytes() {
                [b'{', b'{', ..] => Mark::Braces,
                [b'!', b'`', ..] => Mark::Backtick,
                [] => return None,
                _ => {
                    text.push_str(self.take(1));
                    continue;
                }
            };
            if !text.ends_with('\\') {
                return Some(mark);
            }
            text.pop();
            text.push_str(self.take(2));
        }
    }

    /// Reads `{{ KEY }}`, if that is what is here.
    fn key(&mut self) -> Option<Key> {
        let blank = |c: char| c.is_whitespace() && c != '\n';
        let inside = self.rest.strip_prefix("{{")?.trim_start_matches(blank);
        let in_a_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &inside[..inside.find(|c| !in_a_key(c)).unwrap_or(inside.len())];
        let behind = inside[name.len()..].trim_start_matches(blank).strip_prefix("}}")?;
        if !is_key(name) {
            return None;
        }
        let key = Key { name: name.to_owned(), at: self.at };
        self.take(self.rest.len() - behind.len());
        Some(key)
    }

    /// Reads a shell expression, if there is one here.
    fn command(&mut self) -> Option<Command> {
        let (source, _) = self.rest.strip_prefix("!`")?.split_once('`')?;
        if source.trim().is_empty() {
            return None;
        }
        let at = self.at;
        self.take("!`".len());
        let mut inside = Scanner { rest: source, at: self.at };
        self.take(source.len() + "`".len());
        Some(Command { source: source.to_owned(), parts: inside.command_parts(), at })
    }

    fn command_parts(&mut self) -> Vec<CommandPart> {
        let mut parts = Vec::new();
        let mut quoting = Quoting::new();
        let mut shell = String::new();
        while let Some(mark) = self.next_mark(&mut shell) {
            let key = match mark {
                Mark::Braces => self.key(),
                // A command holds no backtick.
                Mark::Backtick => None,
            };
            let Some(key) = key else {
                shell.push_str(self.take(1));
                continue;
            };
            // A shell takes a carriage return for a part of the word before it.
            let before = std::mem::take(&mut shell).replace("\r\n", "\n");
            quoting.read(&before);
            parts.push(CommandPart::Shell(before));
            parts.push(match quoting.place() {
                Ok(quotes) => CommandPart::Key(key, quotes),
                Err(reason) => CommandPart::Misplaced(key, reason),
            });
        }
        parts.push(CommandPart::Shell(shell.replace("\r\n", "\n")));
        parts
    }

    fn take(&mut self, count: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        for c in taken.chars() {
            match c {
                '\n' => self.at = Place { line: self.at.line + 1, column: 1 },
                _ => self.at.column += 1,
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, line: usize, column: usize) -> Key {
        Key { name: name.to_owned(), at: Place { line, column } }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn keys_and_commands_have_their_places() {
        let parts = parse("a\n  é {{ONE}}!`git log {{ TWO }}\n'{{THREE}}'` {{FOUR}}");
        let [begin, one, Part::Command(command), space, four] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!(*begin, text("a\n  é "));
        assert_eq!(*one, Part::Key(key("ONE", 2, 5)));
        assert_eq!(command.at, Place { line: 2, column: 12 });
        assert_eq!(command.source, "git log {{ TWO }}\n'{{THREE}}'");
        let keys = &command.parts[..];
        assert_eq!(keys[1], CommandPart::Key(key("TWO", 2, 22), Quotes::None));
        assert_eq!(keys[3], CommandPart::Key(key("THREE", 3, 2), Quotes::Single));
        assert_eq!((space, four), (&text(" "), &Part::Key(key("FOUR", 3, 14))));
    }

    #[test]
    fn braces_and_marks_that_hold_nothing_stay() {
        for plain in [
            "{{ 1 }}",
            "{{}}",
            "{{a b}}",
            "{{x\n}}",
            "fn f() {{}}",
            "{{{",
            "{{é}}",
            "{{",
            "a{",
            "{{ .Names }}",
            "!",
            "a!",
            "!`",
            "!``",
            "!` `",
            "wow!`unclosed",
            "`code`",
            "!\n`x`",
        ] {
            assert_eq!(parse(plain), [text(plain)]);
        }
        assert_eq!(parse("{{{A}}}"), [text("{"), Part::Key(key("A", 1, 2)), text("}")]);
    }

    #[test]
    fn a_backslash_makes_text_of_a_mark() {
        assert_eq!(parse(r"\{{KEY}} and {{A}}"), [text("{{KEY}} and "), Part::Key(key("A", 1, 14))]);
        assert_eq!(parse(r"write \!`cmd {{A}}`")[0], text("write !`cmd "));
        let [Part::Command(command)] = &parse(r"!`docker ps --format '\{{json}}'`")[..] else { panic!() };
        assert_eq!(command.parts, [CommandPart::Shell("docker ps --format '{{json}}'".to_owned())]);
    }

    #[test]
    fn a_carriage_return_is_no_part_of_a_command() {
        let [Part::Command(command), end] = &parse("!`a {{K}}\r\nb\r\nc`\r\n")[..] else { panic!() };
        assert_eq!(command.parts[2], CommandPart::Shell("\nb\nc".to_owned()));
        assert_eq!(*end, text("\r\n"));
    }

    #[test]
    fn odd_templates_take_linear_time() {
        for odd in ["{", "!`", "{{ ", "{{a", "!` ", "\\{{", "!`{{A}}"] {
            let template = odd.repeat(1 << 20);
            let begun = std::time::Instant::now();
            assert!(!parse(&template).is_empty());
            assert!(begun.elapsed().as_secs() < 20, "{odd:?} took {:?}", begun.elapsed());
        }
    }
}
