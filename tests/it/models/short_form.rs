//! The short form of the comparison in docs/STRATEGIES.md: every strategy asks a real model for every type of it once.
//!
//! How often a small model succeeds is for the bench to say. What holds in every try is said here: no value comes out that the
//! type's schema refuses, what the server enforces it enforces, and an answer that was cut off is called so.
//! It needs `.ci/model start`.

#[path = "../../../benches/strategies/cases.rs"]
mod cases;

use sandcastle::models::{Capabilities, OpenAiCompatible};
use sandcastle::output::lower::Dialect;
use sandcastle::{AttemptOutcome, Error, ModelRun, OutputSpec, OutputStrategy, Stage};
use serde_json::Value;

use self::cases::{Case, MAX_OUTPUT_TOKENS, Release, Review, TEMPERATURE, Ticket};
use crate::support::real_model::RealModel;

/// The server is not declared to have a tool that it can be made to call; here it is, to see that nothing is made of that.
fn model(real: &RealModel) -> OpenAiCompatible {
    let capabilities = Capabilities::of(Dialect::LlamaCpp).with_native().with_forced_tool();
    OpenAiCompatible::llama_cpp(&real.url).model(&real.name).declares(capabilities)
}

/// Asks for a `T` in answers of so many tokens, and once more if the first one is not valid.
async fn ask<T: Case>(real: &RealModel, strategy: OutputStrategy, most_tokens: u32) -> Result<Value, Error> {
    let schema = schemars::schema_for!(T).to_value();
    let judge = jsonschema::validator_for(&schema).expect("a schema");
    let spec = OutputSpec::json("result", schema).expect("a schema").max_retries(1).expect("a retry");
    let run = ModelRun::new(model(real)).prompt(T::prompt(0)).output_spec(spec).strategy(strategy);
    let result = run.temperature(TEMPERATURE).max_output_tokens(most_tokens).run_typed().await?;
    let problems: Vec<_> = judge.iter_errors(&result.output).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{}: {strategy} delivered {}: {problems:?}", T::NAME, result.output);
    Ok(result.output)
}

#[track_caller]
fn assert_about_the_answer(error: &Error, name: &str) {
    let output = error.structured_output().unwrap_or_else(|| panic!("{name}: {error:#}"));
    assert_eq!(output.attempts.len(), 2, "{name}: {error:#}");
    assert!(!matches!(output.stage(), Stage::Refused | Stage::Filtered), "{name}: {error:#}");
}

#[tokio::test]
async fn what_the_server_enforces_is_there_at_once_and_the_rest_is_judged_here() {
    let Some(real) = RealModel::find() else { return };
    ask::<Ticket>(&real, OutputStrategy::Native, MAX_OUTPUT_TOKENS).await.expect("a flat object");
    ask::<Review>(&real, OutputStrategy::Native, 2 * MAX_OUTPUT_TOKENS).await.expect("nested objects");
    // Lengths beside patterns are not enforced there.
    if let Err(error) = ask::<Release>(&real, OutputStrategy::Native, MAX_OUTPUT_TOKENS).await {
        assert_about_the_answer(&error, Release::NAME);
    }
}

#[tokio::test]
async fn words_bring_a_good_value_or_say_what_is_wrong() {
    let Some(real) = RealModel::find() else { return };
    let tries = [
        (Ticket::NAME, ask::<Ticket>(&real, OutputStrategy::Tag, MAX_OUTPUT_TOKENS).await),
        (Review::NAME, ask::<Review>(&real, OutputStrategy::Tag, MAX_OUTPUT_TOKENS).await),
        (Release::NAME, ask::<Release>(&real, OutputStrategy::Tag, MAX_OUTPUT_TOKENS).await),
    ];
    for (name, tried) in tries {
        if let Err(error) = tried {
            assert_about_the_answer(&error, name);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_called_so_whatever_asked_for_it() {
    let Some(real) = RealModel::find() else { return };
    for strategy in [OutputStrategy::Tag, OutputStrategy::Native, OutputStrategy::ForcedTool] {
        let error = ask::<Ticket>(&real, strategy, 8).await.expect_err("it takes more tokens");
        let output = error.structured_output().unwrap_or_else(|| panic!("{strategy}: {error:#}"));
        // The second answer has twice the room: not enough for a value, but for a word of excuse.
        assert_eq!(output.attempts[0].outcome, AttemptOutcome::Truncated, "{strategy}: {error:#}");
    }
}
