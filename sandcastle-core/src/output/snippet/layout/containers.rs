//! Prints what has parts: objects, arrays, tuples, unions and intersections.

use super::notes::comment;
use super::{Around, Notation, Printer};
use crate::output::snippet::model::{Field, Keyed, Node, Object, Presence, Tuple};

/// Whether the parts of a container share a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    One,
    Many,
}

impl<'d> Printer<'d, '_> {
    fn lines(&self, node: &'d Node) -> Lines {
        if self.breaks(node) { Lines::Many } else { Lines::One }
    }

    pub(super) fn object(&mut self, node: &'d Node, object: &'d Object) {
        let lines = self.lines(node);
        let parts = object.fields.len() + object.keyed.len();
        if parts == 0 {
            self.out.push_str("{}");
            return;
        }
        self.open("{", lines, " ");
        for (index, field) in object.fields.iter().enumerate() {
            self.field(field);
            self.next(index + 1 < parts, lines);
        }
        for (index, entry) in object.keyed.iter().enumerate() {
            self.entry(entry);
            self.next(object.fields.len() + index + 1 < parts, lines);
        }
        self.close("}", lines, " ");
    }

    fn field(&mut self, field: &'d Field) {
        self.comment.push_str(&comment(&self.field_notes(field)));
        let key = match self.notation {
            Notation::Type => self.quote.key(&field.name),
            Notation::Example => self.quote.string(&field.name),
        };
        let optional = field.presence == Presence::Optional && self.notation == Notation::Type;
        self.push(&[&key, if optional { "?: " } else { ": " }]);
        self.node(&field.node, Around::Field);
    }

    fn entry(&mut self, entry: &'d Keyed) {
        let mut notes = self.notes(&entry.key);
        notes.extend(self.notes(&entry.value));
        self.comment.push_str(&comment(&notes));
        match self.notation {
            Notation::Type => {
                self.out.push_str("[key: ");
                self.node(&entry.key, Around::Field);
                self.out.push_str("]: ");
            }
            Notation::Example => {
                self.node(&entry.key, Around::Field);
                self.out.push_str(": ");
            }
        }
        self.node(&entry.value, Around::Field);
        if self.notation == Notation::Example {
            self.out.push_str(", ...");
        }
    }

    pub(super) fn array(&mut self, item: &'d Node) {
        match self.notation {
            Notation::Type => {
                self.node(item, Around::Suffix);
                self.out.push_str("[]");
            }
            Notation::Example => {
                self.out.push('[');
                self.node(item, Around::Suffix);
                self.out.push_str(", ...]");
            }
        }
    }

    pub(super) fn tuple(&mut self, node: &'d Node, tuple: &'d Tuple) {
        let lines = self.lines(node);
        self.open("[", lines, "");
        for (index, item) in tuple.items.iter().enumerate() {
            self.comment.push_str(&self.line_notes(item, lines));
            let optional = index >= tuple.required;
            self.node(item, if optional { Around::Suffix } else { Around::Field });
            self.out.push_str(if optional { "?" } else { "" });
            let more = index + 1 < tuple.items.len() || tuple.rest.is_some();
            if more && lines == Lines::Many && self.notation == Notation::Type {
                self.out.push(',');
            }
            self.next(more, lines);
        }
        if let Some(rest) = &tuple.rest {
            self.comment.push_str(&self.line_notes(rest, lines));
            self.out.push_str("...");
            self.node(rest, Around::Suffix);
            self.out.push_str("[]");
        }
        self.close("]", lines, "");
    }

    pub(super) fn union(&mut self, node: &'d Node, around: Around) {
        let parentheses = around > Around::Union;
        self.out.push_str(if parentheses { "(" } else { "" });
        match self.lines(node) {
            _ if self.sole_arm(node).is_some() => self.arms_in_a_row(node),
            Lines::One => self.arms_in_a_row(node),
            Lines::Many => {
                self.indent += 1;
                for arm in self.arms(node) {
                    self.line();
                    self.comment.push_str(&comment(&self.notes(arm)));
                    self.out.push_str("| ");
                    self.node(arm, Around::Union);
                }
                self.indent -= 1;
                if parentheses {
                    self.line();
                }
            }
        }
        self.out.push_str(if parentheses { ")" } else { "" });
    }

    fn arms_in_a_row(&mut self, node: &'d Node) {
        for (index, arm) in self.arms(node).into_iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { " | " });
            self.node(arm, Around::Union);
        }
    }

    pub(super) fn intersection(&mut self, parts: &'d [Node], around: Around) {
        let parentheses = around > Around::Intersection;
        self.out.push_str(if parentheses { "(" } else { "" });
        for (index, part) in parts.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { " & " });
            self.node(part, Around::Intersection);
        }
        self.out.push_str(if parentheses { ")" } else { "" });
    }

    /// Returns the comment of a part that has a line of its own.
    fn line_notes(&self, node: &'d Node, lines: Lines) -> String {
        if lines == Lines::Many { comment(&self.notes(node)) } else { String::new() }
    }

    fn open(&mut self, bracket: &str, lines: Lines, gap: &str) {
        self.out.push_str(bracket);
        self.indent += 1;
        match lines {
            Lines::One => self.out.push_str(gap),
            Lines::Many => self.line(),
        }
    }

    /// Goes on to the next part. A type needs no comma at the end of a line.
    fn next(&mut self, more: bool, lines: Lines) {
        if more && (lines == Lines::One || self.notation == Notation::Example) {
            self.out.push(',');
        }
        match lines {
            Lines::One if more => self.out.push(' '),
            Lines::Many if more => self.line(),
            _ => {}
        }
    }

    fn close(&mut self, bracket: &str, lines: Lines, gap: &str) {
        self.indent -= 1;
        match lines {
            Lines::One => self.out.push_str(gap),
            Lines::Many => self.line(),
        }
        self.out.push_str(bracket);
    }
}
