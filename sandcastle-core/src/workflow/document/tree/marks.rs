//! Finds the bytes of a text in the document that it was read from.
//!
//! YAML folds lines, strips indentation and reads escapes. So the pieces of a scalar that are taken over as they stand (the lines of
//! it, and in quotes what is between two escapes) are searched for in the text one behind the other, each where it has to be.
//! Where that fails, the marks end, and what follows is found at the last one.

use saphyr_parser::{ScalarStyle, Span};

use crate::workflow::definition::Mark;
use crate::workflow::finding::Place;

/// The lines of a document.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    /// A column that was looked up, so that the next one in a long line is found from there.
    known: Known,
}

/// Where a column of a line is.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    line: usize,
    column: usize,
    byte: usize,
}

/// A part of a line that stands for a part of the text.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    /// Characters of the line before it.
    column: usize,
    written: Written<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Written<'a> {
    /// As it is in the text.
    Same(&'a str),
    /// As an escape of one character.
    Escaped,
    /// As a backslash at the end of a line, which joins it with the next.
    Joined,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut lines = Vec::new();
        let mut rest = text;
        while let Some(end) = rest.find(['\n', '\r']) {
            lines.push(&rest[..end]);
            let width = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
            rest = &rest[end + width..];
        }
        lines.push(rest);
        Self { lines, known: Known::default() }
    }

    /// Finds the first character that YAML does not allow.
    pub(super) fn unreadable_character(&self) -> Option<(Place, char)> {
        let refused = |c: char| c.is_control() && !matches!(c, '\t' | '\u{85}') || c == '\u{feff}';
        let mut lines = self.lines.iter().enumerate();
        lines.find_map(|(line, text)| {
            let (column, character) = text.chars().enumerate().find(|(_, c)| refused(*c))?;
            Some((super::parse::place(line + 1, column), character))
        })
    }

    /// Puts a place behind the end, where the parser says that something is missing, to the end.
    pub(super) fn within(&self, place: Place) -> Place {
        match self.lines.last() {
            Some(last) if place.line as usize > self.lines.len() => {
                super::parse::place(self.lines.len(), last.chars().count())
            }
            _ => place,
        }
    }

    /// Finds a tab in the indentation of a line or of the next one.
    pub(super) fn tab_near(&self, line: usize) -> Option<Place> {
        let near = self.lines.iter().enumerate().skip(line.saturating_sub(1)).take(2);
        near.filter_map(|(index, text)| {
            let indentation = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
            let column = indentation.find('\t')?;
            Some(super::parse::place(index + 1, column))
        })
        .next()
    }

    /// Finds the bytes of a scalar.
    pub(super) fn marks(&mut self, value: &str, style: ScalarStyle, span: Span) -> Vec<Mark> {
        let mut finder =
            Finder { value, at: 0, marks: Vec::new(), is_joined: false, end: value.trim_end().len() };
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        // The parser says where the content of a block begins, and not where it ends.
        let (first, last) = match is_block {
            true => (span.start.line(), self.lines.len()),
            false => (span.start.line(), span.end.line().min(self.lines.len())),
        };
        for number in first..=last {
            let (column, part) =
                if is_block { (0, self.lines[number - 1]) } else { self.part(number, style, span) };
            if finder.at >= finder.end || !finder.take_line(number, &pieces(part, column, style)) {
                break;
            }
        }
        if finder.marks.is_empty() {
            finder.mark(super::parse::place(span.start.line(), span.start.col()));
        }
        finder.marks
    }

    /// What is written of a scalar in one line, without its quotes, and the column where that begins.
    fn part(&mut self, number: usize, style: ScalarStyle, span: Span) -> (usize, &'a str) {
        let quote = usize::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
        let line = self.lines[number - 1];
        let column = if number == span.start.line() { span.start.col() + quote } else { 0 };
        let from = self.byte(number, column);
        let to = if number == span.end.line() {
            self.byte(number, span.end.col().saturating_sub(quote))
        } else {
            line.len()
        };
        (column, line.get(from..to).unwrap_or_default())
    }

    /// Finds the byte of a column. Scalars come one behind the other, so a line is walked through once.
    fn byte(&mut self, line: usize, column: usize) -> usize {
        let mut known = self.known;
        if known.line != line || known.column > column {
            known = Known { line, column: 0, byte: 0 };
        }
        let rest = &self.lines[line - 1][known.byte..];
        let passed = rest.chars().take(column - known.column).map(char::len_utf8).sum::<usize>();
        self.known = Known { line, column, byte: known.byte + passed };
        self.known.byte
    }
}

struct Finder<'v> {
    value: &'v str,
    at: usize,
    /// Where there is nothing but white space any more.
    end: usize,
    marks: Vec<Mark>,
    /// Whether the line before goes on in the next as if there were no end of a line.
    is_joined: bool,
}

impl Finder<'_> {
    /// Takes the pieces of one line; whether they were found.
    fn take_line(&mut self, number: usize, pieces: &[Piece<'_>]) -> bool {
        for (index, piece) in pieces.iter().enumerate() {
            if index == 0 {
                self.skip_fold(piece.written);
            }
            let rest = &self.value[self.at..];
            let length = match piece.written {
                Written::Same(text) if rest.starts_with(text) => text.len(),
                Written::Escaped => rest.chars().next().map_or(0, char::len_utf8),
                Written::Joined => {
                    self.is_joined = true;
                    continue;
                }
                Written::Same(_) => return false,
            };
            self.mark(super::parse::place(number, piece.column));
            self.at += length;
        }
        true
    }

    /// Passes what the end of the line before has become.
    fn skip_fold(&mut self, next: Written<'_>) {
        let rest = &self.value[self.at..];
        let folded = match next {
            Written::Same(text) if rest.starts_with(text) => rest,
            Written::Same(_) => rest.trim_start_matches([' ', '\t', '\n']),
            Written::Joined => rest,
            Written::Escaped if self.marks.is_empty() || self.is_joined => rest,
            Written::Escaped => rest.strip_prefix(' ').unwrap_or_else(|| rest.trim_start_matches('\n')),
        };
        self.at += rest.len() - folded.len();
        self.is_joined = false;
    }

    fn mark(&mut self, place: Place) {
        self.marks.push(Mark { offset: self.at, place });
    }
}

/// Cuts what is written of a scalar in one line into what stands in the text.
fn pieces(part: &str, column: usize, style: ScalarStyle) -> Vec<Piece<'_>> {
    let begin = part.trim_start_matches([' ', '\t']);
    let column = column + part.chars().count() - begin.chars().count();
    let text = begin.trim_end_matches([' ', '\t']);
    match style {
        ScalarStyle::SingleQuoted => quoted_pieces(text, column, "''"),
        ScalarStyle::DoubleQuoted => quoted_pieces(text, column, "\\"),
        ScalarStyle::Literal | ScalarStyle::Folded | ScalarStyle::Plain => {
            Vec::from_iter((!text.is_empty()).then_some(Piece { column, written: Written::Same(text) }))
        }
    }
}

/// Cuts a line of a quoted scalar at its escapes, which begin with `escape`.
fn quoted_pieces<'a>(text: &'a str, mut column: usize, escape: &str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(escape).unwrap_or(rest.len());
        let (same, escaped) = rest.split_at(end);
        if !same.is_empty() {
            pieces.push(Piece { column, written: Written::Same(same) });
        }
        let length = escape_length(escaped);
        let written = if length == 1 { Written::Joined } else { Written::Escaped };
        if length > 0 {
            pieces.push(Piece { column: column + same.chars().count(), written });
        }
        let (passed, behind) = rest.split_at(end + length);
        column += passed.chars().count();
        rest = behind;
    }
    pieces
}

/// How many bytes belong to the escape at the beginning.
fn escape_length(text: &str) -> usize {
    let digits = match text.as_bytes().get(1) {
        Some(b'x') => 2,
        Some(b'u') => 4,
        Some(b'U') => 8,
        _ => 0,
    };
    let first: usize = text.chars().take(2).map(char::len_utf8).sum();
    let hexadecimal = |text: &str| text.bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
    first + if text.starts_with('\\') { hexadecimal(&text[first..]) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::super::parse::parse;
    use crate::workflow::document::report::Report;

    /// Reads the value of `t` in a document, and tells for each `§` in it whether it is found where it is written.
    #[track_caller]
    fn assert_found(document: &str) {
        let mut report = Report::default();
        let tree = parse(document, &mut report).unwrap_or_else(|| panic!("{report:?}"));
        let Content::Text(text) = &tree.get("t").unwrap().content else { panic!("no text: {document}") };
        let written: Vec<_> = document
            .lines()
            .enumerate()
            .flat_map(|(line, text)| {
                let columns = text.chars().enumerate().filter(|(_, c)| *c == '§');
                columns.map(move |(column, _)| (line as u32 + 1, column as u32 + 1))
            })
            .collect();
        let found: Vec<_> = text
            .source
            .match_indices('§')
            .map(|(at, _)| text.place(at).unwrap())
            .map(|place| (place.line, place.column))
            .collect();
        assert_eq!(found, written, "{document}\n{text:?}");
    }

    #[test]
    fn every_byte_of_a_scalar_is_found() {
        for document in [
            "t: a §b §",
            "a: 1\nt: é §b\n   §c\n\n   d §e",
            "t: '§a''§b'",
            "t: \"§a\\n§b \\u00e9§ \\\"§\\\\§\"",
            "t: \"§a\n  §b\n\n  §c \\\n  \\ §d\"",
            "t: '§a\n  §b\n\n  §c'",
            "t: |\n  §a\n  b §\n\n    §c\n  d§\n",
            "t: |2-\n    §a\n  §b\n",
            "t: >\n  §a\n  b §\n\n  §c\n    §d\n  e§\n",
            "t: >-\n  日本 §\n  🦀🦀 §b",
            "{u: '', t: \"§ \\x41§\", v: 🦀}",
            "t: |\r\n  §a\r\n  b §\r\n",
            "u: é\nt:   §",
        ] {
            assert_found(document);
        }
    }
}
