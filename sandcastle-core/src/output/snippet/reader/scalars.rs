//! Reads `type`, `const` and `enum`: what a value is, without its parts.

use serde_json::Value;

use super::Reader;
use crate::output::snippet::keywords::Keywords;
use crate::output::snippet::model::{Kind, Node};

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

impl<'s> Reader<'s, '_> {
    /// Reads `type`; without one, the keywords that are there say whether it is an object or an array.
    pub(super) fn typed(&mut self, keywords: &mut Keywords<'s>, depth: usize) -> Option<Node> {
        let names = match keywords.take("type", type_names) {
            Some(names) => names,
            None if keywords.get("type").is_some() => return None,
            None => keywords.implied_types(),
        };
        if names.is_empty() {
            return None;
        }
        Some(Node::any_of(names.iter().map(|name| self.of_type(name, keywords, depth)).collect()))
    }

    fn of_type(&mut self, name: &'static str, keywords: &mut Keywords<'s>, depth: usize) -> Node {
        match name {
            "object" => self.object(keywords, depth),
            "array" => self.array(keywords, depth),
            plain => Node::plain(plain),
        }
    }

    /// Reads the values that are listed, and takes `type` too if it adds nothing to them.
    pub(super) fn literals(&self, keywords: &mut Keywords<'s>) -> Vec<Node> {
        let constant = keywords.take("const", |value| Some(std::slice::from_ref(value)));
        let listed = keywords.take("enum", |value| value.as_array().map(Vec::as_slice));
        let types = keywords.get("type").and_then(type_names);
        let lists = [constant, listed].into_iter().flatten();
        let says_nothing = |types: &[&str]| lists.clone().flatten().all(|value| has_type(value, types));
        if lists.clone().next().is_some() && types.is_some_and(|types| says_nothing(&types)) {
            keywords.take("type", Some);
        }
        lists.map(|values| Node::any_of(values.iter().map(|value| self.literal(value)).collect())).collect()
    }

    fn literal(&self, value: &Value) -> Node {
        Node::new(Kind::Literal(self.quote.json(value)))
    }
}

/// Returns the types that `type` names, if they all are types.
fn type_names(value: &Value) -> Option<Vec<&'static str>> {
    let known = |value: &Value| TYPES.into_iter().find(|name| value.as_str() == Some(name));
    match value {
        Value::Array(names) if !names.is_empty() => names.iter().map(known).collect(),
        name => known(name).map(|name| vec![name]),
    }
}

fn has_type(value: &Value, types: &[&str]) -> bool {
    types.iter().any(|&name| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && !number.is_f64()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    })
}
