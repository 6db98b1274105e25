//! The keywords of an output schema: a part of JSON Schema that says what a value is and leaves nothing open.

use super::{Group, Key, Shape};

/// The kinds of values that JSON has.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "object", "array", "null"];

/// The keywords of each part of an output schema.
pub(in crate::workflow::document) static SCHEMA_NODE: Group =
    Group { what: "a schema", keys: KEYS, needed: None };

pub(super) const KEYS: &[Key] = &[
    Key::new("type", Shape::OneOrMore(TYPES), "What kind of value it is; a list if it is one of several."),
    Key::new("title", Shape::Text, "A name for it."),
    Key::new("description", Shape::Text, "What it is; a model reads it."),
    Key::new("default", Shape::Anything, "What stands in the place of a field that is absent."),
    Key::new("enum", Shape::List(&Shape::Scalar), "The values that it can have."),
    Key::new("const", Shape::Scalar, "The one value that it can have."),
    Key::new("format", Shape::Choice(&["multiline"]), "That a text has several lines."),
    Key::new("minimum", Shape::AnyNumber, "The least number."),
    Key::new("maximum", Shape::AnyNumber, "The greatest number."),
    Key::new("exclusiveMinimum", Shape::AnyNumber, "What a number has to be above."),
    Key::new("exclusiveMaximum", Shape::AnyNumber, "What a number has to be below."),
    Key::new("minLength", COUNT, "The fewest characters of a text."),
    Key::new("maxLength", COUNT, "The most characters of a text."),
    Key::new("pattern", Shape::Text, "A regular expression that is found in a text."),
    Key::new("properties", Shape::Named(&Shape::SchemaNode), "The fields of an object."),
    Key::new("required", Shape::List(&Shape::Text), "The fields that an object has to have."),
    Key::new("items", Shape::SchemaNode, "What each item of an array is."),
    Key::new("minItems", COUNT, "The fewest items of an array."),
    Key::new("maxItems", COUNT, "The most items of an array."),
    Key::new("uniqueItems", Shape::Boolean, "Whether all items of an array have to be different."),
    Key::new("anyOf", Shape::List(&Shape::SchemaNode), "Alternatives, one of which it has to be at least."),
    Key::new("oneOf", Shape::List(&Shape::SchemaNode), "Alternatives, exactly one of which it has to be."),
];

/// A length or a number of items.
const COUNT: Shape = Shape::Whole(0, 1 << 32);

/// Keywords that are about values of some types only, which have to be said beside them.
pub(in crate::workflow::document) const ABOUT: &[(&str, &[&str])] = &[
    ("minimum", &["number", "integer"]),
    ("maximum", &["number", "integer"]),
    ("exclusiveMinimum", &["number", "integer"]),
    ("exclusiveMaximum", &["number", "integer"]),
    ("minLength", &["string"]),
    ("maxLength", &["string"]),
    ("pattern", &["string"]),
    ("format", &["string"]),
    ("properties", &["object"]),
    ("required", &["object"]),
    ("items", &["array"]),
    ("minItems", &["array"]),
    ("maxItems", &["array"]),
    ("uniqueItems", &["array"]),
];

/// Keywords of which each says on its own what a value is, so that one of them has to be there.
pub(in crate::workflow::document) const SAYING: [&str; 5] = ["type", "enum", "const", "anyOf", "oneOf"];

/// The keywords that list alternatives.
pub(in crate::workflow::document) const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// What may stand beside them: the alternatives say the rest.
pub(in crate::workflow::document) const BESIDE_UNIONS: &[&str] = &["title", "description", "default"];
