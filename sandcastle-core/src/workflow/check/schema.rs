//! From JSON Schema to shapes, as far as schemas are written for outputs: types, enums, properties, items, maps, `$ref` into the
//! same document, and the combinations that `schemars` makes of enums and options. What says more than that is unknown.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::definition::Defaults;
use super::shape::{Absence, Digits, Fields, Items, Shape, Texts, Truth};
use crate::output::type_of;

/// How many combinations of `anyOf` and `allOf` are followed, and how many schemas one of them has.
const MAX_WAYS: usize = 64;
/// How many references.
const MAX_REFERENCES: usize = 32;

/// A schema within a document of schemas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'s> {
    pub(super) root: &'s Value,
    pub(super) schema: &'s Value,
    /// Whether fields that are absent get the defaults of the schema.
    pub(super) defaults: Defaults,
}

impl<'s> Node<'s> {
    pub(super) fn root(root: &'s Value, defaults: Defaults) -> Self {
        Self { root, schema: root, defaults }
    }

    fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    fn keywords(self) -> Option<&'s Map<String, Value>> {
        self.schema.as_object()
    }

    fn keyword(self, name: &str) -> Option<&'s Value> {
        self.keywords()?.get(name)
    }
}

/// Reads what a value is that all of these schemas hold for.
pub(super) fn read<'s>(nodes: &[Node<'s>]) -> Shape<'s> {
    let Some(ways) = ways_of_all(nodes, MAX_REFERENCES) else { return Shape::unknown() };
    ways.iter().map(|way| plain(way)).reduce(Shape::or).unwrap_or_else(Shape::unknown)
}

/// The ways in which all of these schemas can hold, each a list of schemas without combinations; `None` if there are too many.
fn ways_of_all<'s>(nodes: &[Node<'s>], left: usize) -> Option<Vec<Vec<Node<'s>>>> {
    let mut ways = vec![Vec::new()];
    for node in nodes {
        let more = ways_of(*node, left)?;
        if ways.len().checked_mul(more.len())? > MAX_WAYS {
            return None;
        }
        let join = |one: &Vec<Node<'s>>| {
            more.iter().map(|other| [one.as_slice(), other].concat()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(join).collect();
    }
    Some(ways)
}

fn ways_of(node: Node<'_>, left: usize) -> Option<Vec<Vec<Node<'_>>>> {
    let left = left.checked_sub(1)?;
    let mut parts = vec![vec![vec![node]]];
    if let Some(target) = node.keyword("$ref") {
        let pointer = target.as_str()?.strip_prefix('#')?;
        parts.push(ways_of(node.at(node.root.pointer(pointer)?), left)?);
    }
    for schema in node.keyword("allOf").and_then(Value::as_array).into_iter().flatten() {
        parts.push(ways_of(node.at(schema), left)?);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(schemas) = node.keyword(word).and_then(Value::as_array) {
            let ways: Option<Vec<_>> = schemas.iter().map(|schema| ways_of(node.at(schema), left)).collect();
            parts.push(ways?.concat());
        }
    }
    let mut ways = vec![Vec::new()];
    for part in parts {
        let is_long = part.iter().any(|way: &Vec<_>| way.len() > MAX_WAYS);
        if is_long || ways.len().checked_mul(part.len())? > MAX_WAYS {
            return None;
        }
        let join =
            |one: &Vec<_>| part.iter().map(|other| [one.as_slice(), other].concat()).collect::<Vec<_>>();
        ways = ways.iter().flat_map(join).collect();
    }
    Some(ways)
}

/// Reads schemas that all hold, without combinations.
fn plain<'s>(nodes: &[Node<'s>]) -> Shape<'s> {
    let mut kinds: Option<BTreeSet<&str>> = None;
    let mut texts: Option<BTreeSet<&str>> = None;
    let mut truths: Option<BTreeSet<bool>> = None;
    for node in nodes {
        if let Some(named) = named_kinds(*node) {
            kinds = Some(kinds.map_or_else(|| named.clone(), |kinds| meet(&kinds, &named)));
        }
        if let Some(values) = values_of(*node) {
            let named: BTreeSet<&str> = values.iter().map(|value| type_of(value)).collect();
            kinds = Some(kinds.map_or_else(|| named.clone(), |kinds| meet(&kinds, &named)));
            let some: BTreeSet<_> = values.iter().filter_map(|value| value.as_str()).collect();
            texts = Some(
                texts.map_or_else(|| some.clone(), |texts| texts.intersection(&some).copied().collect()),
            );
            let some: BTreeSet<_> = values.iter().filter_map(|value| value.as_bool()).collect();
            truths = Some(
                truths.map_or_else(|| some.clone(), |truths| truths.intersection(&some).copied().collect()),
            );
        }
    }
    let Some(kinds) = kinds else { return Shape::unknown() };
    let is = |kind| kinds.contains(kind);
    let number = if is("number") { Some(Digits::Any) } else { is("integer").then_some(Digits::Integer) };
    let only = |texts: BTreeSet<&str>| Texts::Only(texts.into_iter().map(str::to_owned).collect());
    let truth = |truths: BTreeSet<bool>| match (truths.first(), truths.len()) {
        (Some(answer), 1) => Truth::Always(*answer),
        _ => Truth::Either,
    };
    Shape {
        unknown: false,
        null: is("null"),
        boolean: is("boolean").then(|| truths.map_or(Truth::Either, truth)),
        number,
        text: is("string").then(|| texts.map_or(Texts::Any, only)),
        lists: if is("array") { vec![Items::Schema(nodes.to_vec())] } else { Vec::new() },
        objects: if is("object") { vec![Fields::Schema(nodes.to_vec())] } else { Vec::new() },
        absent: None,
    }
}

/// The kinds that both name; every integer is a number.
fn meet<'k>(one: &BTreeSet<&'k str>, other: &BTreeSet<&'k str>) -> BTreeSet<&'k str> {
    let has = |kinds: &BTreeSet<&str>, kind: &str| {
        kinds.contains(kind) || (kind == "integer" && kinds.contains("number"))
    };
    one.union(other).copied().filter(|kind| has(one, kind) && has(other, kind)).collect()
}

fn named_kinds(node: Node<'_>) -> Option<BTreeSet<&str>> {
    match node.keyword("type")? {
        Value::String(kind) => Some(BTreeSet::from([kind.as_str()])),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn values_of(node: Node<'_>) -> Option<Vec<&Value>> {
    match (node.keyword("const"), node.keyword("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// What an object has by a name.
pub(super) enum Found<'s> {
    /// It may have it, or has it.
    Field(Shape<'s>),
    /// It has only these.
    Nowhere(Vec<&'s str>),
}

/// Looks for a field of an object that all of these schemas hold for. Fields that no schema declares are there only if a schema
/// says so: an output is made by those who see nothing but the schema.
pub(super) fn field<'s>(nodes: &[Node<'s>], name: &str) -> Found<'s> {
    let properties = |node: &Node<'s>| node.keyword("properties").and_then(Value::as_object);
    let declared: Vec<_> =
        nodes.iter().filter_map(|node| Some(node.at(properties(node)?.get(name)?))).collect();
    if !declared.is_empty() {
        let shape = read(&declared);
        let filled = |node: &Node<'_>| node.defaults == Defaults::Filled && node.keyword("default").is_some();
        let is_there = nodes.iter().any(|node| requires(*node, name)) || declared.iter().any(filled);
        return Found::Field(if is_there { shape } else { shape.because(Absence::Optional) });
    }
    let is_there = nodes.iter().any(|node| requires(*node, name));
    let more: Vec<_> =
        nodes.iter().filter_map(|node| Some(node.at(node.keyword("additionalProperties")?))).collect();
    let known: Vec<&str> =
        nodes.iter().filter_map(properties).flat_map(|map| map.keys().map(String::as_str)).collect();
    if nodes.iter().any(|node| says_more(*node)) || (more.is_empty() && (known.is_empty() || is_there)) {
        return Found::Field(Shape::unknown());
    }
    if more.is_empty() || more.iter().any(|node| *node.schema == false) {
        return Found::Nowhere(known);
    }
    let shape = read(&more);
    Found::Field(if shape.is_open() || is_there { shape } else { shape.because(Absence::Optional) })
}

/// Tells whether the field of an object that all of these schemas hold for may be one of some values (or, if it is not to be one
/// of them, another): by the `const` or the `enum` that it has.
pub(super) fn may_be(nodes: &[Node<'_>], name: &str, values: &[Value], is_one: bool) -> bool {
    let declared: Vec<_> =
        nodes.iter().filter_map(|node| Some(node.at(node.keyword("properties")?.get(name)?))).collect();
    if declared.is_empty() {
        return !is_one || matches!(field(nodes, name), Found::Field(_));
    }
    let Some(ways) = ways_of_all(&declared, MAX_REFERENCES) else { return true };
    let is_listed = |value: &Value| values.iter().any(|other| equals(value, other));
    ways.iter().any(|way| {
        let mut listed = way.iter().filter_map(|node| values_of(*node)).peekable();
        // Where nothing is listed, it can be anything.
        listed.peek().is_none()
            || listed.all(|known| known.into_iter().any(|value| is_listed(value) == is_one))
    })
}

/// Tells whether two values may be equal in an expression, where numbers are equal however they are written.
fn equals(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_bool().map(|it| f64::from(u8::from(it))));
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Tells whether a schema has words about fields that are not followed here.
fn says_more(node: Node<'_>) -> bool {
    let words = ["patternProperties", "unevaluatedProperties"];
    words.iter().any(|word| node.keyword(word).is_some_and(|value| *value != false))
}

fn requires(node: Node<'_>, name: &str) -> bool {
    let names = node.keyword("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|required| required == name))
}

/// What all items of a list are, and how many there are at the least.
pub(super) fn items<'s>(nodes: &[Node<'s>]) -> Shape<'s> {
    let is_tuple = nodes.iter().any(|node| node.keyword("prefixItems").is_some());
    let each: Vec<_> = nodes.iter().filter_map(|node| Some(node.at(node.keyword("items")?))).collect();
    if is_tuple || each.is_empty() { Shape::unknown() } else { read(&each) }
}

/// How many items a list has at the least.
pub(super) fn least_items(nodes: &[Node<'_>]) -> u64 {
    nodes.iter().filter_map(|node| node.keyword("minItems")?.as_u64()).max().unwrap_or(0)
}

/// What the values of an object are, whatever their names.
pub(super) fn values<'s>(nodes: &[Node<'s>]) -> Shape<'s> {
    let mut shapes = Vec::new();
    for node in nodes {
        for (word, value) in node.keywords().into_iter().flatten() {
            match word.as_str() {
                "properties" => shapes.extend(
                    value.as_object().into_iter().flat_map(Map::values).map(|it| read(&[node.at(it)])),
                ),
                "additionalProperties" if *value == false => {}
                "additionalProperties" => shapes.push(read(&[node.at(value)])),
                "patternProperties" | "unevaluatedProperties" => shapes.push(Shape::unknown()),
                _ => {}
            }
        }
    }
    shapes.into_iter().reduce(Shape::or).unwrap_or_else(Shape::unknown)
}
