//! From an `output_schema` to a contract, and what contradicts itself in it.
//!
//! That a keyword is known and has a value of the right kind has been said by `hold`. Here is what a schema means: that
//! its root is an object, that nothing in it is left open, that each keyword is about the type that it stands beside, and that
//! there is a value for every part. Whether a default or a member of an enum fits is asked of the judge that will hold answers
//! against the schema, so that both always agree.

mod bounds;
mod judge;
mod union;
mod values;

use serde_json::{Map, Value, json};

use super::super::definition::{Contract, Defaults, StepName, tag_of};
use super::keys::{ABOUT, SAYING, UNIONS};
use super::report::{Path, Report, listed, shown};
use super::tree::{Content, Entry, Node};
use crate::output::OutputSpec;
use crate::workflow::nearest::nearest;

/// The most parts of one schema; each is compiled where it has values.
const MAX_PARTS: usize = 5_000;

/// Reads what the output of a step has to be.
pub(super) fn output(node: &Node, step: &StepName, at: &Path, report: &mut Report) -> Option<Contract> {
    // Such as one in a document of a version that has no schemas.
    if report.has(at) {
        return open(step);
    }
    let before = report.count();
    let mut reader = Reader { report, purpose: Purpose::Output, parts: 0 };
    if reader.root(node, at) {
        reader.part(node, at, Role::Root);
    }
    if report.count() > before || !report.is_clean(at) {
        return open(step);
    }
    match OutputSpec::json(tag_of(step), node.to_json()) {
        Ok(spec) => Some(Contract { spec, defaults: Defaults::Filled, place: Some(node.place) }),
        Err(error) => {
            let hint = error.hints().first().cloned().unwrap_or_default();
            report.error(at, node.place, format!("cannot be used: {}", shown(&error.to_string())), hint);
            open(step)
        }
    }
}

/// The contract of a step whose output is not known, so that nothing is said of those who read it.
pub(super) fn open(step: &StepName) -> Option<Contract> {
    let spec = OutputSpec::json(tag_of(step), json!({ "type": "object" })).ok()?;
    Some(Contract { spec, defaults: Defaults::Filled, place: None })
}

/// Reads the schema of a variable, and its default.
pub(super) fn variable(node: &Node, at: &Path, report: &mut Report) -> (Value, Option<Value>) {
    let before = report.count();
    let mut reader = Reader { report, purpose: Purpose::Variable, parts: 0 };
    if node.get("type").is_some() {
        reader.part(node, at, Role::Root);
    } else {
        let hint = "add `type`; a map is no default by itself, so give that in `default`";
        reader.report.error(at, node.place, "is a map without `type`", hint);
    }
    let default = node.get("default").map(Node::to_json);
    if report.count() > before || !report.is_clean(at) {
        return (Value::Bool(true), default);
    }
    (without(node, &["default"]), default)
}

/// The schema that a part describes, without some of its keywords.
fn without(node: &Node, keywords: &[&str]) -> Value {
    let kept = node.entries().iter().filter(|entry| !keywords.contains(&entry.key.as_str()));
    Value::Object(kept.map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>())
}

/// What a schema is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A model has to answer with it, so nothing is left open.
    Output,
    /// Somebody sets a value.
    Variable,
}

/// Where a part of a schema stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Root,
    Field,
    Item,
    Alternative,
}

struct Reader<'r> {
    report: &'r mut Report,
    purpose: Purpose,
    parts: usize,
}

impl Reader<'_> {
    /// Tells whether the root is an object; if not, nothing else is worth saying.
    fn root(&mut self, node: &Node, at: &Path) -> bool {
        let Some(kind) = node.get("type") else {
            if matches!(node.content, Content::Map(_)) {
                self.report.error(
                    at,
                    node.place,
                    "has no `type` at its root",
                    "add `type: object`, with the fields of the output in `properties`",
                );
            }
            return false;
        };
        let is_object = kind.str() == Some("object");
        if !is_object && !matches!(kind.content, Content::Unreadable) {
            let message = "the root of an output schema must be an object";
            let hint = "write `type: object`, and put this in one of its `properties`";
            self.report.error(&at.key("type"), kind.place, message, hint);
        }
        is_object
    }

    /// Reads one part of a schema, and those below it.
    fn part(&mut self, node: &Node, at: &Path, role: Role) {
        let Content::Map(_) = node.content else { return };
        self.parts += 1;
        if self.parts >= MAX_PARTS {
            if self.parts == MAX_PARTS {
                let message = format!("has more than {MAX_PARTS} parts");
                self.report.error(
                    at,
                    node.place,
                    message,
                    "a schema of that size fits no model: split the step",
                );
            }
            return;
        }
        let types = types(node);
        self.has_type(node, at);
        self.keywords_are_about(node, &types, at);
        self.bounds(node, &types, at);
        self.fields(node, &types, at);
        self.items(node, &types, at);
        self.unions(node, at);
        self.values(node, at);
        self.default_is_used(node, at, role);
        self.below(node, at);
    }

    fn below(&mut self, node: &Node, at: &Path) {
        if let Some(properties) = node.get("properties") {
            let at = at.key("properties");
            properties
                .entries()
                .iter()
                .for_each(|field| self.part(&field.value, &at.key(&field.key), Role::Field));
        }
        if let Some(items) = node.get("items") {
            self.part(items, &at.key("items"), Role::Item);
        }
        for key in UNIONS {
            let alternatives = node.get(key).map(Node::items).unwrap_or_default().iter().enumerate();
            let at = at.key(key);
            alternatives.for_each(|(index, node)| self.part(node, &at.index(index), Role::Alternative));
        }
    }

    fn has_type(&mut self, node: &Node, at: &Path) {
        if SAYING.iter().all(|keyword| node.get(keyword).is_none()) {
            let hint =
                "add `type`, one of `string`, `number`, `integer`, `boolean`, `object`, `array`, `null`";
            self.report.error(at, node.place, "`type` is missing: any value would do", hint);
        }
        self.has_no_duplicates(node, "type", at);
    }

    fn has_no_duplicates(&mut self, node: &Node, keyword: &str, at: &Path) {
        let items = node.get(keyword).map(Node::items).unwrap_or_default();
        let mut seen = std::collections::HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let value = item.to_json();
            if !seen.insert(value.to_string()) {
                let message = format!("lists {} a second time", values::quoted(&value));
                self.report.error(&at.key(keyword).index(index), item.place, message, "remove it");
            }
        }
    }

    fn keywords_are_about(&mut self, node: &Node, types: &[&str], at: &Path) {
        for entry in node.entries() {
            let Some((_, about)) = ABOUT.iter().find(|(keyword, _)| *keyword == entry.key) else { continue };
            if about.iter().any(|kind| types.contains(kind)) || node.get("type").is_some() && types.is_empty()
            {
                continue;
            }
            let meant = listed(about.iter().copied());
            let (message, hint) = if types.is_empty() {
                (format!("`{}` needs `type` beside it", entry.key), format!("add `type`, here {meant}"))
            } else {
                let given = listed(types.iter().copied());
                (
                    format!("`{}` is about {meant}, and this is {given}", entry.key),
                    "remove it, or change the `type`".to_owned(),
                )
            };
            self.report.error(&at.key(&entry.key), entry.place, message, hint);
        }
    }

    /// An object says its fields, and asks only for those.
    fn fields(&mut self, node: &Node, types: &[&str], at: &Path) {
        let properties = node.get("properties");
        if types.contains(&"object") && properties.is_none() && self.purpose == Purpose::Output {
            let hint = "list its fields in `properties`: a provider needs every one spelled out";
            self.report.error(at, node.place, "leaves open which fields the object has", hint);
        }
        self.has_no_duplicates(node, "required", at);
        let known = || {
            properties.map(Node::entries).unwrap_or_default().iter().map(|entry: &Entry| entry.key.as_str())
        };
        let required = node.get("required").map(Node::items).unwrap_or_default();
        for (index, item) in required.iter().enumerate() {
            let Some(name) = item.str().filter(|name| !known().any(|known| known == *name)) else { continue };
            let hint = nearest(name, known()).map_or_else(
                || "declare it in `properties`, or remove it".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            let message = format!("requires `{}`, which is not in `properties`", shown(name));
            self.report.error(&at.key("required").index(index), item.place, message, hint);
        }
    }

    /// An array says what its items are.
    fn items(&mut self, node: &Node, types: &[&str], at: &Path) {
        if types.contains(&"array") && node.get("items").is_none() && self.purpose == Purpose::Output {
            let hint = "say in `items` what each of them is: a provider needs it spelled out";
            self.report.error(at, node.place, "leaves open what the items of the array are", hint);
        }
    }
}

/// The types that a part allows, as far as it says so.
fn types(node: &Node) -> Vec<&str> {
    match node.get("type") {
        Some(kind) => kind.str().into_iter().chain(kind.items().iter().filter_map(Node::str)).collect(),
        None => Vec::new(),
    }
}
