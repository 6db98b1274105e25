//! Two schemas that both hold for a value, as one.
//!
//! Only what is exactly the same demand is merged; where two keywords cannot be one, the merge fails with the name of the
//! keyword. What holds for a property of both is left as an `allOf` there, which is merged when it is come to.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::keyword::{NOTES, Types};
use super::node::{Node, Word, Words};
use super::sentence;

/// Keywords that belong together: both sides may not have some of a group.
const GROUPS: [&[&str]; 3] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["unevaluatedProperties", "unevaluatedItems"],
];

/// Merges two schemas, or names the keyword that keeps them apart.
pub(super) fn merge<'s>(mut a: Words<'s>, mut b: Words<'s>) -> Result<Words<'s>, &'s str> {
    for group in GROUPS {
        if a.has_any(group) && b.has_any(group) {
            return Err(group[0]);
        }
    }
    objects(&mut a, &mut b)?;
    arrays(&a, &b)?;
    for (key, word) in b {
        match a.get(key) {
            None => a.set(key, word),
            Some(held) if key == "$ref" => {
                if held.to_value() != word.to_value() {
                    let mut other = Words::default();
                    other.set(key, word);
                    let mut parts = a.take_list("allOf").unwrap_or_default();
                    parts.push(Node::made("", other));
                    a.set("allOf", Word::List(parts));
                }
            }
            Some(held) => {
                let both = both(key, held, word)?;
                a.set(key, both);
            }
        }
    }
    Ok(a)
}

/// Merges what is said of the keys of objects.
fn objects<'s>(a: &mut Words<'s>, b: &mut Words<'s>) -> Result<(), &'s str> {
    let keys = ["properties", "additionalProperties", "patternProperties"];
    if !a.has_any(&keys) || !b.has_any(&keys) {
        return Ok(());
    }
    if a.has("patternProperties") || b.has("patternProperties") {
        return Err("patternProperties");
    }
    let properties = properties(a, b)?;
    let other_keys = and(rest(a).as_ref(), rest(b).as_ref());
    if a.has("properties") || b.has("properties") {
        a.set("properties", Word::Named(properties));
    }
    if let Some(node) = other_keys {
        a.set("additionalProperties", Word::Node(node));
    }
    b.retain(|key| !keys.contains(&key));
    Ok(())
}

/// Merges properties: what one side says of keys that it does not name holds for those that only the other names.
fn properties<'s>(a: &Words<'s>, b: &Words<'s>) -> Result<Vec<(&'s str, Node<'s>)>, &'s str> {
    let (rest_a, rest_b) = (rest(a), rest(b));
    let of_b: HashMap<_, _> = b.named("properties").iter().map(|(name, node)| (*name, node)).collect();
    let of_a: HashSet<_> = a.named("properties").iter().map(|(name, _)| *name).collect();
    let of_both = a.named("properties").iter();
    let of_both = of_both.map(|(name, node)| (*name, node, of_b.get(name).copied().or(rest_b.as_ref())));
    let only_of_b = b.named("properties").iter().filter(|(name, _)| !of_a.contains(name));
    let only_of_b = only_of_b.map(|(name, node)| (*name, node, rest_a.as_ref()));
    let required: HashSet<&str> = a.required().into_iter().chain(b.required()).collect();
    let mut merged = Vec::new();
    for (name, node, other) in of_both.chain(only_of_b) {
        let Some(both) = and(Some(node), other) else { continue };
        if both.as_flag() != Some(false) {
            merged.push((name, both));
        } else if required.contains(name) {
            return Err("additionalProperties");
        }
        // Otherwise it may not be there, and in an object that is closed it need not be named for that.
    }
    Ok(merged)
}

fn rest<'s>(words: &Words<'s>) -> Option<Node<'s>> {
    match words.get("additionalProperties") {
        Some(Word::Node(node)) => Some(node.clone()),
        _ => None,
    }
}

fn arrays<'s>(a: &Words<'s>, b: &Words<'s>) -> Result<(), &'s str> {
    let keys = ["items", "prefixItems"];
    let tuple = a.has("prefixItems") || b.has("prefixItems");
    if tuple && a.has_any(&keys) && b.has_any(&keys) { Err("prefixItems") } else { Ok(()) }
}

/// Returns a node for what fits both.
fn and<'s>(a: Option<&Node<'s>>, b: Option<&Node<'s>>) -> Option<Node<'s>> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b).cloned() };
    Some(match (a.as_flag(), b.as_flag()) {
        (Some(false), _) | (_, Some(true)) => a.clone(),
        (Some(true), _) | (_, Some(false)) => b.clone(),
        (None, None) => {
            let mut words = Words::default();
            words.set("allOf", Word::List(vec![a.clone(), b.clone()]));
            Node::made(a.at.clone(), words)
        }
    })
}

/// Merges the values that two schemas have for one keyword.
fn both<'s>(key: &'s str, a: &Word<'s>, b: Word<'s>) -> Result<Word<'s>, &'s str> {
    Ok(match (key, a, b) {
        ("allOf", Word::List(parts), Word::List(more)) => {
            Word::List(parts.iter().cloned().chain(more).collect())
        }
        ("items" | "propertyNames", Word::Node(a), Word::Node(b)) => match and(Some(a), Some(&b)) {
            Some(both) => Word::Node(both),
            None => return Err(key),
        },
        ("description", Word::Data(Value::String(a)), Word::Data(Value::String(b))) => {
            Word::Data(if *a == b { b.into() } else { sentence::append(a, &b).into() })
        }
        (note, a, _) if NOTES.contains(&note) => a.clone(),
        (_, Word::Data(a), Word::Data(b)) => Word::Data(data(key, a, b)?),
        (_, a, b) if a.to_value() == b.to_value() => b,
        _ => return Err(key),
    })
}

fn data<'s>(key: &'s str, a: &Value, b: Value) -> Result<Value, &'s str> {
    let merged = match key {
        "type" => common_types(a, &b),
        "enum" => common_members(a, &b),
        "required" => Some(all_names(a, &b)),
        "uniqueItems" => Some(Value::Bool(*a == true || b == true)),
        "minLength" | "minItems" | "minProperties" | "minimum" | "exclusiveMinimum" => {
            Some(if order(a, &b) == Ordering::Less { b } else { a.clone() })
        }
        "maxLength" | "maxItems" | "maxProperties" | "maximum" | "exclusiveMaximum" => {
            Some(if order(a, &b) == Ordering::Greater { b } else { a.clone() })
        }
        _ => (*a == b).then_some(b),
    };
    merged.ok_or(key)
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn common_types(a: &Value, b: &Value) -> Option<Value> {
    let common = Types::read(a)?.common(&Types::read(b)?);
    (!common.is_empty()).then(|| common.to_value())
}

fn common_members(a: &Value, b: &Value) -> Option<Value> {
    let other: HashSet<_> = b.as_array()?.iter().map(Value::to_string).collect();
    let common: Vec<_> =
        a.as_array()?.iter().filter(|one| other.contains(&one.to_string())).cloned().collect();
    (!common.is_empty()).then(|| common.into())
}

fn all_names(a: &Value, b: &Value) -> Value {
    let mut seen = HashSet::new();
    let all = [a, b].into_iter().filter_map(Value::as_array).flatten();
    all.filter(|name| seen.insert(name.as_str())).cloned().collect()
}
