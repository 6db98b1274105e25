//! Reads objects and arrays: the keywords that hold schemas of their parts.

use std::collections::HashSet;

use serde_json::Value;

use super::Reader;
use crate::output::snippet::keywords::Keywords;
use crate::output::snippet::model::{Field, Keyed, Kind, Node, Object, Others, Presence, Tuple};

impl<'s> Reader<'s, '_> {
    pub(super) fn object(&mut self, keywords: &mut Keywords<'s>, depth: usize) -> Node {
        let fields = self.fields(keywords, depth);
        let keyed = self.keyed(keywords, fields.is_empty(), depth);
        let others = match keywords.take("additionalProperties", |value| (value == false).then_some(())) {
            Some(()) => Others::Refused,
            None => Others::Allowed,
        };
        if fields.is_empty() && keyed.is_empty() && others == Others::Allowed {
            return Node::plain("object");
        }
        Node::new(Kind::Object(Object { fields, keyed, others }))
    }

    /// Reads the fields in the order of their declaration; those that are required and not declared come last.
    fn fields(&mut self, keywords: &mut Keywords<'s>, depth: usize) -> Vec<Field> {
        let declared = keywords.take("properties", Value::as_object);
        let required = keywords.take("required", strings).unwrap_or_default();
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let mut fields = Vec::new();
        for (name, schema) in declared.into_iter().flatten() {
            let required = is_required.contains(name.as_str());
            let presence = if required { Presence::Required } else { Presence::Optional };
            fields.push(Field { name: name.clone(), presence, node: self.node(schema, depth + 1) });
        }
        let mut undeclared = HashSet::new();
        for name in required {
            if !declared.is_some_and(|fields| fields.contains_key(name)) && undeclared.insert(name) {
                let presence = Presence::Required;
                fields.push(Field { name: name.to_owned(), presence, node: Node::unknown() });
            }
        }
        fields
    }

    /// Reads the entries whose keys are known by a rule. A schema for all names is such a rule if the object is a map and
    /// nothing else; beside fields it is left as a limit.
    fn keyed(&mut self, keywords: &mut Keywords<'s>, is_map: bool, depth: usize) -> Vec<Keyed> {
        let mut keyed = Vec::new();
        for (pattern, schema) in keywords.take("patternProperties", Value::as_object).into_iter().flatten() {
            let key = Node::plain("string").limited(format!("pattern {}", self.quote.string(pattern)));
            keyed.push(Keyed { key, value: self.node(schema, depth + 1) });
        }
        let is_map = is_map && keyed.is_empty();
        let is_object = |value: &'s Value| value.is_object().then_some(value);
        let names = keywords.take("propertyNames", |value| is_object(value).filter(|_| is_map));
        let values = keywords.take("additionalProperties", is_object);
        if names.is_some() || values.is_some() {
            let key = names.map_or_else(|| Node::plain("string"), |schema| self.node(schema, depth + 1));
            let value = values.map_or_else(Node::unknown, |schema| self.node(schema, depth + 1));
            keyed.push(Keyed { key, value });
        }
        keyed
    }

    pub(super) fn array(&mut self, keywords: &mut Keywords<'s>, depth: usize) -> Node {
        let first = keywords.take("prefixItems", |value| value.as_array().filter(|items| !items.is_empty()));
        let item = keywords.take("items", |value| (value.is_object() || value.is_boolean()).then_some(value));
        match (first, item) {
            (Some(first), rest) => self.tuple(first, rest, keywords, depth),
            (None, item) => {
                let item = item.map_or_else(Node::unknown, |schema| self.node(schema, depth + 1));
                Node::new(Kind::Array(Box::new(item)))
            }
        }
    }

    /// Reads a tuple, and takes the counts that are those of its items.
    fn tuple(
        &mut self,
        first: &'s [Value],
        rest: Option<&'s Value>,
        keywords: &mut Keywords<'s>,
        depth: usize,
    ) -> Node {
        let items = self.nodes(first, depth + 1);
        let is_all =
            |count: &Value| count.as_u64().is_some_and(|count| usize::try_from(count) == Ok(items.len()));
        let ends = rest.is_some_and(|rest| rest == false);
        let ends = keywords.take("maxItems", |count| is_all(count).then_some(())).is_some() || ends;
        let required = match keywords.take("minItems", |count| is_all(count).then_some(items.len())) {
            Some(all) => all,
            None => keywords
                .get("minItems")
                .and_then(Value::as_u64)
                .map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        };
        let rest = match rest {
            _ if ends => None,
            Some(schema) => Some(Box::new(self.node(schema, depth + 1))),
            None => Some(Box::new(Node::unknown())),
        };
        Node::new(Kind::Tuple(Tuple { items, required, rest }))
    }
}

/// Returns the strings of an array that has nothing else.
fn strings(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}
