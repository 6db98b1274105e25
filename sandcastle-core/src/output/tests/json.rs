//! What is JSON, and how it is said what is not.

use super::{N, Problem, S, Stage, misfits, pairs, read, refused};
use crate::output::OutputSpec;

#[track_caller]
fn fault(block: &str) -> String {
    refused::<S>(Stage::JsonParse, block).problems[0].message.clone()
}

#[test]
fn case_034_trailing_comma() {
    assert_eq!(fault("{\"n\":1,}"), "trailing comma at line 1 column 8");
    assert_eq!(fault("[1,]"), "trailing comma at line 1 column 4");
}

#[test]
fn case_035_a_raw_control_character_is_named() {
    let error = refused::<S>(Stage::JsonParse, "{\"s\":\"line 1\nline 2\"}");
    let message = &error.problems[0].message;
    assert!(message.contains("U+000A") && message.ends_with("at line 1 column 13"), "{message}");
    assert!(format!("{error:#}").contains("  1 | {\"s\":\"line 1\n    |             ^"), "{error:#}");
    assert!(fault("{\"s\":\"a\tb\"}").contains("U+0009"));
    assert!(fault("{\"s\":\"a\u{1}b\"}").contains("U+0001"));
}

#[test]
fn case_036_a_typographic_quote_is_not_repaired() {
    let message = fault("{\"s\":\"value2”}");
    assert!(message.contains('”') && message.ends_with("at line 1 column 6"), "{message}");
    assert!(fault("{“s”:1}").starts_with("key must be a string, found `“`"));
    assert!(fault("{\"s\":\"a").starts_with("the string is never closed"));
}

#[test]
fn case_038_a_dropped_quote_is_found_where_it_is() {
    assert_eq!(fault("{\"s\":\"abc\"n\":1}"), "expected `,` or `}`, found `n` at line 1 column 11");
}

#[test]
fn case_039_a_second_document_is_refused() {
    assert_eq!(fault("{\"n\":1}\n{\"n\":2}"), "trailing characters, found `{` at line 2 column 1");
}

#[test]
fn case_041_json_in_a_string_is_not_unwrapped() {
    let problems = misfits::<N>(r#""{\"n\":1}""#);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].0, "");
    assert!(problems[0].1.starts_with("must be an object, got string"), "{problems:?}");
    assert!(problems[0].1.contains("JSON encoded twice"), "{problems:?}");
    assert!(!misfits::<N>("\"n is 1\"")[0].1.contains("twice"));
}

#[test]
fn duplicate_keys_are_refused_with_their_place() {
    let error = refused::<N>(Stage::JsonParse, "{\"n\":1,\"m\":[{\"a/b\":1,\"a\\/b\":2}]}");
    assert_eq!(error.problems[0].path, "/m/0/a~1b");
    assert!(
        error.problems[0].message.starts_with("the key `a/b` is given twice at line 1 column "),
        "{error}"
    );
    assert!(error.feedback(0).contains("/m/0/a~1b"));
    assert_eq!(read::<N>("{\"n\":1,\"m\":{\"n\":2}}").unwrap().n, 1);
}

#[test]
fn nothing_but_json_is_forgiven() {
    for block in [
        "",
        " \n",
        "{'n':1}",
        "{n:1}",
        "{\"n\":1 // one\n}",
        "{\"n\":1}/* */",
        "NaN",
        "{\"n\":01}",
        "{\"n\":+1}",
        "{\"n\":1e999}",
        "\"\\ud800\"",
        "\"\\x\"",
        "tru",
        "nul",
        "{\"n\"",
        "{\"n\":",
        "[1",
        "-",
        "\"\\u00\"",
        "undefined",
    ] {
        let message = fault(block);
        assert!(message.contains(" at line "), "{block}: {message}");
    }
}

#[test]
fn depth_is_limited_with_a_place() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(fault(&deep), "nested more than 127 levels deep at line 1 column 128");
    let spec = OutputSpec::json("result", true).unwrap();
    assert!(spec.read_block(&format!("{}{}", "[".repeat(127), "]".repeat(127))).is_ok());
}

#[test]
fn any_json_is_read_as_it_is() {
    let spec = OutputSpec::json("result", serde_json::json!({})).unwrap();
    for json in
        [r#"{"b":1,"a":[1.5,-2,18446744073709551615,null,true,"\u00e9\n"]}"#, "0", "\"\"", "[]", "false"]
    {
        assert_eq!(spec.read_block(json).unwrap(), serde_json::from_str::<serde_json::Value>(json).unwrap());
    }
}

#[test]
fn a_validator_of_the_users_own_is_asked() {
    let spec = OutputSpec::json("result", true)
        .unwrap()
        .validator(|value| if value == 1 { Ok(()) } else { Err(vec![Problem::new("", "must be the one")]) });
    assert_eq!(spec.read_block("1").unwrap(), 1);
    let error = spec.read_block("2").unwrap_err();
    assert_eq!((error.stage(), error.value), (Stage::Rejected, Some(2.into())));
    assert_eq!(pairs(&[("", "must be the one")])[0].1, error.problems[0].message);
}
