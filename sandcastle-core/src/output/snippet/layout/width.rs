//! Decides what stands on one line.

use super::{Printer, limits};
use crate::output::snippet::model::{Kind, Node};

/// The longest part that is printed on one line although it has parts of its own.
const MAX_WIDTH: usize = 72;

impl<'d> Printer<'d, '_> {
    /// Says whether `node` is printed on several lines: it is long, or has comments inside.
    pub(super) fn breaks(&self, node: &'d Node) -> bool {
        self.room_after(node, MAX_WIDTH).is_none()
    }

    /// Returns what is left of `room` after `node`, if it fits. Looks at no more parts than there is room for.
    fn room_after(&self, node: &'d Node, room: usize) -> Option<usize> {
        let mut room = room;
        for limit in limits(node) {
            room = room.checked_sub(limit.len() + 2)?;
        }
        match &node.kind {
            Kind::Plain(text) => room.checked_sub(text.len()),
            Kind::Literal(text) => room.checked_sub(text.len()),
            Kind::Reference(number) => match self.target(node) {
                Some(target) => self.room_after(target, room.checked_sub(1)?),
                None => room.checked_sub(self.definitions[*number].name.len()),
            },
            Kind::Array(item) => self.room_after(item, room.checked_sub(2)?),
            Kind::Object(object) => {
                for field in &object.fields {
                    room = room.checked_sub(field.name.len() + 4)?;
                    room =
                        self.room_after(&field.node, room).filter(|_| self.field_notes(field).is_empty())?;
                }
                let parts = object.keyed.iter().flat_map(|entry| [&entry.key, &entry.value]);
                self.room_after_quiet(parts, room)
            }
            Kind::Tuple(tuple) => {
                self.room_after_quiet(tuple.items.iter().chain(tuple.rest.as_deref()), room)
            }
            Kind::Union(arms) => {
                if self.sole_arm(node).is_none() {
                    return self.room_after_quiet(self.arms(node), room);
                }
                arms.iter().try_fold(room, |room, arm| self.room_after(arm, room.checked_sub(3)?))
            }
            Kind::Intersection(parts) => {
                parts.iter().try_fold(room, |room, part| self.room_after(part, room.checked_sub(3)?))
            }
        }
    }

    /// As [`Printer::room_after`] for several parts that leave no comment.
    fn room_after_quiet(&self, parts: impl IntoIterator<Item = &'d Node>, room: usize) -> Option<usize> {
        parts.into_iter().try_fold(room, |room, part| {
            let room = room.checked_sub(3)?;
            self.room_after(part, room).filter(|_| !self.is_noted(part))
        })
    }
}
