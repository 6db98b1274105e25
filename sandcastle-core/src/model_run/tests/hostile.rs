//! Models, validators and functions of the caller that mean no good.

use super::*;
use crate::output::Problem;
use crate::{AttemptOutcome, Stage};

#[tokio::test]
async fn a_validator_that_panics_rejects_the_answer() {
    let spec = OutputSpec::checked("result", |value| match value["n"].as_u64() {
        Some(_) => Ok(()),
        None => panic!("at the disco"),
    });
    let model = answering([BAD, GOOD]);
    let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(spec.unwrap()).max_retries(1);
    let result = run.await.unwrap();
    assert_eq!(result.attempts[0].outcome, AttemptOutcome::Rejected);
    assert!(last_said(&model.requests()[1]).ends_with("- the validation of the value panicked"));
}

#[tokio::test]
async fn who_looks_on_and_panics_is_told_no_more_and_costs_nothing() {
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let run = asking(&answering([GOOD])).on_event(move |_| {
        *counted.lock().unwrap() += 1;
        panic!("at the disco");
    });
    let result = run.await.unwrap();
    assert_eq!(result.output["n"], 1);
    assert!(result.warnings[0].contains("panicked"), "{:?}", result.warnings);
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[tokio::test]
async fn what_a_validator_says_without_end_is_bounded_everywhere() {
    let problems = || (0..5000).map(|n| Problem::new(format!("/{n}"), "x".repeat(5000))).collect();
    let spec = OutputSpec::checked("result", move |_| Err(problems())).unwrap();
    let model = answering([GOOD, GOOD]);
    let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(spec).max_retries(1);
    let result = run.run().await.unwrap();
    assert!(last_said(&model.requests()[1]).len() <= 4000);
    let kept: usize = result.attempts[0].problems.iter().map(|problem| problem.message.len()).sum();
    assert!(kept < 100_000, "{kept}");
    assert_eq!(result.attempts[0].problems.last().unwrap().message, "and 4900 more");
    assert!(result.attempts[0].message.as_ref().unwrap().len() < 3000);
}

#[tokio::test]
async fn messages_about_bad_json_do_not_repeat_the_answer() {
    let model = answering(["<result>{s3cret}</result>"]);
    let (run, told) = listening(asking(&model));
    let error = run.run_typed().await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().stage(), Stage::JsonParse);
    assert!(!error.to_string().contains("s3cret"), "{error}");
    let told = told.lock().unwrap();
    let failed = told.iter().find(|event| matches!(event, ModelRunEvent::AttemptFailed { .. }));
    assert!(!format!("{failed:?}").contains("s3cret"), "{failed:?}");
}

#[tokio::test]
async fn the_exact_answer_is_in_the_error_whatever_it_is() {
    let raw = "\u{feff} \u{1b}[1m<result>{\"n\": \"é\\u0000\"}</result>\r\n ";
    let error = asking(&answering([raw])).run_typed().await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().answer.as_deref(), Some(raw));
}

#[tokio::test]
async fn keys_that_mean_something_elsewhere_are_keys() {
    let model = answering([r#"<result>{"n":1,"__proto__":{"n":2}}</result>"#]);
    let error = asking(&model).run_typed().await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().problems[0].path, "/__proto__");
}

#[tokio::test]
async fn an_end_that_is_not_known_is_warned_of_and_the_answer_is_judged() {
    let model =
        ScriptedModel::new().answer_ending(GOOD, crate::model::ModelStop::Other("pa\nused".to_owned()));
    let result = asking(&model).await.unwrap();
    assert!(result.warnings[0].contains("`pa\\nused`"), "{:?}", result.warnings);
}

#[tokio::test]
async fn a_tag_of_any_name_makes_a_name_that_services_take() {
    let tag = format!("é.{}", "x".repeat(80));
    let name = super::super::plan::answer_tool_name(&tag, &[]);
    assert!(name.len() == 64 && name.starts_with("respond_with___xxx"), "{name}");
}

/// A model of the caller's own, with a mistake in it.
#[derive(Debug)]
struct Careless;

impl crate::model::Model for Careless {
    fn provider(&self) -> &str {
        "careless"
    }

    fn name(&self) -> &str {
        "c-1"
    }

    fn answer<'a>(
        &'a self,
        _: &'a ModelRequest,
        _: &'a mut crate::model::ModelListener<'a>,
    ) -> crate::model::ModelFuture<'a> {
        panic!("at the disco")
    }
}

#[tokio::test]
async fn a_model_that_panics_is_one_that_fails() {
    let error = ModelRun::new(Careless).prompt("Count.").output_spec(spec()).await.unwrap_err();
    assert!(error.to_string().contains("`c-1` of `careless`"), "{error}");
    assert!(format!("{error:#}").contains("panicked") || error.to_string().contains("panicked"), "{error:#}");
}

#[tokio::test]
async fn a_validator_that_panics_on_a_fallback_leaves_the_canned_value() {
    let spec = OutputSpec::checked("result", |value: &Value| match value["n"].as_u64() {
        Some(1) => panic!("at the disco"),
        Some(_) => Ok(()),
        None => Err(vec![Problem::new("/n", "is no number")]),
    });
    let spec = spec.unwrap().fallback(|_| Ok(json!({ "n": 1 }))).canned(json!({ "n": 2 })).unwrap();
    let result = ModelRun::new(answering([BAD])).prompt("Count.").output_spec(spec).await.unwrap();
    assert_eq!(result.output["n"], 2);
}
