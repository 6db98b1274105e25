//! Enums in each of serde's representations.

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

use super::agreement::{agrees_with_serde, answer};

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "kebab-case")]
#[output(tag = "level")]
enum UnitOnly {
    VeryLow,
    #[serde(rename = "top")]
    High,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "shape")]
enum External {
    Nothing,
    Circle(f64),
    Pair(i32, String),
    Square { side: u32 },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[output(tag = "shape")]
enum Internal {
    Nothing,
    Square { side_length: u32 },
    Wrapped(Side),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Side {
    metres: u32,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(tag = "kind", content = "of")]
#[output(tag = "shape")]
enum Adjacent {
    Nothing,
    Circle(f64),
    Square { side: u32 },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(untagged)]
#[output(tag = "shape")]
enum Untagged {
    Text(String),
    Many(Vec<u32>),
    Square { side: u32 },
}

#[test]
fn unit_variants_are_strings() {
    agrees_with_serde::<UnitOnly>(
        &[r#""very-low""#, r#""top""#],
        &[r#""VeryLow""#, r#""high""#, "0", "null"],
    );
}

#[test]
fn external_variants_are_keys() {
    agrees_with_serde::<External>(
        &[r#""Nothing""#, r#"{"Circle":1.5}"#, r#"{"Pair":[1,"a"]}"#, r#"{"Square":{"side":2}}"#],
        &[
            r#""Circle""#,
            r#"{"Circle":"1"}"#,
            r#"{"Pair":[1]}"#,
            r#"{"Square":{}}"#,
            r#"{"Square":{"side":2},"Circle":1}"#,
        ],
    );
}

#[test]
fn internal_variants_are_named_by_a_field() {
    agrees_with_serde::<Internal>(
        &[r#"{"kind":"nothing"}"#, r#"{"kind":"square","sideLength":2}"#, r#"{"metres":3,"kind":"wrapped"}"#],
        &[
            r#"{"sideLength":2}"#,
            r#"{"kind":"square","side_length":2}"#,
            r#"{"kind":"Square","sideLength":2}"#,
        ],
    );
}

#[test]
fn adjacent_variants_have_their_content_in_a_field() {
    agrees_with_serde::<Adjacent>(
        &[r#"{"kind":"Nothing"}"#, r#"{"kind":"Circle","of":1.5}"#, r#"{"of":{"side":1},"kind":"Square"}"#],
        &[r#"{"kind":"Circle"}"#, r#"{"kind":"Square","of":1.5}"#, r#"{"of":1.5}"#],
    );
}

#[test]
fn untagged_variants_are_tried_in_turn() {
    agrees_with_serde::<Untagged>(
        &[r#""a""#, "[1,2]", r#"{"side":1}"#],
        &["true", "null", r#"["a"]"#, r#"{"side":"1"}"#],
    );
}

/// What serde would let pass, the schema does not: an agent was told otherwise.
#[test]
fn the_schema_is_stricter_than_serde() {
    assert_eq!(serde_json::from_str::<External>(r#"{"Nothing":null}"#).unwrap(), External::Nothing);
    assert!(answer::<External>(r#"{"Nothing":null}"#).is_err());
}
