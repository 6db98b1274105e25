//! What snippets cost: twenty realistic types, each in every style, beside its JSON Schema.
//!
//! `cargo bench --bench snippets` prints one JSON object a line: the type, the style, the snippet, the schema as a model
//! would get it without snippets (pretty-printed), and every constraint in it. It counts nothing itself:
//! `benches/snippet_tokens.mjs` runs it, counts tokens, and checks that each constraint is named.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use sandcastle::AgentOutput;
use sandcastle::output::{Snippet, SnippetStyle};
use serde_json::{Map, Value, json};

#[path = "snippets/analysis.rs"]
#[expect(dead_code, reason = "the fields are there to be described, nobody reads them")]
mod analysis;
#[path = "snippets/extraction.rs"]
#[expect(dead_code, reason = "the fields are there to be described, nobody reads them")]
mod extraction;
#[path = "snippets/planning.rs"]
#[expect(dead_code, reason = "the fields are there to be described, nobody reads them")]
mod planning;
#[path = "snippets/review.rs"]
#[expect(dead_code, reason = "the fields are there to be described, nobody reads them")]
mod review;

const STYLES: [(&str, SnippetStyle); 3] = [
    ("typescript", SnippetStyle::TypeScript),
    ("json-schema", SnippetStyle::JsonSchema),
    ("example", SnippetStyle::Example),
];

/// Keywords that hold schemas by name, schemas in a row, and one schema.
const BY_NAME: [&str; 3] = ["patternProperties", "$defs", "dependentSchemas"];
const IN_A_ROW: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
const ONE: [&str; 3] = ["items", "additionalProperties", "propertyNames"];

fn main() {
    print::<review::Review>();
    print::<review::InlineComments>();
    print::<review::TestReport>();
    print::<review::Changelog>();
    print::<planning::Triage>();
    print::<planning::Plan>();
    print::<planning::Outcome>();
    print::<planning::Task>();
    print::<planning::Sprint>();
    print::<extraction::Invoice>();
    print::<extraction::Candidate>();
    print::<extraction::Places>();
    print::<extraction::Events>();
    print::<extraction::Recipe>();
    print::<analysis::Audit>();
    print::<analysis::Incident>();
    print::<analysis::Upgrades>();
    print::<analysis::Query>();
    print::<analysis::Judgement>();
    print::<analysis::Settings>();
}

fn print<T: AgentOutput>() {
    let schema = T::schema().to_value();
    let mut constraints = Vec::new();
    collect(&schema, &mut constraints);
    for (name, style) in STYLES {
        let line = json!({
            "type": std::any::type_name::<T>().rsplit("::").next(),
            "style": name,
            "default": style == SnippetStyle::default(),
            "text": Snippet::of::<T>().style(style).render(),
            "pretty_schema": format!("{schema:#}"),
            "constraints": constraints,
        });
        println!("{line}");
    }
}

/// Lists every keyword that demands something, with its value, wherever it stands.
fn collect(schema: &Value, constraints: &mut Vec<Value>) {
    let Some(keywords) = schema.as_object() else { return };
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "properties" => fields(value, keywords, constraints),
            name if BY_NAME.contains(&name) => {
                value.as_object().into_iter().flatten().for_each(|(_, schema)| collect(schema, constraints));
            }
            name if IN_A_ROW.contains(&name) => {
                list(value).for_each(|schema| collect(schema, constraints));
            }
            name if ONE.contains(&name) && value.is_object() => collect(value, constraints),
            name => demands(name, value, keywords, constraints),
        }
    }
}

fn fields(properties: &Value, keywords: &Map<String, Value>, constraints: &mut Vec<Value>) {
    for (name, schema) in properties.as_object().into_iter().flatten() {
        let required = keywords.get("required").is_some_and(|names| list(names).any(|other| other == name));
        let keyword = if required { "required" } else { "optional" };
        constraints.push(json!({ "keyword": keyword, "value": name }));
        collect(schema, constraints);
    }
}

/// Lists what one keyword demands that holds no schemas.
fn demands(keyword: &str, value: &Value, keywords: &Map<String, Value>, constraints: &mut Vec<Value>) {
    let mut push = |value: &Value| constraints.push(json!({ "keyword": keyword, "value": value }));
    match keyword {
        "$schema" | "$ref" | "title" | "description" | "required" => {}
        // A listed value has its type.
        "type" if keywords.contains_key("const") || keywords.contains_key("enum") => {}
        // The counts of a tuple are the number of its items.
        "minItems" | "maxItems" if keywords.contains_key("prefixItems") => {}
        "type" | "enum" if value.is_array() => list(value).for_each(push),
        _ => push(value),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
