//! Walks a schema and holds every keyword of it to the rules of a service.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::grammar;

/// What a service takes of JSON Schema.
pub(super) struct Rules {
    /// The keywords that it takes, and what of each.
    pub(super) keywords: &'static [(&'static str, Takes)],
    /// Whether every object has to forbid other properties.
    pub(super) objects: Objects,
    /// Whether references may lead back to where they came from.
    pub(super) cycles: Cycles,
    /// The most optional properties, and the most unions.
    pub(super) limits: Option<(usize, usize)>,
    pub(super) makes: Makes,
}

/// What a service makes of a schema, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    Something,
    /// A grammar, by the converter of llama.cpp.
    Grammar,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    MayBeOpen,
    Closed,
    /// Closed, and every property is required.
    ClosedAndWhole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cycles {
    Taken,
    Refused,
}

/// What of a keyword is taken. The object that it stands in is there to be looked at.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Anything,
    /// A value of which this holds.
    If(fn(&Value, &Map<String, Value>) -> bool),
    /// A schema.
    Schema,
    /// A schema or a truth value.
    SchemaOrBool,
    /// Schemas by name.
    Schemas,
    /// A list of schemas, if this holds of the object.
    ListIf(fn(&Map<String, Value>) -> bool),
}

struct Walk<'s> {
    rules: &'s Rules,
    root: &'s Value,
    optional: usize,
    unions: usize,
    /// The references that are being followed, each with its place.
    following: Vec<(String, String)>,
    /// The rules of a grammar that references are looked up by.
    rules_of: HashMap<String, String>,
}

/// # Errors
/// The first thing that the service would not take, and where.
pub(super) fn judge_schema(schema: &Value, rules: &Rules) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err("the root must be an object".to_owned());
    }
    let mut walk =
        Walk { rules, root: schema, optional: 0, unions: 0, following: Vec::new(), rules_of: HashMap::new() };
    walk.node(schema, "")?;
    match rules.limits {
        Some((optional, unions)) if walk.optional > optional || walk.unions > unions => {
            Err("Schema is too complex for compilation".to_owned())
        }
        _ => Ok(()),
    }
}

impl Walk<'_> {
    fn node(&mut self, schema: &Value, at: &str) -> Result<(), String> {
        let Some(object) = schema.as_object() else {
            return Err(format!("at `{at}`: a schema must be an object"));
        };
        for (keyword, value) in object {
            self.keyword(keyword, value, object, at)?;
        }
        if let Some(reference) = object.get("$ref") {
            self.follow(reference.as_str().unwrap_or_default(), at)?;
        }
        if object.get("type").is_some_and(Value::is_array) || object.contains_key("anyOf") {
            self.unions += 1;
        }
        let of_object =
            object.contains_key("properties") || object.get("type").is_some_and(|kind| kind == "object");
        if of_object { self.object(object, at) } else { Ok(()) }
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        object: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        let refused = || Err(format!("at `{at}`: '{keyword}' is not permitted"));
        let Some((_, takes)) = self.rules.keywords.iter().find(|(known, _)| *known == keyword) else {
            return refused();
        };
        let below = format!("{at}/{keyword}");
        match takes {
            Takes::Anything => Ok(()),
            Takes::If(holds) if holds(value, object) => Ok(()),
            Takes::If(_) => refused(),
            Takes::SchemaOrBool if value.is_boolean() => Ok(()),
            Takes::Schema | Takes::SchemaOrBool => self.node(value, &below),
            Takes::Schemas => {
                let Some(schemas) = value.as_object() else { return refused() };
                schemas.iter().try_for_each(|(name, schema)| self.node(schema, &format!("{below}/{name}")))
            }
            Takes::ListIf(holds) if holds(object) => {
                let Some(schemas) = value.as_array().filter(|schemas| !schemas.is_empty()) else {
                    return refused();
                };
                schemas
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, schema)| self.node(schema, &format!("{below}/{i}")))
            }
            Takes::ListIf(_) => refused(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, at: &str) -> Result<(), String> {
        let properties: Vec<_> =
            object.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
        let required: Vec<_> =
            object.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        if self.rules.makes == Makes::Grammar
            && let Some(name) = properties.iter().find(|name| !grammar::is_name(name, at, object))
        {
            return Err(format!("at `{at}`: no rule can be made of the name `{name}`"));
        }
        let optional = properties.iter().filter(|name| !required.iter().any(|other| other == *name)).count();
        self.optional += optional;
        let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
        match self.rules.objects {
            Objects::Closed | Objects::ClosedAndWhole if !closed => {
                Err(format!("at `{at}`: 'additionalProperties' is required to be supplied and to be false"))
            }
            Objects::ClosedAndWhole if optional > 0 => Err(format!(
                "at `{at}`: 'required' is required to be supplied and to be an array including every key in properties"
            )),
            _ => Ok(()),
        }
    }

    /// References lead into the schema itself, to something, and back to themselves only where that is taken.
    fn follow(&mut self, reference: &str, at: &str) -> Result<(), String> {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.cloned() else {
            return Err(format!("at `{at}`: cannot resolve $ref {reference}"));
        };
        if self.rules.makes == Makes::Grammar {
            let rule = grammar::rule_of(reference);
            let first = self.rules_of.entry(rule).or_insert_with(|| reference.to_owned());
            if first != reference {
                return Err(format!("at `{at}`: {reference} has the rule of {first}"));
            }
        }
        if let Some((_, from)) = self.following.iter().find(|(other, _)| other == reference) {
            let is_left =
                self.rules.makes == Makes::Grammar && grammar::begins_with_itself(&at[from.len()..]);
            return match self.rules.cycles {
                Cycles::Taken if is_left => Err(format!("at `{at}`: left recursion detected")),
                Cycles::Taken => Ok(()),
                Cycles::Refused => Err(format!("at `{at}`: recursive schemas are not supported")),
            };
        }
        self.following.push((reference.to_owned(), at.to_owned()));
        // What is behind it is counted where it stands; here it only matters where it leads.
        let (optional, unions) = (self.optional, self.unions);
        let followed = self.node(&target, at);
        (self.optional, self.unions) = (optional, unions);
        self.following.pop();
        followed
    }
}
