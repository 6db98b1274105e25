//! What the keys of `#[output(...)]` turn into.

use sandcastle::AgentOutput;
use sandcastle::output::{OutputFormat, Problem, Stage};
use schemars::JsonSchema;
use serde::Deserialize;

use super::agreement::answer;

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "plan")]
struct Plan {
    steps: u32,
}

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(max_retries = 10)]
#[output(tag = "_Plan-2.b", validate = "checks::not_empty")]
struct CheckedPlan {
    steps: u32,
}

mod checks {
    use super::{CheckedPlan, Problem};

    pub(super) fn not_empty(plan: &CheckedPlan) -> Result<(), Vec<Problem>> {
        if plan.steps > 0 { Ok(()) } else { Err(vec![Problem::new("/steps", "must be at least one")]) }
    }
}

trait Audited {
    fn audit(&self) -> Result<(), Vec<Problem>>;
}

impl Audited for Plan2 {
    fn audit(&self) -> Result<(), Vec<Problem>> {
        Err(vec![Problem::new("", "is never good enough"), Problem::new("/0", "least of all this")])
    }
}

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "plan", validate = "<Self as Audited>::audit")]
struct Plan2(#[expect(dead_code, reason = "only its reading is of interest")] Vec<u8>);

#[test]
fn what_is_not_said_has_a_default() {
    assert_eq!((Plan::TAG, Plan::FORMAT, Plan::MAX_RETRIES), ("plan", OutputFormat::Json, 0));
    assert_eq!(Plan { steps: 0 }.validate(), Ok(()));
    assert_eq!(answer::<Plan>(r#"{"steps":0}"#).unwrap().steps, 0);
}

#[test]
fn keys_may_stand_in_several_attributes() {
    assert_eq!((CheckedPlan::TAG, CheckedPlan::MAX_RETRIES), ("_Plan-2.b", 10));
}

#[test]
fn a_value_must_pass_the_users_function() {
    assert_eq!(answer::<CheckedPlan>(r#"{"steps":1}"#).unwrap().steps, 1);

    let error = answer::<CheckedPlan>(r#"{"steps":0}"#).unwrap_err();
    assert_eq!(error.stage(), Stage::Rejected);
    assert_eq!(error.problems, [Problem::new("/steps", "must be at least one")]);
    assert_eq!(error.value, Some(serde_json::json!({"steps": 0})));
}

#[test]
fn the_function_is_not_asked_about_a_value_that_is_none() {
    assert_eq!(answer::<CheckedPlan>(r#"{"steps":-1}"#).unwrap_err().stage(), Stage::SchemaValidate);
}

#[test]
fn the_function_may_be_a_method_of_a_trait() {
    let error = answer::<Plan2>("[]").unwrap_err();
    assert_eq!((error.stage(), error.problems.len()), (Stage::Rejected, 2));
}

#[test]
fn the_snippet_names_the_tag_and_the_fields() {
    let snippet = CheckedPlan::prompt_snippet();
    for part in ["<_Plan-2.b>", "</_Plan-2.b>", "steps"] {
        assert!(snippet.contains(part), "`{part}` is not in {snippet}");
    }
}
