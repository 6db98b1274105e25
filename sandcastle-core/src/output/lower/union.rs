//! Alternatives: alone where nothing may stand beside them, one list where each of them only lists values.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::keyword::{NOTES, Types};
use super::merge::merge;
use super::node::{Node, Word, Words};
use super::report::Report;
use super::rules::Unions;
use super::sentence;
use super::walk::Walker;
use super::wire::Wire;

/// How many alternatives are held against each other.
const MAX_COMPARED: usize = 200;

impl<'s> Walker<'s> {
    /// Copies what has neither a reference nor a conjunction of its own any more.
    pub(super) fn united(&mut self, at: &str, mut words: Words<'s>) -> Wire {
        let Some(key) = ["anyOf", "oneOf"].into_iter().find(|key| words.has(key)) else {
            return self.single(at, words);
        };
        if self.rules.unions == Unions::Mixed {
            return self.written(at, &words);
        }
        let branches = match words.get(key) {
            Some(Word::List(branches)) => branches.clone(),
            _ => Vec::new(),
        };
        if let Some((members, descriptions)) = self.listed(&words, &branches) {
            self.collapse(at, key, &mut words, members, &descriptions);
            return self.united(at, words);
        }
        let (beside, mut rest) = words.partition(|name| name != key && !NOTES.contains(&name));
        let branches = if beside.iter().next().is_none() {
            branches
        } else {
            branches.into_iter().filter_map(|branch| self.distributed(at, key, &beside, branch)).collect()
        };
        rest.set(key, Word::List(branches));
        self.written(at, &rest)
    }

    /// Adds to an alternative what stands beside it.
    fn distributed(&mut self, at: &str, key: &str, beside: &Words<'s>, branch: Node<'s>) -> Option<Node<'s>> {
        if !self.spend(beside.weight() + branch.weight()) {
            return None;
        }
        match merge(beside.clone(), branch.read(&mut self.report)) {
            Ok(both) => Some(Node::made(branch.at, both)),
            Err(keyword) => {
                let reason = format!("has an alternative that does not go with `{keyword}` beside it");
                self.report.refuse(at, key, reason);
                None
            }
        }
    }

    /// Returns what alternatives list, if none of them does anything else, and how each is described.
    fn listed(&self, words: &Words<'s>, branches: &[Node<'s>]) -> Option<(Vec<Value>, Vec<String>)> {
        let may_stand = |key: &str| NOTES.contains(&key) || ["type", "anyOf", "oneOf"].contains(&key);
        if !words.iter().all(|(key, _)| may_stand(key)) || words.has("anyOf") && words.has("oneOf") {
            return None;
        }
        let (mut members, mut descriptions, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for branch in branches {
            let words = branch.read(&mut Report::default());
            let listed = values(&words)?;
            let plain =
                words.iter().all(|(key, _)| NOTES.contains(&key) || ["type", "enum", "const"].contains(&key));
            if !plain
                || !self.rules.lists(&listed)
                || !listed.iter().all(|value| seen.insert(value.to_string()))
            {
                return None;
            }
            if let Some(Value::String(text)) = words.data("description") {
                descriptions.push(format!("{}: {text}", sentence::listed(&listed)));
            }
            members.extend(listed);
        }
        Some((members, descriptions))
    }

    fn collapse(
        &mut self,
        at: &str,
        key: &str,
        words: &mut Words<'s>,
        members: Vec<Value>,
        descriptions: &[String],
    ) {
        if !words.has("type") {
            words.set_before(key, "type", Word::Data(Types::of_values(&members).to_value()));
        }
        words.set_before(key, "enum", Word::Data(members.into()));
        words.take(key);
        if descriptions.is_empty() {
            return;
        }
        let said = descriptions.iter().fold(String::new(), |text, more| sentence::append(&text, more));
        self.report.moved(at, key, &said);
        let text = words.data("description").and_then(Value::as_str).unwrap_or_default();
        let described = Word::Data(sentence::append(text, &said).into());
        if words.has("description") {
            words.set("description", described);
        } else {
            words.set_before("", "description", described);
        }
    }

    /// Tells whether no value fits two of the alternatives, as far as can be seen.
    pub(super) fn are_disjoint(&mut self, branches: &[Node<'s>]) -> bool {
        if branches.len() > MAX_COMPARED {
            return false;
        }
        let marks: Vec<_> = branches.iter().map(|branch| self.mark(branch)).collect();
        let mut pairs = marks
            .iter()
            .enumerate()
            .flat_map(|(index, one)| marks[index + 1..].iter().map(move |other| (one, other)));
        pairs.all(|(one, other)| one.excludes(other))
    }

    /// Reads by what an alternative can be told from others.
    fn mark(&mut self, branch: &Node<'s>) -> Mark {
        let mut words = branch.read(&mut Report::default());
        let mut passed = HashSet::new();
        while let Some(reference) = words.take_text("$ref") {
            let Ok((pointer, target)) = self.resolve(&reference) else { break };
            let target = Node::raw(pointer.clone(), target);
            if !passed.insert(pointer) || !self.spend(target.weight()) {
                break;
            }
            match merge(words.clone(), target.read(&mut Report::default())) {
                Ok(both) => words = both,
                Err(_) => break,
            }
        }
        Mark::of(&words)
    }
}

/// By what an alternative can be told from others.
#[derive(Debug)]
struct Mark {
    types: Option<Types>,
    /// The values that it lists, as JSON.
    values: Option<HashSet<String>>,
    /// What properties may be, where that is a list.
    tags: HashMap<String, HashSet<String>>,
    required: HashSet<String>,
    /// The only keys that there may be.
    keys: Option<HashSet<String>>,
}

impl Mark {
    fn of(words: &Words<'_>) -> Self {
        let properties = words.named("properties");
        let tag = |(name, node): &(&str, Node<'_>)| {
            Some(((*name).to_owned(), texts(&values(&node.read(&mut Report::default()))?)))
        };
        let closed = match words.get("additionalProperties") {
            Some(Word::Node(node)) => node.as_flag() == Some(false) && !words.has("patternProperties"),
            _ => false,
        };
        let values = values(words);
        Self {
            types: words.types().or_else(|| values.as_ref().map(Types::of_values)),
            values: values.as_deref().map(texts),
            tags: properties.iter().filter_map(tag).collect(),
            required: words.required().into_iter().map(str::to_owned).collect(),
            keys: closed.then(|| properties.iter().map(|(name, _)| (*name).to_owned()).collect()),
        }
    }

    fn excludes(&self, other: &Self) -> bool {
        if let (Some(types), Some(others)) = (&self.types, &other.types)
            && types.common(others).is_empty()
        {
            return true;
        }
        if let (Some(values), Some(others)) = (&self.values, &other.values)
            && values.is_disjoint(others)
        {
            return true;
        }
        let only_objects = |mark: &Self| mark.types.as_ref().is_some_and(|types| types.is_only("object"));
        if !only_objects(self) || !only_objects(other) {
            return false;
        }
        let told_by = |name: &String| match (self.tags.get(name), other.tags.get(name)) {
            (Some(tags), Some(others)) => tags.is_disjoint(others),
            _ => false,
        };
        let misses = |one: &Self, other: &Self| {
            other.keys.as_ref().is_some_and(|keys| one.required.iter().any(|name| !keys.contains(name)))
        };
        self.required.iter().chain(&other.required).any(told_by) || misses(self, other) || misses(other, self)
    }
}

/// Returns what a schema lists.
fn values(words: &Words<'_>) -> Option<Vec<Value>> {
    match (words.data("const"), words.data("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn texts(values: &[Value]) -> HashSet<String> {
    values.iter().map(Value::to_string).collect()
}
