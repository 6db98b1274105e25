//! serde aliases, which schemars does not know.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Stage, misfits, outputs, pairs, read, refused};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Named {
    #[serde(alias = "label", alias = "title")]
    #[schemars(length(max = 5))]
    name: String,
    #[serde(default, alias = "remark")]
    note: String,
    level: Option<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    #[serde(alias = "lo", alias = "minor")]
    Low,
    #[serde(alias = "hi")]
    High,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Nested {
    #[serde(alias = "entries")]
    items: Vec<Named>,
    by_name: Option<BTreeMap<String, Named>>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    rest: Named,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    #[serde(default, alias = "remark")]
    note: String,
    #[serde(default)]
    other: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Shape {
    #[serde(alias = "disc")]
    Circle(u8),
    Square(u8),
    #[serde(alias = "none")]
    Nothing,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    #[serde(alias = "disc")]
    Circle {
        #[serde(alias = "r")]
        radius: u8,
    },
    Square {
        side: u8,
    },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Named(Named),
    Level(Level),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Colour {
    #[schemars(extend("enum" = ["red", "blue"]))]
    name: String,
}

outputs!(Named, Level, Nested, Flat, Closed, Shape, Tagged, Either, Colour);

fn named(name: &str) -> Named {
    Named { name: name.to_owned(), note: String::new(), level: None }
}

#[test]
fn an_alias_is_as_good_as_the_name() {
    assert_eq!(read::<Named>(r#"{"label":"a"}"#).unwrap(), named("a"));
    assert_eq!(
        read::<Named>(r#"{"remark":"b","title":"a"}"#).unwrap(),
        Named { note: "b".into(), ..named("a") }
    );
    assert_eq!(read::<Closed>(r#"{"remark":"a"}"#).unwrap().note, "a");
    assert_eq!(read::<Flat>(r#"{"id":1,"label":"a"}"#).unwrap().rest, named("a"));
    assert_eq!(read::<Either>(r#"{"label":"a"}"#).unwrap(), Either::Named(named("a")));
}

#[test]
fn an_alias_may_stand_at_any_depth() {
    let nested = read::<Nested>(r#"{"entries":[{"label":"a"},{"name":"b"},{"title":"c"}]}"#).unwrap();
    assert_eq!(nested.items, [named("a"), named("b"), named("c")]);
    let nested = read::<Nested>(r#"{"items":[],"by_name":{"label":{"label":"a","level":"minor"}}}"#).unwrap();
    assert_eq!(nested.by_name.unwrap()["label"], Named { level: Some(Level::Low), ..named("a") });
}

#[test]
fn an_alias_may_name_a_variant() {
    assert_eq!(read::<Level>(r#""lo""#).unwrap(), Level::Low);
    assert_eq!(read::<Level>(r#""hi""#).unwrap(), Level::High);
    assert_eq!(read::<Shape>(r#"{"disc":3}"#).unwrap(), Shape::Circle(3));
    assert_eq!(read::<Shape>(r#""none""#).unwrap(), Shape::Nothing);
    assert_eq!(read::<Tagged>(r#"{"kind":"disc","r":3}"#).unwrap(), Tagged::Circle { radius: 3 });
    assert_eq!(read::<Either>(r#""minor""#).unwrap(), Either::Level(Level::Low));
}

#[test]
fn what_is_no_alias_is_still_refused() {
    refused::<Named>(Stage::SchemaValidate, r#"{"lable":"a"}"#);
    refused::<Named>(Stage::SchemaValidate, r#"{"label":"a","name":"b"}"#);
    assert_eq!(
        misfits::<Named>(r#"{"label":1}"#),
        pairs(&[("/name", "is required"), ("/label", "must be a string, got integer `1`")])
    );
    refused::<Level>(Stage::SchemaValidate, r#""l""#);
    refused::<Closed>(Stage::SchemaValidate, r#"{"remrk":"a"}"#);
    refused::<Shape>(Stage::SchemaValidate, r#"{"disk":3}"#);
    refused::<Shape>(Stage::SchemaValidate, r#"{"nothing":null}"#);
}

#[test]
fn constraints_count_under_each_name() {
    assert_eq!(
        misfits::<Named>(r#"{"label":"too long"}"#),
        pairs(&[("/label", "must be at most 5 characters long")])
    );
    assert_eq!(
        misfits::<Nested>(r#"{"entries":[{"name":"a"},{"title":"too long"}]}"#),
        pairs(&[("/entries/1/title", "must be at most 5 characters long")])
    );
}

#[test]
fn a_string_that_only_the_schema_restricts_is_restricted() {
    assert_eq!(misfits::<Colour>(r#"{"name":"green"}"#), pairs(&[("/name", "must be one of `red`, `blue`")]));
}

#[test]
fn many_aliases_are_found_with_few_questions() {
    let items = vec![r#"{"label":"a","level":"lo"}"#; 2000].join(",");
    assert_eq!(read::<Nested>(&format!("{{\"entries\":[{items}]}}")).unwrap().items.len(), 2000);
}
