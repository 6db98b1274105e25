//! Templates that are made at random, over outputs that are made at random by schemas that are: what the check finds nothing in
//! never fails for something that is not there.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::super::definition::{Text, Workflow, WorkflowVersion};
use super::super::super::expression::{Scope, render};
use super::{model, typed};

/// Choices that were made, one after the other; when they are used up the first of what there is is chosen.
struct Choices<'b> {
    bytes: &'b [u8],
}

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*first) % count.max(1)
    }

    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.of(of.len())]
    }
}

const FIELDS: &[&str] = &["a", "b", "c", "d"];

fn schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.of(if depth == 0 { 6 } else { 11 }) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "string", "enum": ["x", "y"] }),
        2 => json!({ "type": "integer" }),
        3 => json!({ "type": "boolean" }),
        4 => json!({ "type": ["string", "null"] }),
        5 => json!({ "type": "number" }),
        6 => json!({ "type": "array", "items": schema(choices, depth - 1), "minItems": choices.of(2) }),
        7 => json!({ "anyOf": [object(choices, depth - 1), { "type": "null" }] }),
        8 => json!({ "anyOf": [object(choices, depth - 1), object(choices, depth - 1)] }),
        9 => json!({ "type": "object", "additionalProperties": schema(choices, depth - 1) }),
        _ => object(choices, depth - 1),
    }
}

fn object(choices: &mut Choices<'_>, depth: usize) -> Value {
    let names = &FIELDS[..1 + choices.of(FIELDS.len())];
    let fields: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), schema(choices, depth))).collect();
    let required: Vec<&str> = names.iter().copied().filter(|_| choices.of(2) == 0).collect();
    json!({ "type": "object", "properties": fields, "required": required })
}

/// A value that fits a schema.
fn value(schema: &Value, choices: &mut Choices<'_>) -> Value {
    if let Some(kinds) = schema["anyOf"].as_array() {
        return value(&kinds[choices.of(kinds.len())], choices);
    }
    if schema["enum"].is_array() {
        return json!(choices.one(&["x", "y"]));
    }
    match schema["type"].as_str() {
        Some("string") => json!(choices.one(&["", "text", "x"])),
        Some("integer") => json!(choices.of(3)),
        Some("number") => json!([0.0, 1.5][choices.of(2)]),
        Some("boolean") => json!(choices.of(2) == 1),
        Some("null") => Value::Null,
        Some("array") => {
            let count = usize::try_from(schema["minItems"].as_u64().unwrap()).unwrap() + choices.of(2);
            (0..count).map(|_| value(&schema["items"], choices)).collect()
        }
        Some("object") => fields(schema, choices),
        _ => [Value::Null, json!("text")][choices.of(2)].clone(),
    }
}

fn fields(schema: &Value, choices: &mut Choices<'_>) -> Value {
    if schema["additionalProperties"].is_object() {
        let present: Vec<_> = FIELDS.iter().filter(|_| choices.of(2) == 1).collect();
        let pairs = present
            .into_iter()
            .map(|name| ((*name).to_owned(), value(&schema["additionalProperties"], choices)));
        return Value::Object(pairs.collect());
    }
    let required = schema["required"].as_array().unwrap();
    let mut fields = Map::new();
    for (name, schema) in schema["properties"].as_object().unwrap() {
        if required.iter().any(|other| other == name) || choices.of(2) == 1 {
            fields.insert(name.clone(), value(schema, choices));
        }
    }
    Value::Object(fields)
}

/// What a template reads, mostly something that the schema has.
fn path(schema: &Value, from: &str, choices: &mut Choices<'_>) -> String {
    let (mut schema, mut path) = (schema, from.to_owned());
    for _ in 0..choices.of(4) {
        if let Some(kinds) = schema["anyOf"].as_array() {
            schema = &kinds[choices.of(kinds.len())];
        }
        if let Some(fields) = schema["properties"].as_object() {
            let (name, next) = fields.iter().nth(choices.of(fields.len())).unwrap();
            path.push_str(&[format!(".{name}"), format!("['{name}']")][choices.of(2)]);
            schema = next;
        } else if schema["additionalProperties"].is_object() {
            path.push_str(".b");
            schema = &schema["additionalProperties"];
        } else if schema["items"].is_object() {
            path.push_str("[0]");
            schema = &schema["items"];
        }
    }
    path
}

/// A template; the paths in it are used more than once, so that what was asked for is read.
fn template(schema: &Value, choices: &mut Choices<'_>) -> String {
    let p = path(schema, "s", choices);
    let q =
        if choices.of(3) == 0 { path(schema, "s", choices) } else { format!("{p}.{}", choices.one(FIELDS)) };
    let r = if choices.of(2) == 0 { p.clone() } else { q.clone() };
    let test = choices.one(&[
        "P is defined",
        "Q is defined",
        "P is not defined",
        "P",
        "P is not none",
        "P != none",
        "P == 'x'",
        "not P",
        "P is defined and Q is defined",
        "P is undefined or Q is undefined",
        "P|length > 0",
        "P is defined and P",
        "P is defined and P is mapping",
        "P is string",
        "(P|default(none)) is none",
        "P is defined and P is not none",
    ]);
    let shape = choices.one(&[
        "{{ R }}",
        "{{ P|default('x') }}",
        "{{ Q|default('x') }}",
        "{% if T %}{{ R }}{% else %}{{ P }}{% endif %}",
        "{% if T %}{{ R }}{% endif %}",
        "{% if T %}{% else %}{{ R }}{% endif %}",
        "{{ R if T else 1 }}",
        "{{ (T) and R == 'x' }}",
        "{{ not (T) or R == 'x' }}",
        "{% if T %}{{ R|default('') }}{% endif %}",
        "{% for i in P %}{{ i }}{% endfor %}",
        "{% for i in P %}{{ i.a }}{{ R }}{% endfor %}",
        "{% for i in P if i.a is defined %}{{ i.a }}{% endfor %}",
        "{% for k, v in P|items %}{{ v }}{{ v.a }}{% endfor %}",
        "{% if T %}{% for P in [1] %}{{ R }}{% endfor %}{% endif %}",
        "{{ P|first }}",
        "{{ (P|first)|default(1) }}",
        "{% if T %}{{ P|first }}{% endif %}",
        "{{ P|map(attribute='a')|list }}",
        "{{ [P, Q]|tojson }}",
        "{{ P[:1] }}",
        "{{ R|string }}",
        "{{ R in ['x'] }}",
        "{{ P and Q }}",
        "{{ P or Q }}",
        "{% if T %}{% if P %}{{ R }}{% endif %}{% endif %}",
    ]);
    shape.replace('T', test).replace('R', &r).replace('Q', &q).replace('P', &p)
}

proptest! {
    #[test]
    fn what_is_accepted_never_misses_anything(
        shape in proptest::collection::vec(any::<u8>(), 0..60),
        words in proptest::collection::vec(any::<u8>(), 0..40),
        filling in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let schema = object(&mut Choices { bytes: &shape }, 3);
        let mut words = Choices { bytes: &words };
        for _ in 0..4 {
            let template = template(&schema, &mut words);
            let made = Workflow::new("generated").step(typed("s", schema.clone())).step(model("next", &template));
            if !made.check().as_slice().is_empty() {
                continue;
            }
            let values = json!({ "s": value(&schema, &mut Choices { bytes: &filling }) });
            let Value::Object(values) = values else { unreachable!() };
            if let Err(message) = render(&Text::of(template.as_str()), WorkflowVersion::V1_1, &Scope { values: values.clone() }) {
                let shown = serde_json::to_string(&values).unwrap();
                prop_assert!(!message.contains("not there"), "{template}\n{message}\n{schema}\n{shown}");
            }
        }
    }
}
