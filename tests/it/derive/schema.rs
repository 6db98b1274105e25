//! The schema that an agent is shown.

use sandcastle::AgentOutput;
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
