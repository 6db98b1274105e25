//! The way through a schema: references are followed or kept, demands that hold together become one, and definitions that
//! the copy refers to are copied after it.
//!
//! Everything that is read costs something, and there is a limit to what may be spent; so a schema that unfolds without
//! end is refused, whatever it is made of. `union` and `write` go on from here.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::definitions::Definitions;
use super::merge::merge;
use super::node::{Node, Word, Words};
use super::report::Report;
use super::rules::{AllOf, Beside, Clash, Recursion, References, Rules};
use super::wire::{Part, Wire};
use crate::output::pointer;

/// How deep a schema may be, counted in schemas.
const MAX_DEPTH: usize = 100;
/// How many references may be followed on the way to one schema.
const MAX_WAY: usize = 1000;
/// How many bytes of schemas may be read, about, with everything that is read again.
const MAX_SPENT: usize = 4 << 20;

/// Goes through one schema.
#[derive(Debug)]
pub(super) struct Walker<'s> {
    pub(super) root: &'s Value,
    pub(super) rules: &'static Rules,
    pub(super) report: Report,
    pub(super) definitions: Definitions,
    /// Pointers to what is being unfolded.
    way: Vec<String>,
    depth: usize,
    spent: usize,
    /// How many properties on the way here may be left out.
    pub(super) optional: usize,
    /// Whether the next schema is only a part of one, which names the type.
    pub(super) partial: bool,
}

/// What a reference led to.
enum Followed<'s> {
    /// It stays a reference.
    Kept(Wire),
    /// What is referred to is read in its place.
    Into(Words<'s>),
    /// It says nothing more than what is known, or was refused.
    Nowhere,
}

impl<'s> Walker<'s> {
    pub(super) fn new(root: &'s Value, rules: &'static Rules) -> Self {
        Self {
            root,
            rules,
            report: Report::default(),
            definitions: Definitions::new(rules.names, root),
            way: vec![String::new()],
            depth: 0,
            spent: 0,
            optional: 0,
            partial: false,
        }
    }

    /// Copies the schema and what it refers to.
    pub(super) fn copy(mut self) -> (Wire, Report) {
        let circles = self.circles();
        let mut wire = self.node(&Node::raw("", self.root));
        self.refuse_root(&wire);
        let mut reports = vec![circles, std::mem::take(&mut self.report)];
        let mut copied = HashMap::new();
        while let Some(pointer) = self.definitions.next() {
            let Some(schema) = self.root.pointer(&pointer) else { continue };
            self.way.truncate(1);
            self.way.push(pointer.clone());
            let copy = self.node(&Node::raw(pointer.clone(), schema));
            copied.insert(pointer, (copy, std::mem::take(&mut self.report)));
        }
        let root = self.definitions.name("");
        let mut named = if root.is_empty() { Vec::new() } else { vec![(root, wire.clone())] };
        for pointer in self.declared(copied.keys()) {
            if let Some((copy, report)) = copied.remove(&pointer) {
                named.push((self.definitions.name(&pointer), copy));
                reports.push(report);
            }
        }
        if !named.is_empty() {
            wire.push("$defs", Part::Named(named));
        }
        let mut circular = Report::default();
        for at in self.definitions.circles(self.rules.recursion) {
            circular.refuse(&at, "$ref", self.rules.recursion.refusal());
        }
        reports.push(circular);
        (wire, Report::joined(reports))
    }

    /// Refuses what is not plainly an object: every wire gives one.
    fn refuse_root(&mut self, wire: &Wire) {
        if self.report.refused.iter().any(|refusal| refusal.pointer.is_empty()) {
            return;
        }
        if !wire.alternatives().is_empty() {
            let written = |key: &&str| self.root.get(key).is_some();
            let key = ["anyOf", "oneOf", "$ref", "allOf"].into_iter().find(written).unwrap_or("anyOf");
            self.report.refuse("", key, "gives alternatives where every wire needs one object");
        } else if !wire.types().is_some_and(|types| types.is_only("object")) {
            self.report.refuse("", "type", "is not `object`, which every wire needs");
        }
    }

    /// Sorts definitions as they stand in the original; those that stand elsewhere follow.
    fn declared<'p>(&self, pointers: impl Iterator<Item = &'p String>) -> Vec<String> {
        let mut ranks = HashMap::new();
        for key in ["$defs", "definitions"] {
            for name in
                self.root.get(key).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name)
            {
                let rank = ranks.len();
                ranks.insert(pointer::join(&format!("/{key}"), name), rank);
            }
        }
        let mut sorted: Vec<_> = pointers.cloned().collect();
        sorted.sort_by_cached_key(|pointer| {
            (ranks.get(pointer).copied().unwrap_or(usize::MAX), pointer.clone())
        });
        sorted
    }

    /// Copies a schema.
    pub(super) fn node(&mut self, node: &Node<'s>) -> Wire {
        if self.depth == MAX_DEPTH {
            self.report.refuse(&node.at, "depth", format!("is more than {MAX_DEPTH} schemas deep"));
            return Wire::default();
        }
        if !self.spend(node.weight()) {
            return Wire::default();
        }
        self.depth += 1;
        let words = node.read(&mut self.report);
        let passed = self.way.len();
        let wire = self.settled(&node.at, words, passed);
        self.way.truncate(passed);
        self.depth -= 1;
        wire
    }

    /// Tells whether this is the schema of the whole value.
    pub(super) fn is_root(&self) -> bool {
        self.depth == 1 && self.definitions.is_at_root()
    }

    /// Takes note of what is read, and tells whether that was not too much.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        if self.spent > MAX_SPENT {
            return false;
        }
        self.spent += bytes;
        if self.spent > MAX_SPENT {
            self.report.refuse(
                "",
                "size",
                format!("is more than {MAX_SPENT} bytes once references are followed"),
            );
        }
        self.spent <= MAX_SPENT
    }

    /// Resolves references and what holds together; then goes on with alternatives.
    fn settled(&mut self, at: &str, mut words: Words<'s>, passed: usize) -> Wire {
        let written = words.has_any(&["$ref", "allOf"]).then(|| words.clone());
        let mut apart = Vec::new();
        loop {
            if !self.spend(words.weight()) {
                return Wire::default();
            }
            if words.has("$ref") {
                match self.follow(at, &mut words, passed) {
                    Followed::Kept(wire) => return wire,
                    Followed::Nowhere => {}
                    Followed::Into(target) => match merge(words.clone(), target) {
                        Ok(both) => words = both,
                        Err(keyword) => self.report.refuse(at, "$ref", clash(keyword)),
                    },
                }
            } else if self.merges(&words)
                && let Some(parts) = words.take_list("allOf")
            {
                words = self.conjoined(at, words, parts, &mut apart);
            } else {
                break;
            }
        }
        if !apart.is_empty() {
            words.set("allOf", Word::List(apart));
        }
        if let Some(written) = written {
            self.in_declared_order(written, &mut words);
        }
        self.united(at, words)
    }

    /// Tells whether the parts of an `allOf` become one.
    fn merges(&mut self, words: &Words<'s>) -> bool {
        let Some(Word::List(parts)) = words.get("allOf") else { return false };
        match self.rules.all_of {
            AllOf::Merged => true,
            AllOf::Kept => self.is_root(),
            AllOf::Simple => self.is_root() || !parts.iter().all(is_simple),
        }
    }

    fn conjoined(
        &mut self,
        at: &str,
        mut words: Words<'s>,
        parts: Vec<Node<'s>>,
        apart: &mut Vec<Node<'s>>,
    ) -> Words<'s> {
        for part in parts {
            if !self.spend(words.weight() + part.weight()) {
                break;
            }
            match merge(words.clone(), part.read(&mut self.report)) {
                Ok(both) => words = both,
                Err(keyword) if self.may_be_said(keyword, &part) => apart.push(part),
                Err(keyword) => self.report.refuse(at, "allOf", clash(keyword)),
            }
        }
        words
    }

    /// Tells whether a part that does not go with the others because of a keyword may move into the description.
    fn may_be_said(&self, keyword: &str, part: &Node<'_>) -> bool {
        let rules = self.rules;
        let is_simple = rules.all_of == AllOf::Merged || is_simple(part);
        (rules.clash == Clash::Said && !self.is_root()) || (rules.only_says(keyword) && is_simple)
    }

    /// Follows a reference, or keeps it.
    fn follow(&mut self, at: &str, words: &mut Words<'s>, passed: usize) -> Followed<'s> {
        let reference = words.take_text("$ref").unwrap_or_default();
        let (pointer, target) = match self.resolve(&reference) {
            Ok(found) => found,
            Err(reason) => {
                self.report.refuse(at, "$ref", reason);
                return Followed::Nowhere;
            }
        };
        if self.way[passed..].contains(&pointer) {
            return Followed::Nowhere;
        }
        if self.is_ignored_beside_references() {
            words.retain(|key| key == "title" || key == "description");
        }
        let again = self.way.contains(&pointer);
        if self.may_stay(words, again) {
            return Followed::Kept(self.reference(at, &pointer, words));
        }
        let refusal = match again {
            true => Some(self.rules.recursion.refusal().to_owned()),
            false if self.way.len() > MAX_WAY => {
                Some(format!("leads through more than {MAX_WAY} references"))
            }
            false => None,
        };
        if let Some(reason) = refusal {
            self.report.refuse(at, "$ref", reason);
            return Followed::Nowhere;
        }
        self.way.push(pointer.clone());
        let target = Node::raw(pointer, target);
        if !self.spend(target.weight()) {
            return Followed::Nowhere;
        }
        Followed::Into(target.read(&mut self.report))
    }

    /// Tells whether a reference may stay one, with these words beside it. One that is come to `again` must, where that is
    /// possible.
    fn may_stay(&self, words: &Words<'s>, again: bool) -> bool {
        let alone = !words.demand() && !words.has_any(&["allOf", "anyOf", "oneOf"]);
        let bare = words.iter().next().is_none();
        let stays = self.rules.references == References::Kept
            && (bare || self.rules.beside_reference != Beside::Inlined);
        alone && !self.is_root() && (stays || (again && self.rules.recursion == Recursion::Allowed))
    }

    /// Writes a reference, with what describes it.
    fn reference(&mut self, at: &str, pointer: &str, notes: &Words<'s>) -> Wire {
        self.definitions.note(pointer, at, self.optional > 0);
        // Who wants things in their place resolves a pointer, but not one to the whole.
        let is_whole = pointer.is_empty() && self.rules.references == References::Kept;
        let reference = match is_whole {
            true => "#".to_owned(),
            false => format!("#/$defs/{}", self.definitions.refer(pointer)),
        };
        let mut wire = self.written(at, notes);
        let reference = Part::Data(reference.into());
        if self.rules.beside_reference == Beside::Wrapped && !wire.is_empty() {
            wire.push("anyOf", Part::List(vec![Wire::new("$ref", reference)]));
        } else {
            wire.push("$ref", reference);
        }
        wire
    }

    /// Finds what a reference leads to, or says why it leads nowhere.
    pub(super) fn resolve(&self, reference: &str) -> Result<(String, &'s Value), String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!("leads out of the schema, to `{reference}`"));
        };
        let pointer = percent_decode_str(fragment).decode_utf8_lossy().into_owned();
        match self.root.pointer(&pointer) {
            Some(target) => Ok((pointer, target)),
            None => Err(format!("leads nowhere: there is no `{reference}`")),
        }
    }

    /// Tells whether the schema is of a draft in which a reference stands alone, whatever is beside it.
    pub(super) fn is_ignored_beside_references(&self) -> bool {
        let draft = self.root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        ["draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old))
    }
}

/// Tells whether a part of an `allOf` is about neither objects nor other schemas.
fn is_simple(part: &Node<'_>) -> bool {
    let words = part.read(&mut Report::default());
    let of_objects = words.types().is_some_and(|types| types.has("object"))
        || words.has_any(&["properties", "required", "additionalProperties"]);
    !of_objects && !words.has_any(&["$ref", "allOf", "anyOf", "oneOf"])
}

fn clash(keyword: &str) -> String {
    format!("demands more of one value than one schema can say: two of `{keyword}` do not become one")
}
