//! Blocks that are made to cost time, memory or a reader's patience.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{N, Stage, misfits, outputs, read, refused};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Node {
    Group { kids: Vec<Node> },
    List { kids: Vec<Node> },
    Leaf { n: i64 },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Aliased {
    #[serde(alias = "number")]
    n: i64,
}

outputs!(Node, Aliased);

fn nested(levels: usize, leaf: &str) -> String {
    let open = r#"{"type":"list","kids":["#.repeat(levels);
    format!("{open}{leaf}{}", "]}".repeat(levels))
}

#[test]
fn alternatives_that_nest_are_not_searched_for_ever() {
    let good = nested(50, r#"{"type":"leaf","n":1}"#);
    assert!(read::<Node>(&good).is_ok());
    let shallow = misfits::<Node>(&nested(6, r#"{"type":"leaf","n":"x"}"#));
    assert_eq!(shallow.len(), 1);
    assert!(shallow[0].0.ends_with("/kids/0/n"), "{shallow:?}");
    let deep = misfits::<Node>(&nested(50, r#"{"type":"leaf","n":"x"}"#));
    assert!(deep[0].1.contains("too large to say where"), "{deep:?}");
    assert!(deep[1].1.contains("invalid type: string"), "{deep:?}");
}

#[test]
fn many_unknown_keys_beside_an_alias_cost_linear_time() {
    let keys: String = (0..20_000).map(|number| format!("\"k{number}\":1,")).collect();
    refused::<Aliased>(Stage::SchemaValidate, &format!("{{{keys}\"number\":1}}"));
}

#[test]
fn a_huge_key_that_is_given_twice_does_not_fill_the_message() {
    let key = "k".repeat(1 << 20);
    let error = refused::<N>(Stage::JsonParse, &format!("{{\"{key}\":1,\"{key}\":2}}"));
    assert!(error.to_string().len() < 2000 && format!("{error:#}").len() < 4000);
}
