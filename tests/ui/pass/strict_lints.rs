//! The generated code sets off no lint, and allows none either, so that it may stand under `forbid`.

#![deny(warnings, missing_docs, rust_2018_idioms, single_use_lifetimes, unnameable_types, unreachable_pub)]
#![deny(unused_lifetimes, unused_qualifications)]
#![forbid(unsafe_code)]

use sandcastle::AgentOutput;
use sandcastle::output::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

/// A report.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "report", validate = "crate::check", prepare = "crate::tidy")]
pub struct Report<T> {
    /// What was found.
    pub found: T,
}

/// Serde's own derive could not stand here.
pub mod forbidding {
    #![forbid(dead_code, missing_docs, non_snake_case, non_upper_case_globals, unused_imports, unused_qualifications)]

    use super::{AgentOutput, Problem};

    /// A summary.
    #[derive(AgentOutput)]
    #[output(tag = "summary", text, validate = "self::check")]
    #[output(max_retries = 1)]
    pub struct Summary(pub String);

    fn check(_: &Summary) -> Result<(), Vec<Problem>> {
        Ok(())
    }
}

fn check<T>(_: &Report<T>) -> Result<(), Vec<Problem>> {
    Ok(())
}

fn tidy(value: &mut serde_json::Value) {
    if let Some(text) = value["found"].as_str() {
        value["found"] = text.len().into();
    }
}

fn main() {
    let report = Report::<u8>::extract(r#"<report>{"found":"x"}</report>"#).unwrap();
    assert_eq!((report.found, forbidding::Summary::MAX_RETRIES), (1, 1));
}
