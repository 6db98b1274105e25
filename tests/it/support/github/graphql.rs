//! GitHub's GraphQL interface: a query is held to the schema field by field, and gets what it asks for and nothing else.
//!
//! The schema is a part of the public one (`tests/fixtures/github/schema.graphql`). Lists are connections, whose pages are as
//! <https://docs.github.com/en/graphql/guides/using-pagination-in-the-graphql-api> describes them.

use graphql_parser::query::{
    Definition, Document, Field, OperationDefinition, Selection, SelectionSet, parse_query,
};
use graphql_parser::schema::{self, TypeDefinition, parse_schema};
use serde_json::{Map, Value, json};

use super::scene::Scene;

/// The part of the schema.
const SCHEMA: &str = include_str!("../../../fixtures/github/schema.graphql");

/// What GraphQL says, and what was posted by it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Value,
    pub(super) reply: Option<Value>,
}

/// Answers a query in the presence of `scene`, with at most so many on a page.
pub(super) fn answer(scene: &Scene, page_size: usize, asked: &Value) -> Answer {
    let mut desk = Desk { scene, page_size, variables: &asked["variables"], types: types(), reply: None };
    match desk.run(asked["query"].as_str().unwrap_or_default()) {
        Ok(data) => Answer { body: json!({ "data": data }), reply: desk.reply },
        Err(error) => Answer { body: json!({ "data": null, "errors": [error] }), reply: None },
    }
}

type Type = TypeDefinition<'static, String>;

fn types() -> Vec<Type> {
    let schema = parse_schema::<String>(SCHEMA).expect("the schema is one").into_static();
    let definitions = schema.definitions.into_iter().filter_map(|definition| match definition {
        schema::Definition::TypeDefinition(definition) => Some(definition),
        _ => None,
    });
    definitions.collect()
}

struct Desk<'d> {
    scene: &'d Scene,
    page_size: usize,
    variables: &'d Value,
    types: Vec<Type>,
    reply: Option<Value>,
}

impl Desk<'_> {
    fn run(&mut self, query: &str) -> Result<Value, Value> {
        let document: Document<'_, String> = parse_query(query).map_err(|error| said(&error.to_string()))?;
        let [Definition::Operation(operation)] = &document.definitions[..] else {
            return Err(said("one operation is wanted"));
        };
        match operation {
            OperationDefinition::Query(query) => {
                let root = json!({ "__typename": "Query" });
                self.select(&query.selection_set, "Query", &root)
            }
            OperationDefinition::Mutation(mutation) => {
                let root = json!({ "__typename": "Mutation" });
                self.select(&mutation.selection_set, "Mutation", &root)
            }
            _ => Err(said("a query or a mutation is wanted")),
        }
    }

    /// The fields of a value that a selection names.
    fn select(
        &mut self,
        selection: &SelectionSet<'_, String>,
        kind: &str,
        value: &Value,
    ) -> Result<Value, Value> {
        let mut selected = Map::new();
        for item in &selection.items {
            match item {
                Selection::Field(field) => {
                    selected.insert(field.name.clone(), self.field(field, kind, value)?);
                }
                Selection::InlineFragment(fragment) => {
                    let on = fragment.type_condition.as_ref().map(ToString::to_string).unwrap_or_default();
                    let on = on.trim_start_matches("on ");
                    if value["__typename"] == on
                        && let Value::Object(more) = self.select(&fragment.selection_set, on, value)?
                    {
                        selected.extend(more);
                    }
                }
                Selection::FragmentSpread(_) => return Err(said("no fragment has a name here")),
            }
        }
        Ok(Value::Object(selected))
    }

    fn field(&mut self, field: &Field<'_, String>, kind: &str, value: &Value) -> Result<Value, Value> {
        let definition = self.definition(kind, &field.name)?;
        let arguments = self.arguments(field, &definition)?;
        let of = named(&definition.field_type);
        let found = match (kind, field.name.as_str()) {
            ("Query", "repository") => self.repository(&arguments)?,
            ("Query", "node") => self.node(&arguments),
            ("Repository", "pullRequest") => self.pull_request(&arguments)?,
            ("Mutation", "addPullRequestReviewThreadReply") => self.add_reply(&arguments["input"])?,
            _ if of.ends_with("Connection") => self.page(&value[&field.name], &arguments)?,
            _ => value[&field.name].clone(),
        };
        self.shape(field, &of, &found)
    }

    /// A value in the shape of its type: a leaf, an object of which fields are asked for, or a list of them.
    fn shape(&mut self, field: &Field<'_, String>, of: &str, found: &Value) -> Result<Value, Value> {
        let is_object =
            matches!(self.find(of), Some(TypeDefinition::Object(_) | TypeDefinition::Interface(_)));
        if is_object == field.selection_set.items.is_empty() {
            return Err(said(&format!("Field '{}' of '{of}' has no such selections", field.name)));
        }
        match found {
            found if !is_object => Ok(found.clone()),
            Value::Null => Ok(Value::Null),
            Value::Array(items) => items
                .iter()
                .map(|item| self.shape(field, of, item))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            found => self.select(&field.selection_set, of, found),
        }
    }

    fn repository(&self, arguments: &Value) -> Result<Value, Value> {
        let asked =
            [&arguments["owner"], &arguments["name"]].map(|part| part.as_str().unwrap_or_default()).join("/");
        if !asked.eq_ignore_ascii_case(self.scene.name()) {
            let message = format!("Could not resolve to a Repository with the name '{asked}'.");
            return Err(json!({ "type": "NOT_FOUND", "path": ["repository"], "message": message }));
        }
        Ok(json!({ "id": "R_77", "nameWithOwner": self.scene.name() }))
    }

    fn pull_request(&self, arguments: &Value) -> Result<Value, Value> {
        if arguments["number"] != self.scene.number() {
            let message =
                format!("Could not resolve to a PullRequest with the number of {}.", arguments["number"]);
            return Err(
                json!({ "type": "NOT_FOUND", "path": ["repository", "pullRequest"], "message": message }),
            );
        }
        Ok(self.scene.data.clone())
    }

    fn node(&self, arguments: &Value) -> Value {
        let mut thread = self.scene.thread(arguments["id"].as_str().unwrap_or_default()).cloned();
        if let Some(thread) = &mut thread {
            thread["__typename"] = json!("PullRequestReviewThread");
        }
        thread.unwrap_or_default()
    }

    fn add_reply(&mut self, input: &Value) -> Result<Value, Value> {
        let thread = input["pullRequestReviewThreadId"].as_str().unwrap_or_default();
        if self.scene.thread(thread).is_none() {
            let message = format!("Could not resolve to a node with the global id of '{thread}'.");
            let path = ["addPullRequestReviewThreadReply"];
            return Err(json!({ "type": "NOT_FOUND", "path": path, "message": message }));
        }
        self.reply = Some(json!({ "thread": thread, "body": input["body"] }));
        let state = self.scene.data["replyState"].as_str().unwrap_or("SUBMITTED");
        let url =
            format!("https://github.com/{}/pull/{}#discussion_r900", self.scene.name(), self.scene.number());
        Ok(json!({ "comment": { "id": "PRRC_new", "state": state, "body": input["body"], "url": url } }))
    }

    /// The page of a list that is asked for.
    fn page(&self, list: &Value, arguments: &Value) -> Result<Value, Value> {
        let first = arguments["first"].as_u64().filter(|first| (1..=100).contains(first));
        let first = first.ok_or_else(|| said("You must provide a `first` between 1 and 100"))?;
        let size = usize::try_from(first).expect("at most a hundred").min(self.page_size);
        let after = arguments["after"].as_str().map(|cursor| cursor.trim_start_matches("cursor:").parse());
        let start: usize = after.unwrap_or(Ok(0)).map_err(|_| said("it is no cursor of this list"))?;
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let end = list.len().min(start + size);
        let cursor = (end > start).then(|| format!("cursor:{end}"));
        Ok(json!({
            "nodes": list.get(start..end).unwrap_or_default(),
            "totalCount": list.len(),
            "pageInfo": { "hasNextPage": end < list.len(), "endCursor": cursor },
        }))
    }

    /// The arguments of a field: known ones, and all that are required.
    fn arguments(
        &self,
        field: &Field<'_, String>,
        definition: &schema::Field<'static, String>,
    ) -> Result<Value, Value> {
        let mut arguments = Map::new();
        for (name, value) in &field.arguments {
            let known = definition.arguments.iter().find(|known| known.name == *name);
            let known = known
                .ok_or_else(|| said(&format!("Field '{}' doesn't accept argument '{name}'", field.name)))?;
            let value = self.value(value)?;
            self.check_input(&known.value_type, &value)?;
            arguments.insert(name.clone(), value);
        }
        for wanted in &definition.arguments {
            let is_required = matches!(wanted.value_type, schema::Type::NonNullType(_));
            if is_required && arguments.get(&wanted.name).is_none_or(Value::is_null) {
                return Err(said(&format!(
                    "Field '{}' is missing required arguments: {}",
                    field.name, wanted.name
                )));
            }
        }
        Ok(Value::Object(arguments))
    }

    /// Whether an input object has all of its fields, and no others.
    fn check_input(&self, of: &schema::Type<'static, String>, value: &Value) -> Result<(), Value> {
        let Some(TypeDefinition::InputObject(input)) = self.find(&named(of)) else { return Ok(()) };
        let given = value.as_object().ok_or_else(|| said("an input object is wanted"))?;
        for name in given.keys() {
            if input.fields.iter().all(|field| field.name != *name) {
                return Err(said(&format!("InputObject '{}' doesn't accept argument '{name}'", input.name)));
            }
        }
        for field in &input.fields {
            let is_required = matches!(field.value_type, schema::Type::NonNullType(_));
            if is_required && value[&field.name].is_null() {
                return Err(said(&format!("Argument '{}' of '{}' is required", field.name, input.name)));
            }
        }
        Ok(())
    }

    fn value(&self, value: &graphql_parser::query::Value<'_, String>) -> Result<Value, Value> {
        use graphql_parser::query::Value as Given;
        Ok(match value {
            Given::Variable(name) => self.variables[name].clone(),
            Given::Int(number) => json!(number.as_i64()),
            Given::String(text) => json!(text),
            Given::Boolean(truth) => json!(truth),
            Given::Null => Value::Null,
            Given::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| Ok((name.clone(), self.value(value)?)));
                Value::Object(fields.collect::<Result<_, Value>>()?)
            }
            other => return Err(said(&format!("nobody expects {other} here"))),
        })
    }

    fn definition(&self, kind: &str, name: &str) -> Result<schema::Field<'static, String>, Value> {
        let fields = match self.find(kind) {
            Some(TypeDefinition::Object(object)) => &object.fields[..],
            Some(TypeDefinition::Interface(interface)) => &interface.fields[..],
            _ => &[],
        };
        let found = fields.iter().find(|field| field.name == name).cloned();
        found.ok_or_else(|| said(&format!("Field '{name}' doesn't exist on type '{kind}'")))
    }

    fn find(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|known| match known {
            TypeDefinition::Scalar(known) => known.name == name,
            TypeDefinition::Object(known) => known.name == name,
            TypeDefinition::Interface(known) => known.name == name,
            TypeDefinition::Union(known) => known.name == name,
            TypeDefinition::Enum(known) => known.name == name,
            TypeDefinition::InputObject(known) => known.name == name,
        })
    }
}

/// The name in a type, without lists and whether it may be null.
fn named(of: &schema::Type<'static, String>) -> String {
    match of {
        schema::Type::NamedType(name) => name.clone(),
        schema::Type::ListType(of) | schema::Type::NonNullType(of) => named(of),
    }
}

fn said(message: &str) -> Value {
    json!({ "message": message })
}
