//! Functions that put an answer into the schema's form before it is judged.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AgentOutput, OutputFormat, OutputSpec, Stage, refused};
use crate::output::ExtractError;

/// A type with a preparing function, as the derive writes it.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Prepared {
    n: u64,
    #[serde(default)]
    names: Vec<String>,
}

impl AgentOutput for Prepared {
    const TAG: &'static str = "result";
    const FORMAT: OutputFormat = OutputFormat::Json;
    const MAX_RETRIES: u32 = 0;
    const PREPARE: Option<fn(&mut Value)> = Some(number_of_text);

    fn schema() -> schemars::Schema {
        crate::__private::schema_for::<Self>()
    }

    fn extract(text: &str) -> Result<Self, ExtractError> {
        crate::__private::extract_json(text)
    }

    fn prompt_snippet() -> String {
        crate::__private::snippet::<Self>()
    }

    fn read_block(block: &str, spec: &OutputSpec) -> Result<Self, ExtractError> {
        crate::__private::read_json(block, spec)
    }
}

fn number_of_text(value: &mut Value) {
    if let Some(number) = value.get("n").and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok()) {
        value["n"] = number.into();
    }
}

#[test]
fn an_answer_is_prepared_before_schema_and_type_see_it() {
    let read = |block| super::read::<Prepared>(block).unwrap().n;
    assert_eq!((read(r#"{"n":"7"}"#), read(r#"{"n":7}"#), read("```json\n{\"n\":\"7\"}\n```")), (7, 7, 7));
    let spec = OutputSpec::of::<Prepared>();
    assert_eq!(spec.extract(r#"<result>{"n":"7"}</result>"#).unwrap(), json!({ "n": 7 }));
}

#[test]
fn what_is_not_prepared_is_judged_as_it_is() {
    for block in [r#"{"n":"seven"}"#, r#"{"n":-1}"#, "{}", "[]", r#""n""#, "null"] {
        let error = refused::<Prepared>(Stage::SchemaValidate, block);
        assert_eq!(error.raw_matched.as_deref(), Some(block));
    }
    assert_eq!(refused::<Prepared>(Stage::JsonParse, "{").problems.len(), 1);
}

#[test]
fn a_value_that_was_not_changed_keeps_its_digits() {
    assert_eq!(super::read::<Prepared>(r#"{"n":18446744073709551615}"#).unwrap().n, u64::MAX);
}

#[test]
fn a_problem_is_where_the_prepared_value_has_it() {
    let spec =
        OutputSpec::json("n", json!({ "properties": { "n": { "type": "integer" } }, "required": ["n"] }));
    let spec = spec.unwrap().prepare(|value| {
        if let Some(field) = value.as_object_mut().and_then(|object| object.shift_remove("number")) {
            value["n"] = field;
        }
    });
    assert_eq!(spec.extract(r#"<n>{"number":3}</n>"#).unwrap(), json!({ "n": 3 }));
    let error = spec.extract(r#"<n>{"number":"x"}</n>"#).unwrap_err();
    assert_eq!((error.problems[0].path.as_str(), error.value), ("/n", Some(json!({ "n": "x" }))));
}

#[test]
fn defaults_and_validators_see_what_was_prepared() {
    let schema =
        json!({ "type": "object", "properties": { "level": { "type": "string", "default": "low" } } });
    let spec = OutputSpec::json("v", schema).unwrap().fill_defaults();
    let spec = spec.prepare(|value| {
        if value.is_null() {
            *value = json!({});
        }
    });
    let spec = spec.validator(|value| {
        assert_eq!(*value, json!({ "level": "low" }));
        Ok(())
    });
    assert_eq!(spec.extract("<v>{}</v>").unwrap(), json!({ "level": "low" }));
    assert_eq!(spec.read_block("null").unwrap(), json!({ "level": "low" }));
    let checked = OutputSpec::checked("v", |value| {
        assert_eq!(*value, 2);
        Ok(())
    });
    assert_eq!(checked.unwrap().prepare(|value| *value = json!(2)).read_block("1").unwrap(), 2);
}

#[test]
fn the_types_own_comes_first() {
    let spec = OutputSpec::of::<Prepared>().prepare(|value| {
        assert_eq!(value["n"], 7, "it is a number by now");
        value["n"] = json!("8");
    });
    assert_eq!(spec.read_block(r#"{"n":"7"}"#).unwrap_err().problems[0].path, "/n");
}

#[test]
fn words_and_schema_know_nothing_of_it() {
    let plain = OutputSpec::json("result", Prepared::schema()).unwrap();
    assert_eq!(plain.prompt_snippet(), OutputSpec::of::<Prepared>().prompt_snippet());
    assert_eq!(plain.schema(), OutputSpec::of::<Prepared>().schema());
}

#[test]
fn a_text_is_never_prepared() {
    let spec = OutputSpec::text("t").unwrap().prepare(|value| *value = json!("other"));
    assert_eq!(spec.read_block(" as it is ").unwrap(), "as it is");
}

#[test]
fn an_alias_is_known_in_what_was_prepared() {
    let spec = OutputSpec::of::<Aliased>().prepare(|value| value["many"] = value["many"].as_u64().into());
    assert!(spec.read_block(r#"{"amount":3,"many":2}"#).is_ok());
    assert!(spec.read_block(r#"{"amount":3,"many":"x"}"#).is_err());
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it can be read is of interest")]
struct Aliased {
    #[serde(alias = "amount")]
    count: u8,
    many: u8,
}

super::outputs!(Aliased);
