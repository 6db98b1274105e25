//! Holds a document against the table of keys, and says everything that does not fit.
//!
//! Only the structure is judged here: which keys there are, and what kinds of values they have. `values` judges single values.
//! What is behind this can take what is there and leave the rest, since everything has been said.

mod values;

pub(super) use self::values::variable_of;

use super::super::definition::WorkflowVersion;
use super::keys::{
    COMMON, Group, KINDS, Key, Kind, MAX_MEMBERS, Needed, Presence, SCHEMA_NODE, Shape, VARIABLE, WORKFLOW,
    kind,
};
use super::report::{Path, Report, listed, shown};
use super::tree::{Content, Entry, Node};
use crate::workflow::nearest::nearest;

/// Holds the root of a document against the table.
pub(super) fn hold(root: &Node, version: WorkflowVersion, report: &mut Report) -> Extent {
    let mut holder = Holder { version, report, steps: 0, extent: Extent::Bounded };
    holder.group(root, &WORKFLOW, &Path::default());
    holder.extent
}

/// Whether there is little enough in a document to be looked at as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Bounded,
    Excessive,
}

struct Holder<'r> {
    version: WorkflowVersion,
    report: &'r mut Report,
    /// How many there were so far.
    steps: usize,
    extent: Extent,
}

impl Holder<'_> {
    fn shape(&mut self, node: &Node, shape: Shape, at: &Path) {
        match (shape, &node.content) {
            (_, Content::Unreadable) | (Shape::Anything, _) => {}
            (Shape::Group(group), _) => self.group(node, group, at),
            (Shape::TextOr(group), Content::Map(_)) => self.group(node, group, at),
            (Shape::TextOr(_), _) => self.value(node, Shape::Filled, at),
            (Shape::SchemaNode | Shape::OutputSchema, _) => self.group(node, &SCHEMA_NODE, at),
            (Shape::Variable, Content::Map(_)) => self.group(node, &VARIABLE, at),
            (Shape::Steps, Content::List(steps)) => {
                if steps.is_empty() {
                    self.report.error(at, node.place, "is empty", STEP);
                    self.report.settle(&at.parent());
                }
                self.steps += steps.len();
                self.has_few(node, self.steps, "steps", at);
                steps.iter().enumerate().for_each(|(index, step)| self.step(step, &at.index(index)));
            }
            (Shape::List(item), Content::List(items)) => {
                self.has_items(node, at);
                items.iter().enumerate().for_each(|(index, node)| self.shape(node, *item, &at.index(index)));
            }
            (Shape::Named(shape), Content::Map(entries)) => {
                self.has_items(node, at);
                self.has_few(node, entries.len(), "names", at);
                self.named(entries, *shape, at);
                self.are_short(entries, *shape, at);
            }
            (Shape::Environment, Content::Map(entries)) => self.named(entries, Shape::Spelled, at),
            (Shape::OneOrMore(words), Content::List(items)) => {
                self.has_items(node, at);
                let each = items.iter().enumerate();
                each.for_each(|(index, node)| self.value(node, Shape::Choice(words), &at.index(index)));
            }
            (Shape::OneOrMore(words), _) => self.value(node, Shape::Choice(words), at),
            _ => self.value(node, shape, at),
        }
    }

    fn has_items(&mut self, node: &Node, at: &Path) {
        if node.items().is_empty() && node.entries().is_empty() {
            self.report.error(at, node.place, "is empty", "put something into it, or leave the key away");
        }
    }

    fn has_few(&mut self, node: &Node, count: usize, what: &str, at: &Path) {
        if count > MAX_MEMBERS {
            self.extent = Extent::Excessive;
            let message = format!("has more than {MAX_MEMBERS} {what}");
            self.report.error(at, node.place, message, "split the workflow");
        }
    }

    /// A map whose keys are names of the author's own.
    fn named(&mut self, entries: &[Entry], shape: Shape, at: &Path) {
        for entry in entries {
            let at = at.key(&entry.key);
            if !values::is_name(&entry.key) {
                let message = format!("`{}` cannot be a name here", shown(&entry.key));
                self.report.error(&at, entry.place, message, values::NAME_HINT);
                self.report.settle(&at.parent());
            }
            self.shape(&entry.value, shape, &at);
        }
    }

    fn are_short(&mut self, names: &[Entry], shape: Shape, at: &Path) {
        // The fields of an output are not named by whoever writes the document alone.
        for entry in names.iter().filter(|_| !matches!(shape, Shape::SchemaNode)) {
            if let Some(message) = values::too_long(&entry.key) {
                self.report.error(&at.key(&entry.key), entry.place, message, values::SHORTEN);
            }
        }
    }

    fn step(&mut self, node: &Node, at: &Path) {
        let Content::Map(_) = node.content else {
            return self.no_step(node, at);
        };
        let Some(kind) = node.get("type").and_then(Node::str).and_then(kind) else {
            return self.step_of_no_kind(node, at);
        };
        if self.version < kind.since {
            let message = format!("`type: {}` needs version \"1.1\"", kind.name);
            let place = node.get("type").map_or(node.place, |node| node.place);
            self.report.error(&at.key("type"), place, message, UPGRADE);
        }
        let keys: Vec<_> = COMMON.iter().chain(kind.group.keys).collect();
        self.keys(node, &kind.group, &keys, at);
    }

    fn no_step(&mut self, node: &Node, at: &Path) {
        if !matches!(node.content, Content::Unreadable) {
            let message = format!("must be a step, and is {}", node.kind());
            self.report.error(
                at,
                node.place,
                message,
                "begin it with `- step: NAME`, and its other keys below that",
            );
        }
    }

    /// Without a kind, what is known of a step is what all have, and what any has.
    fn step_of_no_kind(&mut self, node: &Node, at: &Path) {
        if node.get("type").is_none() {
            let guess =
                KINDS.iter().max_by_key(|kind| own_keys(kind, node)).filter(|kind| own_keys(kind, node) > 0);
            let hint = guess.map_or_else(
                || format!("add `type`, one of {}", listed(KINDS.iter().map(|kind| kind.name))),
                |kind| format!("it looks like {}: add `type: {}`", kind.group.what, kind.name),
            );
            self.report.error(at, node.place, "`type` is missing", hint);
        }
        for key in COMMON {
            match node.get(key.name) {
                Some(value) => self.shape(value, key.shape, &at.key(key.name)),
                None if key.name != "type" => self.missing(node, &[], key, at),
                None => {}
            }
        }
    }

    fn group(&mut self, node: &Node, group: &Group, at: &Path) {
        match node.content {
            Content::Unreadable => {}
            Content::Map(_) => self.keys(node, group, &group.keys.iter().collect::<Vec<_>>(), at),
            _ => {
                let message =
                    format!("must be a map with the keys of {}, and is {}", group.what, node.kind());
                let hint = format!("its keys are {}", listed(group.keys.iter().map(|key| key.name)));
                self.report.error(at, node.place, message, hint);
            }
        }
    }

    fn keys(&mut self, node: &Node, group: &Group, keys: &[&Key], at: &Path) {
        let mut meant = Vec::new();
        for entry in node.entries() {
            match keys.iter().find(|key| key.name == entry.key) {
                Some(key) => self.known(entry, key, at),
                None => meant.extend(self.unknown(entry, node, group, keys, at)),
            }
        }
        for key in keys.iter().filter(|key| key.presence == Presence::Required) {
            self.missing(node, &meant, key, at);
        }
        if let Some(needed) = group.needed {
            self.needed(node, &meant, needed, at);
        }
    }

    fn known(&mut self, entry: &Entry, key: &Key, at: &Path) {
        let at = at.key(key.name);
        if self.version < key.since {
            let message = format!("`{}` needs version \"1.1\"", key.name);
            self.report.error(&at, entry.place, message, UPGRADE);
        } else if key.presence == Presence::Required && has_nothing(&entry.value, key.shape) {
            let hint = format!("put something into it, since it is needed: {}", as_hint(key.doc));
            self.report.error(&at, entry.value.place, "is empty", hint);
        } else {
            self.shape(&entry.value, key.shape, &at);
        }
    }

    /// Says that a key is not known, and returns the one that was meant.
    fn unknown(
        &mut self,
        entry: &Entry,
        node: &Node,
        group: &Group,
        keys: &[&Key],
        at: &Path,
    ) -> Option<&'static str> {
        let all = || keys.iter().map(|key| key.name);
        let absent = all().filter(|name| node.get(name).is_none());
        let meant = nearest(&entry.key, absent);
        let other = KINDS.iter().find(|kind| kind.group.keys.iter().any(|key| key.name == entry.key));
        let is_step = keys.iter().any(|key| key.name == COMMON[0].name);
        let message = match other {
            Some(other) if is_step && meant.is_none() => {
                format!("`{}` belongs to {}, and this is {}", entry.key, other.group.what, group.what)
            }
            _ => format!("`{}` is no key of {}", shown(&entry.key), group.what),
        };
        let list = format!("its keys are {}", listed(all()));
        let advice = foreign_keyword(&entry.key).filter(|_| group.keys.iter().any(|key| key.name == "anyOf"));
        if let Some(meant) = meant {
            self.report.settle(&at.key(meant));
        }
        let hint = match (meant, advice) {
            (Some(meant), _) => format!("did you mean `{meant}`? {list}"),
            (None, Some(advice)) => format!("{advice}; {list}"),
            (None, None) => list,
        };
        self.report.error(&at.key(&entry.key), entry.place, message, hint);
        meant
    }

    fn missing(&mut self, node: &Node, meant: &[&str], key: &Key, at: &Path) {
        if node.get(key.name).is_none() && !meant.contains(&key.name) {
            let message = format!("`{}` is missing", key.name);
            self.report.error(at, node.place, message, format!("add it: {}", as_hint(key.doc)));
        }
    }

    fn needed(&mut self, node: &Node, meant: &[&str], needed: Needed, at: &Path) {
        let (Needed::ExactlyOne([a, b]) | Needed::AtLeastOne([a, b])) = needed;
        let has = |name: &&str| node.get(name).is_some() || meant.contains(name);
        let count = [a, b].iter().filter(|name| has(name)).count();
        if count == 0 {
            let message = format!("needs `{a}` or `{b}`");
            self.report.error(at, node.place, message, "add one of the two");
        }
        if let (2, Needed::ExactlyOne(_)) = (count, needed) {
            let place = node.entries().iter().rfind(|entry| entry.key == a || entry.key == b);
            let message = format!("has `{a}` and `{b}`");
            let place = place.map_or(node.place, |entry| entry.place);
            self.report.error(at, place, message, "remove one of the two");
        }
    }
}

/// What to do where there are no steps.
const STEP: &str = "put a step into it, which begins with `- step: NAME`: without one there is nothing to do";

/// What to do about something that an older version does not have.
const UPGRADE: &str = "set `version: \"1.1\"`, where expressions stand in `{{ }}`";

/// What to do about a keyword of JSON Schema that output schemas do not have.
fn foreign_keyword(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "additionalProperties" | "unevaluatedProperties" | "patternProperties" | "propertyNames" => {
            "remove it: the fields of an object are those in `properties`"
        }
        "$ref" | "$defs" | "definitions" | "$id" | "$anchor" => "write out what is referred to, in its place",
        "allOf" => "write what the parts say into one",
        "nullable" => "write `type: [string, \"null\"]`, or whatever type it has beside `\"null\"`",
        "$schema" => "remove it: there is one language of schemas here",
        "examples" | "example" => "say it in the `description`",
        _ => return None,
    })
}

/// Tells whether a list or a map that is to hold something else than steps holds nothing.
fn has_nothing(node: &Node, shape: Shape) -> bool {
    match node.content {
        Content::List(ref items) => items.is_empty() && matches!(shape, Shape::List(_)),
        Content::Map(ref entries) => entries.is_empty() && matches!(shape, Shape::Named(_)),
        _ => false,
    }
}

/// How many keys of a step only one kind has.
fn own_keys(kind: &Kind, node: &Node) -> usize {
    let is_own = |name: &str| {
        let owners = KINDS.iter().filter(|kind| kind.group.keys.iter().any(|key| key.name == name));
        owners.count() == 1
    };
    let keys = kind.group.keys.iter().filter(|key| node.get(key.name).is_some());
    keys.filter(|key| is_own(key.name)).count()
}

/// The first sentence of a description, as a part of another.
fn as_hint(doc: &str) -> String {
    let sentence = doc.split_once(". ").map_or(doc, |(first, _)| first).trim_end_matches('.');
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
