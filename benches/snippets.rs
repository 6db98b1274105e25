//! What snippets cost: twenty realistic types, each in every style, beside its JSON Schema.
//!
//! `cargo bench --bench snippets` prints one JSON object a line: the type, the style, the snippet, the schema as a model
//! would get it without snippets (pretty-printed), and every constraint in it. It counts nothing itself:
//! `benches/snippet_tokens.mjs` runs it, counts tokens, and checks that each constraint is named.

use sandcastle::AgentOutput;
use sandcastle::output::{Snippet, SnippetStyle};
use serde_json::{Value, json};

#[path = "snippets/analysis.rs"]
mod analysis;
#[path = "snippets/extraction.rs"]
mod extraction;
#[path = "snippets/planning.rs"]
mod planning;
#[path = "snippets/review.rs"]
mod review;

const STYLES: [(&str, SnippetStyle); 3] = [
    ("typescript", SnippetStyle::TypeScript),
    ("json-schema", SnippetStyle::JsonSchema),
    ("example", SnippetStyle::Example),
];

/// Keywords that hold schemas by name, schemas in a row, and one schema.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];
const IN_A_ROW: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
const ONE: [&str; 3] = ["items", "additionalProperties", "propertyNames"];
/// Keywords that demand nothing of a value.
const SILENT: [&str; 5] = ["$schema", "$ref", "title", "description", "type"];

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
            name if SILENT.contains(&name) => {}
            name if IN_A_ROW.contains(&name) => {
                value.as_array().into_iter().flatten().for_each(|schema| collect(schema, constraints))
            }
            name if ONE.contains(&name) && value.is_object() => collect(value, constraints),
            name if BY_NAME.contains(&name) => {
                for (key, schema) in value.as_object().into_iter().flatten() {
                    if name == "properties" {
                        let required = schema_list(keywords.get("required")).any(|name| name == key);
                        constraints.push(json!({ "keyword": if required { "required" } else { "optional" }, "value": key }));
                    }
                    collect(schema, constraints);
                }
            }
            "required" => {}
            // The counts of a tuple are the number of its items.
            "minItems" | "maxItems"
                if schema_list(keywords.get("prefixItems")).count() as u64 == value.as_u64().unwrap_or(0) => {
            }
            "enum" => constraints
                .extend(schema_list(Some(value)).map(|value| json!({ "keyword": "enum", "value": value }))),
            name => constraints.push(json!({ "keyword": name, "value": value })),
        }
    }
}

fn schema_list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
