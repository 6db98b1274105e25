//! From a block to a value or its errors: one test for each case from the field, by the number of its row.

mod alias;
mod costly;
mod doors;
mod error;
mod feedback;
mod fence;
mod hostile;
mod json;
mod prepare;
mod schema;
mod spec;
mod tag;
mod zoo;

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{AgentOutput, ExtractError, OutputFormat, OutputSpec, Problem, Stage, typed};

/// Makes types outputs with the tag `result`, as the derive does.
macro_rules! outputs {
    ($($type:ty $(=> $validate:expr)?),+ $(,)?) => {$(
        impl crate::output::AgentOutput for $type {
            const TAG: &'static str = "result";
            const FORMAT: crate::output::OutputFormat = crate::output::OutputFormat::Json;
            const MAX_RETRIES: u32 = 0;

            fn schema() -> schemars::Schema {
                crate::__private::schema_for::<$type>()
            }

            fn extract(text: &str) -> Result<Self, crate::output::ExtractError> {
                crate::__private::extract_json(text)
            }

            fn prompt_snippet() -> String {
                "<result></result>".to_owned()
            }

            fn read_block(
                block: &str,
                spec: &crate::output::OutputSpec,
            ) -> Result<Self, crate::output::ExtractError> {
                crate::__private::read_json(block, spec)
            }
            $(
            fn validate(&self) -> Result<(), Vec<crate::output::Problem>> {
                $validate(self)
            }
            )?
        }
    )+};
}
use outputs;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct N {
    n: i64,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct S {
    s: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct O {
    a: i64,
    b: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct L {
    items: Vec<i64>,
}

outputs!(N, S, O, L);

/// Reads a block into a type: alone, as a run does, and in a text, as a user does, which must give the same.
#[track_caller]
fn read<T: AgentOutput + DeserializeOwned + Debug>(block: &str) -> Result<T, ExtractError> {
    let alone = typed::read(block, &OutputSpec::of::<T>());
    // Of a text, terminal escape sequences are dropped.
    if !block.contains('\u{1b}') {
        let in_a_text = T::extract(&format!("Here it is: <result>{block}</result>\nDone."));
        assert_eq!(format!("{in_a_text:?}"), format!("{alone:?}"), "{block}");
    }
    alone
}

/// Reads a block that must be refused.
#[track_caller]
fn refused<T: AgentOutput + DeserializeOwned + Debug>(stage: Stage, block: &str) -> ExtractError {
    let error = read::<T>(block).expect_err("the block must be refused");
    assert_eq!(error.stage(), stage, "{block}: {error:#}");
    assert!(!error.problems.is_empty(), "{block}: refused without a reason");
    assert_eq!(error.raw_matched.as_deref(), Some(block));
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    error
}

/// Returns the paths and messages of the problems of a value that must not fit.
#[track_caller]
fn misfits<T: AgentOutput + DeserializeOwned + Debug>(block: &str) -> Vec<(String, String)> {
    let problems = refused::<T>(Stage::SchemaValidate, block).problems;
    problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
}

/// Writes what [`misfits`] returns.
fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, message)| ((*path).to_owned(), (*message).to_owned())).collect()
}
