//! The schema that an agent is shown.

use sandcastle::AgentOutput;
use sandcastle::output::{Snippet, SnippetStyle};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Decides whether to merge.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "decision")]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Decision {
    /// Think first.
    reasoning: String,
    #[schemars(range(min = 1, max = 5), description = "how sure")]
    confidence: u8,
    answer: bool,
    #[serde(default)]
    aside: i32,
}

fn schema() -> Value {
    Decision::schema().to_value()
}

/// Case 85: models fill fields in the order in which they read them.
#[test]
fn case_085_fields_keep_their_order() {
    let schema = schema();
    let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["reasoning", "confidence", "answer", "aside"]);
    let snippet = Decision::prompt_snippet();
    let places = ["reasoning", "confidence", "answer", "aside"].map(|field| snippet.rfind(field));
    assert!(places.is_sorted() && places[0].is_some(), "{snippet}");
}

/// Case 87: what serde can do without is not required.
#[test]
fn case_087_a_default_makes_a_field_optional() {
    assert_eq!(schema()["required"], json!(["reasoning", "confidence", "answer"]));
    let without = r#"<decision>{"reasoning":"","confidence":1,"answer":true}</decision>"#;
    assert_eq!(Decision::extract(without).map(|decision| decision.aside).ok(), Some(0));
}

#[test]
fn comments_and_attributes_describe_and_bound() {
    let schema = schema();
    assert_eq!(schema["description"], "Decides whether to merge.");
    assert_eq!(schema["properties"]["reasoning"]["description"], "Think first.");
    assert_eq!(schema["properties"]["confidence"]["maximum"], 5);
    let unsure = r#"<decision>{"reasoning":"","confidence":9,"answer":true}</decision>"#;
    assert_eq!(Decision::extract(unsure).unwrap_err().problems[0].path, "/confidence");
}

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "numbers")]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Numbers {
    a: u32,
    b: u8,
    c: f32,
    d: Option<i64>,
    e: Vec<usize>,
    f: Option<Box<Numbers>>,
}

#[test]
fn case_064_a_prompt_names_no_formats_of_rust() {
    for style in [SnippetStyle::TypeScript, SnippetStyle::JsonSchema, SnippetStyle::Example] {
        let snippet = Snippet::of::<Numbers>().style(style).render();
        for format in ["uint", "int8", "int32", "int64", "float", "double", "\"format\"", "$schema"] {
            assert!(!snippet.contains(format), "{style:?} says {format}: {snippet}");
        }
    }
    let snippet = Snippet::of::<Numbers>().style(SnippetStyle::JsonSchema).render();
    assert!(snippet.contains("\"minimum\":0") && snippet.contains("\"maximum\":255"), "{snippet}");
    assert!(Numbers::prompt_snippet().contains("255"), "{}", Numbers::prompt_snippet());
}

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "bounded")]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Bounded {
    #[schemars(range(min = 3, max = 97))]
    count: i64,
    #[schemars(length(min = 4, max = 96))]
    name: String,
    #[schemars(regex(pattern = "^[a-q]+$"))]
    key: String,
    #[schemars(length(min = 5, max = 95), inner(length(max = 94)))]
    tags: Vec<String>,
    #[schemars(extend("multipleOf" = 7, "exclusiveMaximum" = 93))]
    step: f64,
    #[schemars(email)]
    contact: String,
    kind: Kind,
    note: Option<String>,
    #[serde(default = "eleven")]
    tries: u16,
    pair: (bool, Kind),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    VeryLow,
    High,
}

fn eleven() -> u16 {
    11
}

#[test]
fn snippets_name_every_constraint() {
    let typescript = Bounded::prompt_snippet();
    let json = Snippet::of::<Bounded>().style(SnippetStyle::JsonSchema).render();
    for snippet in [&typescript, &json] {
        for named in [
            "3",
            "97",
            "4",
            "96",
            "^[a-q]+$",
            "5",
            "95",
            "94",
            "7",
            "93",
            "email",
            "very-low",
            "high",
            "null",
            "11",
            "65535",
            "<bounded>",
            "</bounded>",
        ] {
            assert!(snippet.contains(named), "no {named} in {snippet}");
        }
    }
    assert!(typescript.contains("note?:"), "what may be left out is marked: {typescript}");
    assert!(!typescript.contains("count?:"), "{typescript}");
}
