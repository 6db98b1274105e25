//! Contracts that are made at run time.

use serde_json::json;

use super::{N, OutputFormat, OutputSpec, Stage};
use crate::error::ErrorKind;

#[test]
fn a_schema_that_is_none_is_refused_with_its_place() {
    let bad = [
        (json!({ "type": 5 }), "/type"),
        (json!({ "type": "objekt" }), "/type"),
        (json!({ "properties": { "a": { "minimum": "1" } } }), "/properties/a/minimum"),
        (json!({ "pattern": "(" }), "pattern"),
        (json!({ "$ref": "https://example.com/schema.json" }), "https://example.com/schema.json"),
        (json!({ "$ref": "#/$defs/missing" }), "missing"),
        (json!({ "$schema": "https://example.com/dialect" }), "https://example.com/dialect"),
        (json!("string"), "must be an object or a boolean"),
        (json!([]), "must be an object or a boolean"),
        (json!(null), "must be an object or a boolean"),
    ];
    for (schema, said) in bad {
        let error = OutputSpec::json("result", schema.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{schema}");
        assert!(error.to_string().contains(said), "{schema}: {error}");
        assert!(error.to_string().contains("`<result>`") && error.hints().len() == 1, "{error:#}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
}

#[test]
fn a_tag_that_is_none_is_refused() {
    for tag in ["two words", "promise", "Xml-report", ""] {
        assert_eq!(OutputSpec::json(tag, true).unwrap_err().kind(), ErrorKind::InvalidOutput);
        assert_eq!(OutputSpec::text(tag).unwrap_err().kind(), ErrorKind::InvalidOutput);
    }
}

#[test]
fn retries_are_limited() {
    let spec = OutputSpec::text("summary").unwrap();
    assert_eq!(spec.retries(), 0);
    assert_eq!(spec.clone().max_retries(10).unwrap().retries(), 10);
    assert_eq!(spec.max_retries(11).unwrap_err().kind(), ErrorKind::InvalidOutput);
}

#[test]
fn schemas_come_from_schemars_or_json_and_in_any_draft() {
    let spec = OutputSpec::json("n", schemars::schema_for!(N)).unwrap();
    assert_eq!((spec.tag(), spec.format()), ("n", OutputFormat::Json));
    assert_eq!(spec.extract("<n>{\"n\":1}</n>").unwrap(), json!({ "n": 1 }));
    let draft_4 = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": true,
    });
    assert!(OutputSpec::json("n", draft_4).unwrap().read_block("3").is_err());
    assert!(OutputSpec::json("n", true).unwrap().read_block("3").is_ok());
    assert!(OutputSpec::json("n", false).unwrap().read_block("3").is_err());
}

#[test]
fn a_type_still_judges_when_only_the_json_is_returned() {
    let spec = OutputSpec::of::<N>();
    assert_eq!(spec.read_block("{\"n\":1,\"m\":2}").unwrap(), json!({ "n": 1, "m": 2 }));
    let error = spec.read_block("{\"n\":1.0}").unwrap_err();
    assert_eq!((error.stage(), error.problems[0].path.as_str()), (Stage::SchemaValidate, "/n"));
    assert_eq!(
        spec.clone().validator(|_| Err(Vec::new())).read_block("{\"n\":1}").unwrap_err().stage(),
        Stage::Rejected
    );
}

#[test]
fn text_outputs_are_trimmed_and_never_parsed() {
    let spec = OutputSpec::text("summary").unwrap();
    assert_eq!(spec.read_block("\n ```\n{\"a\":\n \u{a0}").unwrap(), "```\n{\"a\":");
    assert_eq!(spec.read_block(" ").unwrap(), "");
}

#[test]
fn a_schema_that_refers_to_itself_for_ever_overflows_nothing() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "type": "integer", "allOf": [{ "$ref": "#" }] }),
        json!({ "not": {}, "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
    ] {
        if let Ok(spec) = OutputSpec::json("result", schema) {
            _ = spec.read_block("{\"a\":1}");
        }
    }
}

#[test]
fn a_function_can_judge_without_a_schema() {
    let spec = OutputSpec::checked("result", |value| match value["n"].as_u64() {
        Some(n) if n % 2 == 0 => Ok(()),
        _ => Err(vec![super::Problem::new("/n", "must be even")]),
    })
    .unwrap();
    assert_eq!(spec.extract(r#"<result>{"n":2}</result>"#).unwrap(), json!({ "n": 2 }));
    let error = spec.extract(r#"<result>{"n":3}</result>"#).unwrap_err();
    assert_eq!(
        (error.stage(), error.problems[0].to_string().as_str()),
        (Stage::Rejected, "/n: must be even")
    );
    assert_eq!(spec.extract("<result>{n:2}</result>").unwrap_err().stage(), Stage::JsonParse);
    assert!(!spec.has_schema());
    let snippet = spec.description("An even number.").prompt_snippet();
    assert!(snippet.contains("An even number."), "{snippet}");
}

#[test]
fn a_schema_that_is_sent_is_shown_and_judges_nothing() {
    let (judge, sent) = (json!({ "type": "integer" }), json!({ "type": "string" }));
    let spec = OutputSpec::json("result", judge.clone()).unwrap().sent_schema(sent).unwrap();
    assert_eq!(*spec.schema(), judge);
    assert!(spec.prompt_snippet().contains(":\nstring\n"), "{}", spec.prompt_snippet());
    assert_eq!(spec.extract("<result>1</result>").unwrap(), 1);
    assert_eq!(spec.extract("<result>\"a\"</result>").unwrap_err().stage(), Stage::SchemaValidate);
    let described = spec.description("A number.");
    assert_eq!(*described.shown_schema(), json!({ "type": "string", "description": "A number." }));
}

#[test]
fn a_schema_that_cannot_be_sent_is_refused_where_it_is_given() {
    let error = OutputSpec::json("result", true).unwrap().sent_schema(json!({ "type": 5 })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    let error = OutputSpec::text("result").unwrap().sent_schema(true).unwrap_err();
    assert!(error.to_string().contains("the output is text"), "{error}");
}
