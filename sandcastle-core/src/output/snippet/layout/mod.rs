//! Prints the shape of a value, as a type or as an example.
//!
//! What fits on a line and has no comments inside stands on one line; everything else has a line per field or arm, with
//! its comment at the end. Indentation is one blank a level, because two cost a token more on every line.

mod containers;
mod notes;
mod width;

use self::notes::comment;
use super::limits::NO_OTHER_KEYS;
use super::model::{Definition, Kind, Node, Others, Place};
use super::quote::Quote;

/// Says how the parts of a shape are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `score: integer(>=0)`
    Type,
    /// `"score": <integer, >=0>,`
    Example,
}

/// Says what stands around a type, and so whether it needs parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Around {
    /// Nothing.
    Field,
    /// `|`
    Union,
    /// `&`
    Intersection,
    /// `[]` or limits.
    Suffix,
}

/// Returns the text of the first definition, followed by the ones that have names.
pub(super) fn print(definitions: &[Definition], notation: Notation, quote: Quote<'_>) -> String {
    let mut printer =
        Printer { definitions, notation, quote, out: String::new(), comment: String::new(), indent: 0 };
    for (number, definition) in definitions.iter().enumerate() {
        if number > 0 && definition.place == Place::Inline {
            continue;
        }
        printer.definition(definition);
    }
    quote.prose(&printer.out)
}

#[derive(Debug)]
struct Printer<'d, 'q> {
    definitions: &'d [Definition],
    notation: Notation,
    quote: Quote<'q>,
    out: String,
    /// What is written at the end of the line.
    comment: String,
    indent: usize,
}

impl<'d> Printer<'d, '_> {
    fn definition(&mut self, definition: &'d Definition) {
        self.line();
        if definition.place == Place::Named {
            self.out.push_str(if self.notation == Notation::Type { "type " } else { "" });
            self.out.push_str(&definition.name);
            self.out.push_str(" = ");
        }
        self.comment = comment(&self.notes(&definition.node));
        self.node(&definition.node, Around::Field);
        self.end_line();
    }

    /// Writes one part with its limits.
    fn node(&mut self, node: &'d Node, around: Around) {
        let limits = limits(node).collect::<Vec<_>>().join(", ");
        match &node.kind {
            Kind::Plain(name) if self.notation == Notation::Example && *name != "null" => {
                let comma = if limits.is_empty() { "" } else { ", " };
                self.push(&["<", name, comma, &limits, ">"]);
            }
            _ if limits.is_empty() => self.bare(node, around),
            _ if around == Around::Field && self.is_compound(node) => {
                self.bare(node, around);
                self.push(&[" (", &limits, ")"]);
            }
            _ => {
                self.bare(node, Around::Suffix);
                self.push(&["(", &limits, ")"]);
            }
        }
    }

    fn bare(&mut self, node: &'d Node, around: Around) {
        match &node.kind {
            Kind::Plain(text) => self.out.push_str(text),
            Kind::Literal(text) => self.out.push_str(text),
            Kind::Reference(number) => match (&self.definitions[*number], self.notation) {
                (Definition { place: Place::Inline, node, .. }, _) => self.node(node, around),
                (named, Notation::Type) => self.out.push_str(&named.name),
                (named, Notation::Example) => self.push(&["<", &named.name, ">"]),
            },
            Kind::Object(object) => self.object(node, object),
            Kind::Array(item) => self.array(item),
            Kind::Tuple(tuple) => self.tuple(node, tuple),
            Kind::Union(_) => self.union(node, around),
            Kind::Intersection(parts) => self.intersection(parts, around),
        }
    }

    /// Says whether limits right behind `node` would seem to belong to its last part.
    fn is_compound(&self, node: &Node) -> bool {
        match &node.kind {
            Kind::Union(_) | Kind::Intersection(_) => true,
            Kind::Reference(number) => match &self.definitions[*number] {
                Definition { place: Place::Inline, node, .. } => self.is_compound(node),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the definition that is printed in place of `node`, if there is one.
    fn target(&self, node: &'d Node) -> Option<&'d Node> {
        match &node.kind {
            Kind::Reference(number) => match &self.definitions[*number] {
                Definition { place: Place::Inline, node, .. } => Some(node),
                _ => None,
            },
            _ => None,
        }
    }

    fn push(&mut self, pieces: &[&str]) {
        self.out.extend(pieces.iter().copied());
    }

    /// Begins a line, after the comment of the last one.
    fn line(&mut self) {
        self.end_line();
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        if !self.comment.is_empty() {
            let gap = if self.out.is_empty() || self.out.ends_with('\n') { "" } else { " " };
            let comment = std::mem::take(&mut self.comment);
            self.push(&[gap, "// ", &comment]);
        }
    }
}

/// Returns everything that stands in the parentheses behind a part.
fn limits(node: &Node) -> impl Iterator<Item = &str> {
    let closed = matches!(&node.kind, Kind::Object(object) if object.others == Others::Refused);
    node.limits.iter().map(String::as_str).chain(closed.then_some(NO_OTHER_KEYS))
}
