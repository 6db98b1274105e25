//! Types with parameters.

use sandcastle::AgentOutput;
use sandcastle::output::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use super::agreement::{agrees_with_serde, answer, problem_paths};

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "found")]
struct Found<T> {
    items: Vec<T>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Place {
    file: String,
    line: u32,
}

#[test]
fn each_instance_has_its_own_schema() {
    let (numbers, places) = (Found::<u8>::schema(), Found::<Place>::schema());
    assert_ne!(numbers.as_value(), places.as_value());
    agrees_with_serde::<Found<u8>>(&[r#"{"items":[1]}"#], &[r#"{"items":["a"]}"#, r#"{"items":[256]}"#]);
    agrees_with_serde::<Found<Place>>(&[r#"{"items":[{"file":"a","line":1}]}"#], &[r#"{"items":[1]}"#]);
    assert_eq!(problem_paths::<Found<Place>>(r#"{"items":[{"file":"a","line":"b"}]}"#), ["/items/0/line"]);
}

#[test]
fn instances_nest() {
    agrees_with_serde::<Found<Found<bool>>>(
        &[r#"{"items":[{"items":[true]},{"items":[]}]}"#],
        &[r#"{"items":[{"items":[1]}]}"#, r#"{"items":[true]}"#],
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "few", validate = "at_most::<LIMIT>")]
struct Few<const LIMIT: usize>(Vec<u8>);

fn at_most<const LIMIT: usize>(few: &Few<LIMIT>) -> Result<(), Vec<Problem>> {
    if few.0.len() <= LIMIT { Ok(()) } else { Err(vec![Problem::new("", format!("at most {LIMIT}"))]) }
}

#[test]
fn constants_reach_the_validating_function() {
    assert_eq!(answer::<Few<2>>("[1,2]").unwrap(), Few(vec![1, 2]));
    assert_eq!(answer::<Few<1>>("[1,2]").unwrap_err().problems, [Problem::new("", "at most 1")]);
}
