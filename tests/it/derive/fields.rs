//! Fields: optional, defaulted, renamed, skipped, flattened.

use std::collections::BTreeMap;
use std::fmt::Debug;

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::agreement::{agrees_with_serde, answer, problem_paths};

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[output(tag = "person")]
struct Person {
    full_name: String,
    #[serde(rename = "years")]
    age: Option<u8>,
    #[serde(default)]
    pet_names: Vec<String>,
    #[serde(skip)]
    seen: bool,
}

#[test]
fn fields_go_by_their_serde_names() {
    agrees_with_serde::<Person>(
        &[
            r#"{"fullName":"Ada"}"#,
            r#"{"fullName":"Ada","years":null,"petNames":[]}"#,
            r#"{"petNames":["Bo"],"years":36,"fullName":"Ada"}"#,
        ],
        &[
            r#"{}"#,
            r#"{"full_name":"Ada"}"#,
            r#"{"fullName":"Ada","age":36}"#,
            r#"{"fullName":"Ada","years":256}"#,
            r#"{"fullName":"Ada","petNames":null}"#,
            r#"{"fullName":"Ada","seen":true}"#,
        ],
    );
    assert_eq!(problem_paths::<Person>(r#"{"fullName":"Ada","years":"36"}"#), ["/years"]);
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "aliased")]
struct Aliased {
    #[serde(alias = "label")]
    name: String,
    #[serde(default, alias = "remark")]
    note: String,
}

/// The schema knows no alias, but an answer may use one.
#[test]
fn an_alias_is_as_good_as_the_name() {
    agrees_with_serde::<Aliased>(
        &[
            r#"{"name":"a"}"#,
            r#"{"name":"a","remark":"b"}"#,
            r#"{"label":"a"}"#,
            r#"{"label":"a","note":"b"}"#,
        ],
        &[r#"{}"#, r#"{"label":1}"#, r#"{"label":"a","name":"b"}"#, r#"{"lable":"a"}"#],
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "flat")]
struct Flat {
    a: i32,
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Inner {
    c: String,
}

/// Case 43: serde alone cannot name the field.
#[test]
fn case_043_a_flattened_field_is_named_in_the_problem() {
    agrees_with_serde::<Flat>(&[r#"{"a":1,"c":"x"}"#], &[r#"{"a":1}"#, r#"{"a":1,"inner":{"c":"x"}}"#]);
    assert_eq!(problem_paths::<Flat>(r#"{"a":1,"c":5}"#), ["/c"]);
}

/// Case 45: for a schema `1.0` is an integer, for serde it is not.
#[test]
fn case_045_a_real_number_is_no_integer() {
    assert_eq!(problem_paths::<Flat>(r#"{"a":1.0,"c":"x"}"#).len(), 1);
    #[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
    #[output(tag = "result")]
    struct Number {
        n: i64,
    }
    assert_eq!(problem_paths::<Number>(r#"{"n":1.0}"#), ["/n"]);
    assert_eq!(answer::<Number>(r#"{"n":1}"#).unwrap().n, 1);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(deny_unknown_fields)]
#[output(tag = "closed")]
struct Closed<E> {
    property: String,
    #[serde(flatten)]
    rest: E,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Keyed {
    X(bool),
    Y { size: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "variant", rename_all = "snake_case")]
enum Tagged {
    X,
    Y { size: u8 },
}

/// What a generic output needs of the type that fills it.
trait AgentPart: Serialize + DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> AgentPart for T {}

/// Case 81: whatever such a type serialises to must satisfy its schema.
#[test]
fn case_081_a_closed_struct_with_a_flattened_part_can_be_answered() {
    fn round_trip<E>(rest: E)
    where
        E: AgentPart + PartialEq + Debug,
    {
        let value = Closed { property: "p".to_owned(), rest };
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(answer::<Closed<E>>(&json).unwrap(), value, "{json}");
    }
    round_trip(Inner { c: "x".to_owned() });
    round_trip(Keyed::X(true));
    round_trip(Keyed::Y { size: 3 });

    let unknown = r#"{"property":"p","c":"x","d":1}"#;
    assert_eq!(problem_paths::<Closed<Inner>>(unknown).len(), 1);
}

/// Case 81: an internally tagged part is one that serde itself cannot read back; the schema is not what refuses it.
#[test]
fn case_081_a_closed_struct_with_a_flattened_tagged_enum_is_refused_by_serde_alone() {
    let value = Closed { property: "p".to_owned(), rest: Tagged::Y { size: 3 } };
    let json = serde_json::to_string(&value).unwrap();
    assert!(serde_json::from_str::<Closed<Tagged>>(&json).is_err());
    let error = answer::<Closed<Tagged>>(&json).unwrap_err();
    assert!(error.problems[0].message.contains("unknown field"), "{error:#}");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "maybe")]
struct Maybe {
    #[serde(flatten)]
    variant: Option<Tagged>,
}

/// Case 84.
#[test]
fn case_084_a_flattened_option_may_be_absent() {
    agrees_with_serde::<Maybe>(&["{}", r#"{"variant":"x"}"#, r#"{"variant":"y","size":1}"#], &["[]"]);
    assert_eq!(answer::<Maybe>("{}").unwrap(), Maybe { variant: None });
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "nested")]
struct Nested {
    groups: BTreeMap<String, Vec<Option<Inner>>>,
    pair: (u8, bool),
}

#[test]
fn problems_are_found_at_any_depth() {
    agrees_with_serde::<Nested>(
        &[r#"{"groups":{},"pair":[1,true]}"#, r#"{"groups":{"a":[null,{"c":"x"}]},"pair":[0,false]}"#],
        &[
            r#"{"groups":[],"pair":[1,true]}"#,
            r#"{"groups":{},"pair":[1]}"#,
            r#"{"groups":{},"pair":[1,true,2]}"#,
        ],
    );
    let paths = problem_paths::<Nested>(r#"{"groups":{"a":[{"c":"x"},{"c":1}]},"pair":[1,"true"]}"#);
    assert!(paths.contains(&"/pair/1".to_owned()), "{paths:?}");
    assert!(paths.iter().any(|path| path.starts_with("/groups/a/1")), "{paths:?}");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "list")]
struct List(Vec<i64>);

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "point")]
struct Point(f64, f64);

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "nothing")]
struct Nothing;

#[test]
fn tuple_structs_are_arrays_and_a_unit_is_null() {
    agrees_with_serde::<List>(&["[]", "[1,-2]"], &[r#"["1"]"#, "1", "{}"]);
    agrees_with_serde::<Point>(&["[1,2.5]"], &["[1]", "[1,2,3]", r#"{"0":1,"1":2}"#]);
    agrees_with_serde::<Nothing>(&["null"], &["{}", "[]", "0"]);
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
#[output(tag = "version")]
struct Version(u32, u32);

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (major, minor) = text.split_once('.').ok_or("needs a dot")?;
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
        Ok(Self(number(major)?, number(minor)?))
    }
}

#[test]
fn a_conversion_may_refuse_what_the_schema_accepts() {
    agrees_with_serde::<Version>(&[r#""1.25""#], &["1.25", r#""1""#]);
    let error = answer::<Version>(r#""1.x""#).unwrap_err();
    assert!(error.problems[0].message.contains("`x` is no number"), "{error:#}");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[serde(transparent)]
#[output(tag = "names")]
struct Transparent {
    names: Vec<String>,
}

#[test]
fn a_transparent_struct_is_its_field() {
    agrees_with_serde::<Transparent>(&[r#"["a"]"#], &[r#"{"names":["a"]}"#]);
}
