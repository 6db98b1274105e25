//! `#[output(prepare = "...")]`: what models write instead, put into the schema's form.

use sandcastle::output::Stage;
use sandcastle::{AgentOutput, OutputSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::agreement::{answer, problem_paths};

/// Numbers, of which a model gives one alone without its list.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "numbers", prepare = "Self::listed")]
struct Numbers {
    all: Vec<Number>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "number", prepare = "of_text")]
struct Number {
    value: u8,
}

impl Numbers {
    fn listed(value: &mut Value) {
        if let Some(all) = value.get_mut("all").filter(|all| all.is_object()) {
            *all = json!([all.take()]);
        }
    }
}

fn of_text(value: &mut Value) {
    if let Some(number) = value.as_str().and_then(|text| text.parse::<u8>().ok()) {
        *value = json!({ "value": number });
    }
}

/// The same for every instance of a generic type.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "wrapped", prepare = "wrap", validate = "Wrapped::check")]
struct Wrapped<T> {
    #[expect(dead_code, reason = "only its reading is of interest")]
    inner: T,
}

impl<T> Wrapped<T> {
    fn check(&self) -> Result<(), Vec<sandcastle::Problem>> {
        Err(vec![sandcastle::Problem::new("", "is seen by its own validation")])
    }
}

fn wrap(value: &mut Value) {
    if !value.is_object() {
        *value = json!({ "inner": value.take() });
    }
}

#[test]
fn an_answer_is_prepared_and_then_judged() {
    let number = |value| Number { value };
    assert_eq!(answer::<Number>(r#""7""#).unwrap(), number(7));
    assert_eq!(answer::<Numbers>(r#"{"all":{"value":7}}"#).unwrap().all, [number(7)]);
    assert_eq!(answer::<Numbers>(r#"{"all":[{"value":7}]}"#).unwrap().all, [number(7)]);
    assert_eq!(problem_paths::<Numbers>(r#"{"all":{"value":700}}"#), ["/all/0/value"]);
    assert_eq!(problem_paths::<Number>(r#""seven""#), [""]);
}

#[test]
fn a_field_is_not_prepared_by_its_own_type() {
    assert_eq!(problem_paths::<Numbers>(r#"{"all":["7"]}"#), ["/all/0"]);
}

#[test]
fn it_works_for_generic_types_and_before_validation() {
    let error = answer::<Wrapped<u8>>("3").unwrap_err();
    assert_eq!((error.stage(), error.value), (Stage::Rejected, Some(json!({ "inner": 3 }))));
    assert_eq!(problem_paths::<Wrapped<u8>>(r#""x""#), ["/inner"]);
}

#[test]
fn a_contract_at_run_time_has_it_too() {
    assert_eq!(OutputSpec::of::<Number>().read_block(r#""7""#).unwrap(), json!({ "value": 7 }));
}
