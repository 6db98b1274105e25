//! What holds for every schema: what it accepts and a dialect can carry, the wire accepts; `lift` brings it back exactly and
//! never does more than to remove `null`; the bytes are always the same; and every place that is named is one.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Dialect, lower};

/// What a value may be; schemas and values of it are made from the same.
#[derive(Clone, Debug)]
enum Shape {
    Text(u8),
    Integer(u8),
    Number,
    Flag,
    Listed(u8),
    /// A reference to the first or second definition.
    Named(bool),
    Maybe(Box<Shape>),
    List(Box<Shape>, u8),
    Object(Vec<(Shape, bool)>, u8),
    /// Objects that are told apart by a tag.
    Tagged(Vec<Vec<(Shape, bool)>>, bool),
    /// A text or an object.
    TextOr(Vec<(Shape, bool)>, bool),
    /// An object in two parts.
    Both(Vec<(Shape, bool)>, Vec<(Shape, bool)>),
}

/// Texts with what is demanded of them.
const TEXTS: [(&str, &str); 7] = [
    ("{}", "any"),
    ("{\"minLength\":2,\"maxLength\":5}", "four"),
    ("{\"pattern\":\"^[a-z]{2,4}$\"}", "abc"),
    ("{\"pattern\":\"^\\\\d+-\\\\w$\",\"minLength\":3}", "12-a"),
    ("{\"pattern\":\"a\"}", "xay"),
    ("{\"format\":\"date\"}", "2026-11-30"),
    ("{\"not\":{\"const\":\"b\"},\"default\":\"c\"}", "a"),
];
const INTEGERS: [(&str, i64); 5] = [
    ("{}", -4),
    ("{\"minimum\":1,\"maximum\":5}", 5),
    ("{\"exclusiveMinimum\":0,\"multipleOf\":3}", 6),
    ("{\"format\":\"uint32\",\"minimum\":0}", 7),
    ("{\"const\":9}", 9),
];

fn fields(inner: BoxedStrategy<Shape>) -> impl Strategy<Value = Vec<(Shape, bool)>> {
    prop::collection::vec((inner, any::<bool>()), 1..4)
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        (0..TEXTS.len() as u8).prop_map(Shape::Text),
        (0..INTEGERS.len() as u8).prop_map(Shape::Integer),
        Just(Shape::Number),
        Just(Shape::Flag),
        (0..4_u8).prop_map(Shape::Listed),
        any::<bool>().prop_map(Shape::Named),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let fields = || fields(inner.clone());
        prop_oneof![
            inner.clone().prop_map(|one| Shape::Maybe(one.into())),
            (inner.clone(), 0..4_u8).prop_map(|(one, bounds)| Shape::List(one.into(), bounds)),
            (fields(), 0..4_u8).prop_map(|(fields, rest)| Shape::Object(fields, rest)),
            (prop::collection::vec(fields(), 1..3), any::<bool>())
                .prop_map(|(all, one)| Shape::Tagged(all, one)),
            (fields(), any::<bool>()).prop_map(|(fields, one)| Shape::TextOr(fields, one)),
            (fields(), fields()).prop_map(|(a, b)| Shape::Both(a, b)),
        ]
    })
}

/// The two definitions, which never refer to each other.
fn definitions() -> [Shape; 2] {
    let object = vec![(Shape::Text(1), false), (Shape::Maybe(Shape::Flag.into()), false)];
    [Shape::Listed(1), Shape::Object(object, 1)]
}

fn with(mut schema: Value, more: &str) -> Value {
    let more: Map<String, Value> = serde_json::from_str(more).unwrap();
    schema.as_object_mut().unwrap().extend(more);
    schema
}

fn object(prefix: &str, fields: &[(Shape, bool)]) -> Value {
    let named =
        || fields.iter().enumerate().map(|(index, (shape, must))| (format!("{prefix}{index}"), shape, *must));
    let properties: Map<String, Value> = named().map(|(name, shape, _)| (name, schema(shape))).collect();
    let required: Vec<_> = named().filter(|(.., must)| *must).map(|(name, ..)| name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn alternatives(exact: bool, all: &[Value]) -> Value {
    if exact { json!({ "oneOf": all }) } else { json!({ "anyOf": all }) }
}

fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::Text(kind) => with(json!({ "type": "string" }), TEXTS[*kind as usize].0),
        Shape::Integer(kind) => with(json!({ "type": "integer" }), INTEGERS[*kind as usize].0),
        Shape::Number => json!({ "type": "number", "minimum": 0.5, "description": "Some" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Listed(0) => {
            json!({ "oneOf": [{ "const": "a", "description": "first" }, { "enum": ["b", "c"] }] })
        }
        Shape::Listed(1) => json!({ "type": "string", "enum": ["b", "a"] }),
        Shape::Listed(2) => json!({ "enum": [1, "a", null] }),
        Shape::Listed(_) => json!({ "const": true }),
        Shape::Named(second) => {
            let name = if *second { "B" } else { "A" };
            json!({ "description": "Named", "$ref": format!("#/$defs/{name}") })
        }
        Shape::Maybe(one) => json!({ "anyOf": [schema(one), { "type": "null" }] }),
        Shape::List(one, bounds) => with(
            json!({ "type": "array", "items": schema(one) }),
            ["{}", "{\"minItems\":1}", "{\"maxItems\":3}", "{\"uniqueItems\":true}"][*bounds as usize],
        ),
        Shape::Object(fields, rest) => with(
            object("f", fields),
            ["{}", "{\"additionalProperties\":false}", "{\"maxProperties\":9}", "{\"title\":\"T\"}"]
                [*rest as usize],
        ),
        Shape::Tagged(all, exact) => {
            let branch = |(index, fields): (usize, &Vec<(Shape, bool)>)| {
                let mut branch = object("f", fields);
                branch["properties"]["kind"] = json!({ "type": "string", "const": format!("k{index}") });
                branch["required"].as_array_mut().unwrap().push(json!("kind"));
                branch
            };
            alternatives(*exact, &all.iter().enumerate().map(branch).collect::<Vec<_>>())
        }
        Shape::TextOr(fields, exact) => {
            alternatives(*exact, &[json!({ "type": "string" }), object("f", fields)])
        }
        Shape::Both(a, b) => json!({ "allOf": [object("a", a), object("b", b)] }),
    }
}

/// Tells whether `null` is a value: then it cannot stand for nothing, too.
fn may_be_null(shape: &Shape) -> bool {
    matches!(shape, Shape::Maybe(_) | Shape::Listed(2))
}

/// Draws numbers, as long as there are some.
struct Draw(std::vec::IntoIter<u8>);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0.next().map_or(0, usize::from) % most
    }

    fn object(&mut self, prefix: &str, fields: &[(Shape, bool)]) -> Map<String, Value> {
        let mut object = Map::new();
        for (index, (shape, must)) in fields.iter().enumerate() {
            if *must || may_be_null(shape) || self.below(2) == 0 {
                object.insert(format!("{prefix}{index}"), self.value(shape));
            }
        }
        object
    }

    fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Text(kind) => json!(TEXTS[*kind as usize].1),
            Shape::Integer(kind) => json!(INTEGERS[*kind as usize].1),
            Shape::Number => json!(2.5),
            Shape::Flag => json!(self.below(2) == 0),
            Shape::Listed(0) => json!(["a", "c"][self.below(2)]),
            Shape::Listed(1) => json!(["a", "b"][self.below(2)]),
            Shape::Listed(2) => [json!(1), json!("a"), json!(null)][self.below(3)].clone(),
            Shape::Listed(_) => json!(true),
            Shape::Named(second) => self.value(&definitions()[usize::from(*second)]),
            Shape::Maybe(_) if self.below(2) == 0 => Value::Null,
            Shape::Maybe(one) => self.value(one),
            Shape::List(one, _) => (0..=self.below(2)).map(|_| self.value(one)).collect(),
            Shape::Object(fields, _) => self.object("f", fields).into(),
            Shape::Tagged(all, _) => {
                let index = self.below(all.len());
                let mut object = self.object("f", &all[index]);
                object.insert("kind".into(), json!(format!("k{index}")));
                object.into()
            }
            Shape::TextOr(fields, _) => {
                if self.below(3) == 0 {
                    json!("text")
                } else {
                    self.object("f", fields).into()
                }
            }
            Shape::Both(a, b) => {
                let mut object = self.object("a", a);
                object.extend(self.object("b", b));
                object.into()
            }
        }
    }
}

fn document(root: &[(Shape, bool)]) -> Value {
    let [a, b] = definitions();
    let mut document = object("r", root);
    document["$defs"] = json!({ "A": schema(&a), "B": schema(&b) });
    document
}

fn cases() -> impl Strategy<Value = (Value, Value)> {
    let root = prop::collection::vec((shape(), any::<bool>()), 1..4);
    (root, prop::collection::vec(any::<u8>(), 40))
        .prop_map(|(root, draws)| (document(&root), Draw(draws.into_iter()).object("r", &root).into()))
}

/// A copy in the hands of whoever fills it in.
struct Wire<'w> {
    root: &'w Value,
}

impl Wire<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let mut document = json!({ "allOf": [schema] });
        if let Some(definitions) = self.root.get("$defs") {
            document["$defs"] = definitions.clone();
        }
        jsonschema::is_valid(&document, value)
    }

    /// Puts `null` where the copy wants something and the value has nothing.
    fn filled(&self, schema: &Value, value: &Value) -> Value {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.filled(self.root.pointer(&reference[1..]).unwrap(), value);
        }
        if let Some(all) = schema.get("anyOf").and_then(Value::as_array) {
            let filled = all.iter().map(|one| (one, self.filled(one, value)));
            let fitting = filled.into_iter().find(|(one, filled)| self.accepts(one, filled));
            return fitting.map_or_else(|| value.clone(), |(_, filled)| filled);
        }
        match value {
            Value::Object(fields) => {
                let mut filled = fields.clone();
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    if let Some(field) = filled.get_mut(name) {
                        *field = self.filled(schema, field);
                    }
                }
                for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    filled.entry(name).or_insert(Value::Null);
                }
                filled.into()
            }
            Value::Array(items) => items.iter().map(|item| self.filled(&schema["items"], item)).collect(),
            scalar => scalar.clone(),
        }
    }
}

/// Tells whether one value is another without some of the `null`s in its objects.
fn only_lacks_nulls(after: &Value, before: &Value) -> bool {
    match (after, before) {
        (Value::Object(after), Value::Object(before)) => {
            let kept = before.iter().all(|(name, before)| match after.get(name) {
                Some(after) => only_lacks_nulls(after, before),
                None => before.is_null(),
            });
            kept && after.keys().all(|name| before.contains_key(name))
        }
        (Value::Array(after), Value::Array(before)) => {
            after.len() == before.len()
                && after.iter().zip(before).all(|(after, before)| only_lacks_nulls(after, before))
        }
        (after, before) => after == before,
    }
}

/// Puts `null` in places that have something else.
fn nulled(value: &Value, draw: &mut Draw) -> Value {
    match value {
        _ if draw.below(5) == 0 => Value::Null,
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), nulled(field, draw))).collect()
        }
        Value::Array(items) => items.iter().map(|item| nulled(item, draw)).collect(),
        scalar => scalar.clone(),
    }
}

proptest! {
    #[test]
    fn what_the_schema_accepts_the_wire_carries_there_and_back((schema, value) in cases()) {
        prop_assume!(jsonschema::is_valid(&schema, &value));
        for dialect in Dialect::ALL {
            let lowering = lower(&schema, dialect);
            if !lowering.is_sendable() {
                continue;
            }
            // Where `oneOf` is sent, it is read as `anyOf`.
            let text = lowering.wire.to_string();
            let read = if dialect == Dialect::ClaudeCode { text } else { text.replace("\"oneOf\"", "\"anyOf\"") };
            let read: Value = serde_json::from_str(&read).unwrap();
            let sent = Wire { root: &read }.filled(&read, &value);
            prop_assert!(jsonschema::is_valid(&read, &sent), "{dialect}: {schema}\n{read}\n{sent}");
            prop_assert_eq!(&lowering.lift(sent), &value, "{}: {}", dialect, read);
        }
    }

    #[test]
    fn an_answer_loses_nothing_but_nulls((schema, value) in cases(), draws in prop::collection::vec(any::<u8>(), 60)) {
        let answer = nulled(&value, &mut Draw(draws.into_iter()));
        for dialect in Dialect::ALL {
            let lifted = lower(&schema, dialect).lift(answer.clone());
            prop_assert!(only_lacks_nulls(&lifted, &answer), "{dialect}: {schema}\n{answer}\n{lifted}");
        }
    }

    #[test]
    fn the_same_schema_gives_the_same_bytes_and_every_place_is_one((schema, _) in cases()) {
        for dialect in Dialect::ALL {
            let lowering = lower(&schema, dialect);
            prop_assert_eq!(json!(lower(&schema, dialect)).to_string(), json!(lowering).to_string());
            let moved = lowering.moved.iter().map(|moved| &moved.pointer);
            for pointer in moved.chain(lowering.refused.iter().map(|refusal| &refusal.pointer)) {
                prop_assert!(schema.pointer(pointer).is_some(), "{pointer} is nowhere in {schema}");
            }
        }
    }
}
