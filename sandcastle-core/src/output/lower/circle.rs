//! References that lead back to themselves before there is a value.
//!
//! A schema refers to itself for what is within a value: the children of a node. One that does so for the very same value
//! demands nothing that could be found out; JSON Schema leaves open what it means, a grammar of it has no end, and a
//! service may not come to one. So it is refused, with its place, whatever the wire. Only the original is looked at, and
//! of that only what is referred to.

use std::collections::HashSet;

use serde_json::Value;

use super::keyword::{Kind, kind};
use super::report::Report;
use super::walk::Walker;
use crate::output::pointer;

/// Keywords whose schemas are of the same value.
const OF_THE_SAME: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
const REASON: &str = "leads back to itself without a value in between, so it says nothing";

/// The schemas right below one, by their pointers.
#[derive(Default)]
struct Below {
    /// Those of the same value.
    same: Vec<String>,
    /// Those of what is in it.
    within: Vec<String>,
}

impl Walker<'_> {
    /// Refuses references that lead back to where they stand.
    pub(super) fn circles(&self) -> Report {
        let mut report = Report::default();
        let (mut starts, mut done) = (vec![String::new()], HashSet::new());
        while let Some(start) = starts.pop() {
            if done.contains(&start) {
                continue;
            }
            let Below { same, within } = self.below(&start);
            starts.extend(within);
            let mut on_way = HashSet::from([start.clone()]);
            let mut way = vec![(start, same.into_iter())];
            while let Some((at, rest)) = way.last_mut() {
                match rest.next() {
                    None => {
                        on_way.remove(at.as_str());
                        done.insert(std::mem::take(at));
                        way.pop();
                    }
                    Some(to) if on_way.contains(&to) => {
                        // What is below is on the way to it; the reference is there.
                        let place = if to.starts_with(at.as_str()) { &to } else { &*at };
                        report.refuse(place, "$ref", REASON);
                    }
                    Some(to) if !done.contains(&to) => {
                        let Below { same, within } = self.below(&to);
                        starts.extend(within);
                        on_way.insert(to.clone());
                        way.push((to, same.into_iter()));
                    }
                    Some(_) => {}
                }
            }
        }
        report
    }

    fn below(&self, at: &str) -> Below {
        let mut below = Below::default();
        let Some(Value::Object(keywords)) = self.root.pointer(at) else { return below };
        let reference = keywords.get("$ref").and_then(Value::as_str);
        if let Some(Ok((target, _))) = reference.map(|reference| self.resolve(reference)) {
            below.same.push(target);
        }
        for (key, value) in keywords {
            let here = pointer::join(at, key);
            let schemas = match (kind(key), value) {
                (Some(Kind::Schema | Kind::Schemas), Value::Array(list)) => {
                    (0..list.len()).map(|index| pointer::join(&here, &index.to_string())).collect()
                }
                (Some(Kind::SchemasByName), Value::Object(named)) => {
                    named.keys().map(|name| pointer::join(&here, name)).collect()
                }
                (Some(Kind::Schema), _) => vec![here],
                _ => continue,
            };
            if !OF_THE_SAME.contains(&key.as_str()) {
                below.within.extend(schemas);
            } else if reference.is_none() || !self.is_ignored_beside_references() {
                below.same.extend(schemas);
            }
        }
        below
    }
}
