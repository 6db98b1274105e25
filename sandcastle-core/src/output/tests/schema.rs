//! What schemars says of types, and what serde does with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OutputSpec, Stage, misfits, outputs, pairs, read, refused};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    v: i64,
    #[serde(default)]
    kids: Vec<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Expr {
    Number(i64),
    Not(Box<Expr>),
    And { left: Box<Expr>, right: Box<Expr> },
}

outputs!(Tree, Expr);

fn tree(depth: usize, innermost: &str) -> String {
    let open = r#"{"v":1,"kids":["#.repeat(depth - 1);
    format!("{open}{innermost}{}", "]}".repeat(depth - 1))
}

#[test]
fn case_079_a_tree_is_read_to_its_leaves() {
    let value = read::<Tree>(&tree(3, r#"{"v":2}"#)).unwrap();
    assert_eq!(value.kids[0].kids[0], Tree { v: 2, kids: Vec::new() });
    assert_eq!(read::<Tree>(&serde_json::to_string(&value).unwrap()).unwrap(), value);
    let problems = misfits::<Tree>(&tree(3, r#"{"v":"2"}"#));
    assert_eq!(problems, pairs(&[("/kids/0/kids/0/v", r#"must be an integer, got string "2""#)]));
}

#[test]
fn case_079_a_tree_beyond_the_limit_is_an_error_with_a_place() {
    let error = refused::<Tree>(Stage::JsonParse, &tree(200, r#"{"v":2}"#));
    assert!(
        error.problems[0].message.starts_with("nested more than 127 levels deep at line 1 column "),
        "{error}"
    );
    assert!(read::<Tree>(&tree(63, r#"{"v":2}"#)).is_ok());
    assert_eq!(misfits::<Tree>(&tree(63, "{}"))[0].0, format!("{}/v", "/kids/0".repeat(62)));
}

#[test]
fn case_079_alternatives_within_alternatives_are_searched() {
    let deep = format!("{}{{\"Number\":\"x\"}}{}", r#"{"Not":"#.repeat(60), "}".repeat(60));
    let problems = misfits::<Expr>(&deep);
    assert_eq!(
        problems,
        pairs(&[(&format!("{}/Number", "/Not".repeat(60)), r#"must be an integer, got string "x""#)])
    );
    assert_eq!(
        misfits::<Expr>(r#"{"And":{"left":{"Number":1},"right":{"Nor":1}}}"#),
        pairs(&[("/And/right", "must have exactly one of the keys `Number`, `Not`, `And`")])
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Int {
    X,
    Y { size: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Maybe {
    #[serde(flatten)]
    e: Option<Int>,
}

outputs!(Int, Maybe);

#[test]
fn case_084_a_flattened_option_may_be_absent() {
    assert_eq!(read::<Maybe>("{}").unwrap(), Maybe { e: None });
    assert_eq!(read::<Maybe>(r#"{"kind":"x"}"#).unwrap(), Maybe { e: Some(Int::X) });
    assert_eq!(read::<Maybe>(r#"{"kind":"y","size":1}"#).unwrap(), Maybe { e: Some(Int::Y { size: 1 }) });
}

#[test]
fn the_variant_that_was_meant_is_explained() {
    assert_eq!(misfits::<Int>(r#"{"kind":"y"}"#), pairs(&[("/size", "is required")]));
    assert_eq!(
        misfits::<Int>(r#"{"kind":"y","size":"1"}"#),
        pairs(&[("/size", r#"must be an integer, got string "1""#)])
    );
    assert_eq!(misfits::<Int>(r#"{"kind":"z"}"#), pairs(&[("/kind", "must be one of `x`, `y`")]));
    assert_eq!(misfits::<Int>(r#"{"size":1}"#), pairs(&[("/kind", "is required")]));
    assert_eq!(misfits::<Int>("5"), pairs(&[("", "must be an object, got 5")]));
    assert_eq!(misfits::<Expr>("5"), pairs(&[("", "must be an object, got 5")]));
    assert_eq!(misfits::<Expr>(r#"{"Not":5}"#), pairs(&[("/Not", "must be an object, got 5")]));
    assert_eq!(misfits::<Mixed>("5"), pairs(&[("", "must be a string or an object, got 5")]));
    assert_eq!(misfits::<Mixed>(r#""c""#), pairs(&[("", "must be one of `A`, `B`, or an object")]));
    assert_eq!(misfits::<Documented>(r#""c""#), pairs(&[("", "must be one of `A`, `B`")]));
    assert_eq!(
        misfits::<Options>(r#"{"a":{"n":"x"}}"#),
        pairs(&[("/a/n", r#"must be an integer, got string "x""#)])
    );
    assert_eq!(misfits::<Options>(r#"{"a":1}"#), pairs(&[("/a", "must be an object or null, got 1")]));
    assert_eq!(misfits::<Options>(r#"{"b":"c"}"#), pairs(&[("/b", "must be one of `A`, `B`")]));
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its reading is of interest")]
enum Mixed {
    A,
    B,
    C { n: i64 },
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Documented {
    /// The first.
    A,
    /// The second.
    B,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its reading is of interest")]
struct Options {
    a: Option<super::N>,
    b: Option<Documented>,
}

outputs!(Mixed, Documented, Options);

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Ordered {
    reasoning: String,
    answer: i32,
    #[serde(default)]
    aside: i32,
}

outputs!(Ordered);

#[test]
fn case_085_fields_keep_their_order() {
    let schema = OutputSpec::of::<Ordered>().schema().clone();
    let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["reasoning", "answer", "aside"]);
}

#[test]
fn case_087_required_is_what_serde_cannot_do_without() {
    let schema = OutputSpec::of::<Ordered>().schema().clone();
    assert_eq!(schema["required"], serde_json::json!(["reasoning", "answer"]));
    assert!(read::<Ordered>(r#"{"reasoning":"","answer":1}"#).is_ok());
    assert_eq!(misfits::<Ordered>(r#"{"reasoning":""}"#), pairs(&[("/answer", "is required")]));
}
