//! Comments: which of them belong to the line that a part stands on.
//!
//! A part that has no line of its own, such as the item of an array, leaves its comment to the line it is on.

use super::{Notation, Printer};
use crate::output::snippet::model::{Field, Kind, Node, Presence};

impl<'d> Printer<'d, '_> {
    /// Returns the comments for the line that `node` begins on, each once.
    pub(super) fn notes(&self, node: &'d Node) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let mut add = |note: String| {
            if !notes.contains(&note) {
                notes.push(note);
            }
        };
        node.notes.iter().cloned().for_each(&mut add);
        match &node.kind {
            Kind::Reference(_) => {
                self.target(node).map(|target| self.notes(target)).into_iter().flatten().for_each(add);
            }
            Kind::Array(item) => {
                self.notes(item).into_iter().map(|note| format!("each: {note}")).for_each(add);
            }
            Kind::Intersection(parts) => parts.iter().flat_map(|part| self.notes(part)).for_each(add),
            Kind::Union(arms) if self.sole_arm(node).is_some() => {
                arms.iter().flat_map(|arm| self.notes(arm)).for_each(add);
            }
            Kind::Union(arms) => {
                arms.iter().filter(|arm| self.dissolves(arm)).flat_map(|arm| self.notes(arm)).for_each(add);
            }
            _ => {}
        }
        notes
    }

    /// Returns the comments for the line of a field.
    pub(super) fn field_notes(&self, field: &'d Field) -> Vec<String> {
        let mut notes = self.notes(&field.node);
        if self.notation == Notation::Example && field.presence == Presence::Optional {
            notes.insert(0, "optional".to_owned());
        }
        notes
    }

    /// Says whether [`Printer::notes`] returns any.
    pub(super) fn is_noted(&self, node: &'d Node) -> bool {
        !node.notes.is_empty()
            || match &node.kind {
                Kind::Reference(_) => self.target(node).is_some_and(|target| self.is_noted(target)),
                Kind::Array(item) => self.is_noted(item),
                Kind::Intersection(parts) => parts.iter().any(|part| self.is_noted(part)),
                Kind::Union(arms) => arms.iter().any(|arm| self.is_noted(arm)),
                _ => false,
            }
    }

    /// Returns the arms of a union, with those of unions inside it in their place.
    pub(super) fn arms(&self, union: &'d Node) -> Vec<&'d Node> {
        let mut arms = Vec::new();
        let mut left = vec![union];
        while let Some(node) = left.pop() {
            match &node.kind {
                Kind::Union(inner) if std::ptr::eq(node, union) || node.limits.is_empty() => {
                    left.extend(inner.iter().rev());
                }
                Kind::Reference(_) if self.dissolves(node) => left.extend(self.target(node)),
                _ => arms.push(node),
            }
        }
        arms
    }

    /// Returns the only arm that is not `null`.
    pub(super) fn sole_arm(&self, union: &'d Node) -> Option<&'d Node> {
        let mut arms = self.arms(union).into_iter().filter(|arm| !arm.is_null());
        arms.next().filter(|_| arms.next().is_none())
    }

    /// Says whether an arm is itself a union whose arms stand beside the others.
    fn dissolves(&self, arm: &'d Node) -> bool {
        arm.limits.is_empty()
            && match &arm.kind {
                Kind::Union(_) => true,
                _ => self.target(arm).is_some_and(|target| self.dissolves(target)),
            }
    }
}

/// Returns notes as one comment.
pub(super) fn comment(notes: &[String]) -> String {
    let mut comment = String::new();
    for note in notes {
        comment.push_str(match comment.chars().next_back() {
            None => "",
            Some('.' | '!' | '?') => " ",
            Some(_) => "; ",
        });
        comment.push_str(note);
    }
    comment
}
