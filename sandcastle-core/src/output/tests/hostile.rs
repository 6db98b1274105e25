//! Whatever is in a block: no panic, a reason that can be shown, bounded texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{N, O, OutputSpec, Problem, typed};
use crate::output::ExtractError;

/// Text made of what confuses readers of JSON.
fn shards() -> impl Strategy<Value = String> {
    let shard = prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\\",
            ":",
            ",",
            "```",
            "~~~",
            "`",
            "json",
            "\n",
            "\r\n",
            " ",
            "\t",
            "n",
            "\"n\"",
            "\"n\":1",
            "null",
            "true",
            "1.0",
            "1e400",
            "-",
            "\\u0000",
            "\\ud800",
            "”",
            "日",
            "é",
            "\u{a0}",
            "\u{feff}",
            "\0",
            "\u{1b}[2J",
            "\u{202e}",
            "<result>",
            "</result>",
            "//",
            "NaN",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(shard, 0..24).prop_map(|shards| shards.concat())
}

fn check(error: &ExtractError, block: &str) {
    assert_eq!(error.raw_matched.as_deref(), Some(block));
    assert!(!error.problems.is_empty());
    let (line, long, feedback) = (error.to_string(), format!("{error:#}"), error.feedback(1));
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.len() < 3000 && long.len() < 250_000 && feedback.len() < 9000, "{long}");
    for text in [line, long, feedback] {
        assert!(!text.contains(['\u{1b}', '\0', '\r', '\u{202e}']), "{text:?}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("(n|a|b|.{0,3})", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_with_a_reason(block in shards()) {
        if let Err(error) = typed::read::<N>(&block, &OutputSpec::of::<N>()) {
            check(&error, &block);
        }
        let text = OutputSpec::text("result").unwrap().read_block(&block).unwrap();
        prop_assert_eq!(text, block.trim());
    }

    #[test]
    fn any_json_is_read_as_serde_reads_it(value in any_json(), fence in "(`{3,5}|~{3,5}|)", info in "[a-z]{0,5}") {
        let json = value.to_string();
        let block = if fence.is_empty() { json.clone() } else { format!("{fence}{info}\n{json}\n{fence}") };
        let any = OutputSpec::json("result", true).unwrap();
        prop_assert_eq!(any.read_block(&block).unwrap(), serde_json::from_str::<Value>(&json).unwrap());
        match typed::read::<O>(&block, &OutputSpec::of::<O>()) {
            Ok(read) => prop_assert_eq!(read, serde_json::from_str::<O>(&json).unwrap()),
            Err(error) => check(&error, &block),
        }
    }

    #[test]
    fn any_problem_can_be_shown(path in "(/.{0,5}){0,3}", message in ".{0,500}", raw in shards()) {
        let spec = OutputSpec::json("result", true).unwrap();
        let spec = spec.validator(move |_| Err(vec![Problem::new(path.clone(), message.clone()); 50]));
        let block = json!(raw).to_string();
        check(&spec.read_block(&block).unwrap_err(), &block);
    }
}

#[test]
fn large_blocks_are_judged_in_the_end() {
    let many = format!("{{\"n\":[{}1]}}", "1,".repeat(900_000));
    check(&typed::read::<N>(&many, &OutputSpec::of::<N>()).unwrap_err(), &many);
    let more = format!("[{}1]", "1,".repeat(1_000_000));
    let error = typed::read::<N>(&more, &OutputSpec::of::<N>()).unwrap_err();
    assert!(error.problems[0].message.starts_with("more than 1000000 values"), "{error}");
    let lines = format!("{}x", "\n".repeat(4 << 20));
    check(&typed::read::<N>(&lines, &OutputSpec::of::<N>()).unwrap_err(), &lines);
    let fences = "```\n".repeat(1 << 20) + "x";
    check(&typed::read::<N>(&fences, &OutputSpec::of::<N>()).unwrap_err(), &fences);
    let string = format!("\"{}", "\\\"".repeat(2 << 20));
    check(&typed::read::<N>(&string, &OutputSpec::of::<N>()).unwrap_err(), &string);
    let keys: Vec<_> = (0..200_000).map(|n| format!("\"{n}\":{n}")).collect();
    let keys = format!("{{{}}}", keys.join(","));
    check(&typed::read::<N>(&keys, &OutputSpec::of::<N>()).unwrap_err(), &keys);
}

#[test]
fn deep_values_in_nested_alternatives_stay_small() {
    let schema = json!({
        "anyOf": [
            { "type": "integer" },
            { "type": "array", "items": { "$ref": "#" } },
            { "type": "object", "additionalProperties": { "$ref": "#" } },
        ],
    });
    let spec = OutputSpec::json("result", schema).unwrap();
    let block = format!("{}[{}\"x\"]{}", "[".repeat(100), "1,".repeat(100_000), "]".repeat(100));
    check(&spec.read_block(&block).unwrap_err(), &block);
    let block = format!("{}[{}\"x\"]{}", "[".repeat(20), "1,".repeat(2000), "]".repeat(20));
    let error = spec.read_block(&block).unwrap_err();
    check(&error, &block);
    assert_eq!(error.problems[0].path, format!("{}/2000", "/0".repeat(20)));
}

#[test]
fn alternatives_that_refer_to_themselves_are_not_searched_in_every_way() {
    let operator = |name: &str| {
        json!({
            "type": "object",
            "properties": { "operator": { "const": name }, "operand": { "$ref": "#" } },
            "required": ["operator", "operand"],
        })
    };
    let schema =
        json!({ "oneOf": [operator("not"), operator("negate"), operator("same"), { "type": "integer" }] });
    let spec = OutputSpec::json("result", schema).unwrap();
    let nested = |depth: usize, innermost: &str| {
        let open = r#"{"operator":"negate","operand":"#.repeat(depth);
        format!("{open}{innermost}{}", "}".repeat(depth))
    };
    assert!(spec.read_block(&nested(100, "1")).is_ok());
    for depth in [3, 100] {
        let block = nested(depth, r#""x""#);
        let error = spec.read_block(&block).unwrap_err();
        check(&error, &block);
        assert_eq!(error.problems[0].path, "/operand".repeat(depth));
        assert_eq!(error.problems[0].message, r#"must be an integer or an object, got string "x""#);
    }
}

#[test]
fn the_first_of_many_problems_is_named() {
    let block = format!(r#"{{"xs":[{}"a","b"]}}"#, "1,".repeat(300_000));
    let schema = json!({ "properties": { "xs": { "items": { "type": "integer" } } } });
    let error = OutputSpec::json("result", schema).unwrap().read_block(&block).unwrap_err();
    check(&error, &block);
    assert_eq!(error.problems[0], Problem::new("/xs/300000", "must be an integer, got string \"a\""));
    assert!(error.problems[1].message.starts_with("may have more problems"), "{error:#}");
}
