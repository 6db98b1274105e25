//! One schema as it goes over the wire: keyword by keyword, with what cannot go in its description.

use std::collections::HashSet;

use serde_json::Value;

use super::keyword::Types;
use super::name::Place;
use super::node::{Node, Word, Words};
use super::pattern::{Pattern, Patterns};
use super::rules::{Objects, OneOf, Optional};
use super::sentence;
use super::treatment::Treatment;
use super::walk::Walker;
use super::wire::{Part, Wire};
use crate::output::pointer;

/// Why a value needs a type.
const NO_TYPE: &str = "is missing: this wire carries no value of any type";

/// What became of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Written,
    Said,
}

impl<'s> Walker<'s> {
    /// Copies a schema without alternatives.
    pub(super) fn single(&mut self, at: &str, mut words: Words<'s>) -> Wire {
        self.settle_members(at, &mut words);
        self.settle_tuple(&mut words);
        self.check_bounds(at, &words);
        if let Some(split) = self.without_null(at, &words) {
            return self.written(at, &split);
        }
        if self.rules.objects == Objects::AsDeclared && !words.has_any(&["type", "enum", "const"]) {
            // Without a type, grammars are of objects or of texts, by what else is there.
            words.set("type", Word::Data(Types::all().to_value()));
        }
        let partial = std::mem::take(&mut self.partial) || self.is_refused(at);
        if self.rules.objects == Objects::Closed && !partial && !words.has_any(&["type", "allOf"]) {
            self.report.refuse(at, "type", NO_TYPE);
        } else if self.rules.objects == Objects::Closed && !partial && has_any_items(&words) {
            self.report.refuse(&pointer::join(at, "items"), "type", NO_TYPE);
        }
        self.written(at, &words)
    }

    /// Copies keywords as they are.
    pub(super) fn written(&mut self, at: &str, words: &Words<'s>) -> Wire {
        let (mut wire, mut said) = (Wire::default(), Vec::new());
        for (key, word) in words.iter() {
            let is_said = match self.rules.treatment(key, word, words) {
                Treatment::Keep => self.keep(at, key, word, words, &mut wire),
                Treatment::KeepAs(value) => {
                    wire.push(key, Part::Data(value));
                    Fate::Written
                }
                Treatment::Say => Fate::Said,
                Treatment::Drop => Fate::Written,
                Treatment::Refuse(reason) => {
                    self.report.refuse(at, key, reason);
                    Fate::Written
                }
            };
            if is_said == Fate::Said
                && let Some(text) = sentence::of(key, word, words)
            {
                self.report.moved(at, key, &text);
                said.push(text);
            }
        }
        if words.types().is_some_and(|types| types.has("object")) {
            self.close(at, words, &mut wire);
        }
        describe(&mut wire, &said);
        wire
    }

    /// Copies a keyword that the dialect has, unless its value does not let it.
    fn keep(&mut self, at: &str, key: &str, word: &Word<'s>, words: &Words<'s>, wire: &mut Wire) -> Fate {
        match (key, word) {
            ("not", _) => return self.keep_unchanged(&["not"], words, wire),
            ("if", _) => return self.keep_unchanged(&["if", "then", "else"], words, wire),
            ("oneOf", Word::List(branches)) => return self.keep_one_of(at, branches, words, wire),
            _ => {}
        }
        let part = self.part(at, key, word, words);
        wire.push(key, part);
        Fate::Written
    }

    /// Copies alternatives of which only one fits. Where two might, their copies might even more, so any may then.
    fn keep_one_of(&mut self, at: &str, branches: &[Node<'s>], words: &Words<'s>, wire: &mut Wire) -> Fate {
        let part = Part::List(branches.iter().map(|branch| self.node(branch)).collect());
        let are_disjoint = self.are_disjoint(branches);
        let is_any = match self.rules.one_of {
            OneOf::AnyOf => true,
            OneOf::Kept => false,
            OneOf::Exact => !are_disjoint,
        };
        if is_any && words.has("anyOf") {
            self.report.refuse(at, "oneOf", "may fit twice, and there is `anyOf` beside it");
            return Fate::Written;
        }
        wire.push(if is_any { "anyOf" } else { "oneOf" }, part);
        if are_disjoint { Fate::Written } else { Fate::Said }
    }

    /// Copies the value of a keyword.
    fn part(&mut self, at: &str, key: &str, word: &Word<'s>, words: &Words<'s>) -> Part {
        match (key, word) {
            ("required", _) if self.rules.optional == Optional::Nullable => {
                Part::Data(words.named("properties").iter().map(|(name, _)| *name).collect())
            }
            ("required", _) => Part::Data(words.required().into()),
            ("properties", Word::Named(properties)) => {
                self.check_names(properties, words);
                Part::Named(self.properties(properties, words))
            }
            ("patternProperties", Word::Named(patterns)) => {
                if !words.named("properties").is_empty() {
                    let reason = "stands beside `properties`, which is not compiled where a name fits both";
                    self.report.refuse(at, key, reason);
                }
                self.key_patterns(at, patterns)
            }
            (_, Word::Node(node)) => match node.as_flag() {
                Some(flag) if key == "additionalProperties" => Part::Data(flag.into()),
                _ => Part::Schema(self.node(node)),
            },
            (_, Word::List(nodes)) => {
                let copy = |node| {
                    self.partial = key == "allOf";
                    self.node(node)
                };
                Part::List(nodes.iter().map(copy).collect())
            }
            (_, Word::Named(nodes)) => {
                Part::Named(nodes.iter().map(|(name, node)| ((*name).to_owned(), self.node(node))).collect())
            }
            (_, Word::Data(value)) => Part::Data(value.clone()),
        }
    }

    fn check_names(&mut self, properties: &[(&'s str, Node<'s>)], words: &Words<'s>) {
        let place = if self.is_root() { Place::Outermost } else { Place::Inside };
        let is_open = matches!(words.get("additionalProperties"), Some(Word::Node(node)) if node.as_flag() != Some(false));
        for (name, node) in properties {
            let fault = self.rules.names.fault(name, place);
            let fault = fault.or_else(|| self.rules.names.fault_beside_others(name).filter(|_| is_open));
            if let Some(fault) = fault {
                self.report.refuse(&node.at, "properties", format!("is called `{}`; {fault}", short(name)));
            }
        }
    }

    fn properties(&mut self, properties: &[(&'s str, Node<'s>)], words: &Words<'s>) -> Vec<(String, Wire)> {
        let required: HashSet<&str> = words.required().into_iter().collect();
        let mut copies = Vec::new();
        for (name, node) in properties {
            let is_optional = !required.contains(name);
            let is_outermost = self.is_root();
            self.optional += usize::from(is_optional);
            let mut copy = self.node(node);
            self.optional -= usize::from(is_optional);
            if is_outermost && self.rules.names.takes_a_part(name) && has_rule_of_its_own(&copy) {
                let reason = format!("is called `{name}`, as what this wire makes numbers or times of");
                self.report.refuse(&node.at, "properties", reason);
            }
            if is_optional && self.rules.optional == Optional::Nullable && !self.may_be_null(node) {
                copy = copy.or_null();
                copy.stands_for_nothing = true;
            }
            copies.push(((*name).to_owned(), copy));
        }
        copies
    }

    /// Copies schemas for keys that fit patterns, which every engine has to read in the same way.
    fn key_patterns(&mut self, at: &str, patterns: &[(&'s str, Node<'s>)]) -> Part {
        let mut copies = Vec::new();
        for (pattern, node) in patterns {
            if Pattern::read(pattern).and_then(|read| read.for_wire(Patterns::Portable)).is_none() {
                let reason = format!("has the pattern `{pattern}`, which engines read differently");
                self.report.refuse(at, "patternProperties", reason);
            }
            copies.push(((*pattern).to_owned(), self.node(node)));
        }
        Part::Named(copies)
    }

    /// Copies keywords that turn around what they demand, if the copies say the same as they do: to demand less of what must
    /// not be is to demand more.
    fn keep_unchanged(&mut self, together: &[&str], words: &Words<'s>, wire: &mut Wire) -> Fate {
        let nodes: Vec<_> = together
            .iter()
            .filter_map(|name| match words.get(name) {
                Some(Word::Node(node)) => Some((*name, node)),
                _ => None,
            })
            .collect();
        if nodes.iter().any(|(_, node)| node.refers()) {
            return Fate::Said;
        }
        let before = std::mem::take(&mut self.report);
        let copies: Vec<_> = nodes.into_iter().map(|(name, node)| (name, self.node(node))).collect();
        let said = std::mem::replace(&mut self.report, before);
        if !said.is_empty() {
            return Fate::Said;
        }
        for (name, copy) in copies {
            wire.push(name, Part::Schema(copy));
        }
        Fate::Written
    }

    /// Tells whether what was refused last is this very schema, so that what follows from it need not be said.
    fn is_refused(&self, at: &str) -> bool {
        self.report.refused.last().is_some_and(|refusal| refusal.pointer == at)
    }

    /// Closes an object, or refuses one of which not all keys are known.
    fn close(&mut self, at: &str, words: &Words<'s>, wire: &mut Wire) {
        let is_closed = words.has("additionalProperties");
        match self.rules.objects {
            Objects::Open => return,
            Objects::AsDeclared => return self.check_required(at, words),
            Objects::Closed => {}
        }
        if !words.has("properties") && !is_closed && !self.is_refused(at) {
            self.report.refuse(at, "properties", "are not declared, and this wire carries no other keys");
        }
        self.check_required(at, words);
        if self.rules.optional == Optional::Nullable && !words.has("required") {
            wire.push(
                "required",
                Part::Data(words.named("properties").iter().map(|(name, _)| *name).collect()),
            );
        }
        if !is_closed {
            wire.push("additionalProperties", Part::Data(false.into()));
        }
    }
}

impl Walker<'_> {
    /// Refuses a key that must be there and cannot, since it is not declared and others are not allowed.
    fn check_required(&mut self, at: &str, words: &Words<'_>) {
        let others = match words.get("additionalProperties") {
            Some(Word::Node(node)) => node.as_flag() != Some(false),
            _ => self.rules.objects == Objects::AsDeclared && !words.has("properties"),
        };
        let known: HashSet<&str> = words.named("properties").iter().map(|(name, _)| *name).collect();
        for name in words.required().into_iter().filter(|name| !others && !known.contains(name)) {
            self.report.refuse(at, "required", format!("names `{name}`, which is not declared"));
        }
    }
}

/// Tells whether a grammar has a rule for this schema and for no other: it has none for a plain type, and the one for a time
/// comes after its parts.
fn has_rule_of_its_own(copy: &Wire) -> bool {
    let is_time = copy.data("format").is_some_and(|format| format == "date-time");
    let is_plain = copy.types().is_some_and(|types| types.len() == 1)
        && copy.iter().all(|(key, _)| ["type", "title", "description"].contains(&key));
    !is_time && !is_plain
}

/// Shortens a name that is told.
fn short(name: &str) -> String {
    const MOST: usize = 80;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Tells whether there may be a list, and nothing is said of what is in it.
fn has_any_items(words: &Words<'_>) -> bool {
    let is_list = words.types().is_some_and(|types| types.has("array"));
    is_list && !words.has_any(&["items", "prefixItems", "allOf", "enum", "const"])
}

/// Puts sentences behind the description.
fn describe(wire: &mut Wire, said: &[String]) {
    if said.is_empty() {
        return;
    }
    match wire.get_mut("description") {
        Some(Part::Data(Value::String(text))) => {
            *text = said.iter().fold(std::mem::take(text), |text, more| sentence::append(&text, more));
        }
        _ => wire.begin_with("description", Part::Data(said.join(" ").into())),
    }
}
