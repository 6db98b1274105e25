//! Blocks that are made to cost time, memory or a reader's patience.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{N, Stage, outputs, refused};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Aliased {
    #[serde(alias = "number")]
    n: i64,
}

outputs!(Aliased);

#[test]
fn many_unknown_keys_beside_an_alias_cost_linear_time() {
    let keys: String = (0..100_000).map(|number| format!("\"k{number}\":1,")).collect();
    refused::<Aliased>(Stage::SchemaValidate, &format!("{{{keys}\"number\":1}}"));
}

#[test]
fn a_huge_key_that_is_given_twice_does_not_fill_the_message() {
    let key = "k".repeat(1 << 20);
    let error = refused::<N>(Stage::JsonParse, &format!("{{\"{key}\":1,\"{key}\":2}}"));
    assert!(error.to_string().len() < 2000 && format!("{error:#}").len() < 4000);
}
