//! How errors name what is wrong and where.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{N, O, Problem, S, Stage, misfits, outputs, pairs, read, refused};

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its reading is of interest")]
struct Flat {
    a: i32,
    #[serde(flatten)]
    b: Inner,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its reading is of interest")]
struct Inner {
    c: String,
    d: Option<u32>,
}

outputs!(Flat);

#[test]
fn case_043_a_flattened_field_is_named() {
    assert_eq!(misfits::<Flat>(r#"{"a":1,"c":5}"#), pairs(&[("/c", "must be a string, got 5")]));
    assert_eq!(
        misfits::<Flat>(r#"{"d":true}"#),
        pairs(&[
            ("/a", "is required"),
            ("/c", "is required"),
            ("/d", "must be an integer or null, got true")
        ])
    );
}

#[test]
fn case_045_a_float_is_no_integer() {
    assert_eq!(misfits::<N>(r#"{"n":1.0}"#), pairs(&[("/n", "must be an integer, got 1.0")]));
    assert_eq!(misfits::<N>(r#"{"n":1e3}"#)[0].0, "/n");
    assert_eq!(
        misfits::<Flat>(r#"{"a":1,"c":"x","d":2.0}"#),
        pairs(&[("/d", "must be an integer, got 2.0")])
    );
    assert_eq!(
        misfits::<Flat>(r#"{"a":1,"c":"x","d":4294967296}"#),
        pairs(&[("/d", "must be at most 4294967295")])
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Count { n: i64, of: Vec<u8> },
    Name { s: String },
}

outputs!(Either);

#[test]
fn case_045_a_float_in_an_untagged_variant_is_located() {
    assert_eq!(misfits::<Either>(r#"{"n":1.0,"of":[1]}"#), pairs(&[("/n", "must be an integer, got 1.0")]));
    assert_eq!(
        misfits::<Either>(r#"{"n":1,"of":[1,2.0]}"#),
        pairs(&[("/of/1", "must be an integer, got 2.0")])
    );
    assert_eq!(read::<Either>(r#"{"n":1,"of":[2]}"#).unwrap(), Either::Count { n: 1, of: vec![2] });
    assert_eq!(read::<Either>(r#"{"s":"x"}"#).unwrap(), Either::Name { s: "x".to_owned() });
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Wide {
    big: u128,
    exact: u64,
}

outputs!(Wide);

#[test]
fn case_045_large_integers_keep_their_digits() {
    let wide =
        read::<Wide>(r#"{"big":340282366920938463463374607431768211455,"exact":18446744073709551615}"#);
    assert_eq!(wide.unwrap(), Wide { big: u128::MAX, exact: u64::MAX });
    assert_eq!(misfits::<Wide>(r#"{"big":1,"exact":-1}"#), pairs(&[("/exact", "must be at least 0")]));
}

#[test]
fn case_047_the_error_has_what_is_needed() {
    let error = refused::<N>(Stage::SchemaValidate, r#"{"n":"x"}"#);
    assert_eq!(error.tag, "result");
    assert_eq!(error.value, Some(serde_json::json!({ "n": "x" })));
    assert_eq!(
        error.to_string(),
        r#"`<result>` does not fit its schema: /n: must be an integer, got string "x""#
    );
    let shown = format!("{error:#}");
    assert!(shown.ends_with("\n  1 | {\"n\":\"x\"}\n    |      ^"), "{shown}");
}

#[test]
fn case_047_the_long_form_lists_every_problem() {
    let error = refused::<O>(Stage::SchemaValidate, "\n```\n{\n \"b\": 1\n}\n```");
    assert!(error.to_string().ends_with(" (and 1 more problem)"), "{error}");
    let shown = format!("{error:#}");
    assert!(shown.contains("\n  - /a: is required\n  - /b: must be a string or null, got 1\n"), "{shown}");
    assert!(shown.ends_with("\n  2 | ```\n  3 | {\n    | ^"), "{shown}");
}

#[test]
fn hostile_text_stays_on_one_line() {
    let error = refused::<N>(Stage::SchemaValidate, "{\"n\":\"\\u001b[2J\\n\\u202e\",\"\\u0007\":1}");
    assert!(!format!("{error:#}").contains(['\u{1b}', '\u{7}', '\u{202e}']), "{error:#}");
    let error = refused::<S>(Stage::JsonParse, &format!("{}\u{1b}[2J", "x".repeat(100_000)));
    assert!(format!("{error:#}").len() < 1000, "{error:#}");
    assert!(!format!("{error:#}").contains('\u{1b}'));
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Even(i64);

outputs!(Even => |even: &Even| match even.0 % 2 {
    0 => Ok(()),
    _ => Err(vec![Problem::new("", "must be\neven")]),
});

#[test]
fn what_a_type_says_of_itself_comes_last() {
    assert_eq!(read::<Even>("2").unwrap().0, 2);
    let error = refused::<Even>(Stage::Rejected, "3");
    assert_eq!(error.problems, [Problem::new("", "must be\neven")]);
    assert_eq!(error.value, Some(3.into()));
    assert_eq!(error.to_string(), "`<result>` was rejected: must be\\neven");
    refused::<Even>(Stage::SchemaValidate, "\"3\"");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
enum Severity {
    Low,
    High,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its reading is of interest")]
struct Report {
    severity: Severity,
    #[schemars(range(min = 1, max = 10))]
    score: Option<u8>,
    #[schemars(length(min = 1), inner(length(max = 3)))]
    tags: Vec<String>,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    name: String,
    next: Option<Box<Report>>,
}

outputs!(Report);

#[test]
fn problems_are_sentences() {
    let block =
        r#"{"severity":"mid","score":11,"tags":["long"],"name":"A","next":{"severity":"low","tags":[]}}"#;
    assert_eq!(
        misfits::<Report>(block),
        pairs(&[
            ("/severity", "must be one of `low`, `high`"),
            ("/score", "must be at most 10"),
            ("/tags/0", "must be at most 3 characters long"),
            ("/name", "must match the pattern `^[a-z]+$`"),
            ("/next/name", "is required"),
            ("/next/tags", "must have at least 1 item"),
        ])
    );
}
