//! The keywords of JSON Schema, and what kind of value each of them takes.
//!
//! A keyword that is not listed says nothing about a value: whoever judges passes over it, and so does a copy.

use std::collections::HashSet;

use serde_json::Value;

use crate::output::schema::type_of;

/// What kind of value a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One or more names of types.
    Types,
    /// A whole number from zero.
    Size,
    Number,
    /// A number above zero.
    Step,
    Text,
    Flag,
    /// A list of names.
    Names,
    /// A list of values, with at least one.
    Values,
    /// Lists of names, by name.
    NamesByName,
    Anything,
    Schema,
    /// A list of schemas, with at least one.
    Schemas,
    SchemasByName,
}

/// Keywords that describe a value and demand nothing of it.
pub(super) const NOTES: [&str; 7] =
    ["title", "description", "default", "deprecated", "contentEncoding", "contentMediaType", "contentSchema"];

/// Keywords by which a schema is made of others, or refers to them.
const JOINTS: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// Returns what kind of value a keyword takes, or nothing if it is none that says something about a value.
pub(super) fn kind(keyword: &str) -> Option<Kind> {
    Some(match keyword {
        "type" => Kind::Types,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Kind::Size,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Kind::Number,
        "multipleOf" => Kind::Step,
        "$ref" | "$dynamicRef" | "$recursiveRef" | "$id" | "title" | "description" | "pattern" | "format"
        | "contentEncoding" | "contentMediaType" => Kind::Text,
        "uniqueItems" | "deprecated" => Kind::Flag,
        "required" => Kind::Names,
        "enum" => Kind::Values,
        "dependentRequired" => Kind::NamesByName,
        "const" | "default" | "dependencies" => Kind::Anything,
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Kind::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Kind::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Kind::SchemasByName,
        _ => return None,
    })
}

/// Tells whether a keyword demands something of a value by itself.
pub(super) fn demands(keyword: &str) -> bool {
    !NOTES.contains(&keyword) && !JOINTS.contains(&keyword)
}

impl Kind {
    /// Says what is wrong with a value of a keyword, as a fragment.
    pub(super) fn fault(self, value: &Value) -> Option<&'static str> {
        let (fits, fault) = match self {
            Self::Types => (Types::read(value).is_some(), "is neither a type nor a list of types"),
            Self::Size => (size(value).is_some(), "is not a whole number from zero"),
            Self::Number => (value.is_number(), "is not a number"),
            Self::Step => (value.as_f64().is_some_and(|step| step > 0.0), "is not a number above zero"),
            Self::Text => (value.is_string(), "is not a text"),
            Self::Flag => (value.is_boolean(), "is neither true nor false"),
            Self::Names => (is_names(value), "is not a list of names"),
            Self::Values => (has_some(value), "is not a list of values"),
            Self::NamesByName => {
                let lists = value.as_object();
                (
                    lists.is_some_and(|lists| lists.values().all(is_names)),
                    "is not a list of names for each name",
                )
            }
            Self::Anything => (true, ""),
            Self::Schema => (value.is_object() || value.is_boolean(), "is not a schema"),
            Self::Schemas => (has_some(value), "is not a list of schemas"),
            Self::SchemasByName => (value.is_object(), "is not a schema for each name"),
        };
        (!fits).then_some(fault)
    }
}

/// Reads a whole number from zero, which may be written as `3.0`.
pub(super) fn size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number))?;
        Some(number as u64)
    })
}

/// How exactly numbers are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Exact,
    /// As doubles, which is what JavaScript has.
    Doubles,
}

/// Writes a value so that two are written alike if, and only if, they are the same value.
pub(super) fn canonical(value: &Value, numbers: Numbers) -> String {
    match value {
        Value::Number(number) => {
            let is_exact = numbers == Numbers::Exact && !number.is_f64();
            let double = number.as_f64().filter(|_| !is_exact);
            // Zero has a sign in a double and none in JSON Schema.
            double.map_or_else(|| number.to_string(), |double| (double + 0.0).to_string())
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| canonical(item, numbers)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(value, numbers))
            };
            let mut fields: Vec<_> = fields.iter().map(field).collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

fn has_some(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty())
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

/// A set of types, in the order in which they were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Types(Vec<&'static str>);

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

impl Types {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let known = |value: &Value| TYPES.into_iter().find(|known| value == known);
        match value {
            Value::Array(list) => {
                let types: Vec<_> = list.iter().map(known).collect::<Option<_>>()?;
                let distinct: HashSet<_> = types.iter().collect();
                (!types.is_empty() && distinct.len() == types.len()).then_some(Self(types))
            }
            one => Some(Self(vec![known(one)?])),
        }
    }

    /// All types that there are; integers are numbers.
    pub(super) fn all() -> Self {
        Self(TYPES.into_iter().filter(|name| *name != "integer").collect())
    }

    /// The types that values have, each once.
    pub(super) fn of_values<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut types = Vec::new();
        for value in values {
            let name = type_of(value);
            if !types.contains(&name) {
                types.push(name);
            }
        }
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        Self(types)
    }

    pub(super) fn to_value(&self) -> Value {
        match self.0.as_slice() {
            [one] => Value::from(*one),
            several => Value::from(several.to_vec()),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// Tells whether this is the only type.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.0 == [name]
    }

    /// Tells whether this is the only type beside `null`.
    pub(super) fn is_only_or_null(&self, name: &str) -> bool {
        self.has(name) && self.0.iter().all(|other| [name, "null"].contains(other))
    }

    /// Returns these and `null`.
    pub(super) fn or_null(mut self) -> Self {
        if !self.has("null") {
            self.0.push("null");
        }
        self
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn admits(&self, value: &Value) -> bool {
        match type_of(value) {
            "integer" => self.has("integer") || self.has("number"),
            "number" if value.as_f64().is_some_and(|number| number.fract() == 0.0) => {
                self.has("integer") || self.has("number")
            }
            name => self.has(name),
        }
    }

    /// Returns the types of both sets; none may be left.
    pub(super) fn common(&self, other: &Self) -> Self {
        let admitted = |name: &'static str| {
            if other.has(name) {
                return Some(name);
            }
            match name {
                "integer" if other.has("number") => Some("integer"),
                "number" if other.has("integer") && !self.has("integer") => Some("integer"),
                _ => None,
            }
        };
        Self(self.0.iter().filter_map(|name| admitted(name)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
