//! The generated code sets off no lint and allows none, so that it stands under `forbid` too.

#![forbid(unsafe_code, unused_qualifications, unused_lifetimes, unreachable_pub, missing_docs, rust_2018_idioms)]
#![forbid(non_snake_case, non_upper_case_globals, unused_imports, unnameable_types, single_use_lifetimes)]
#![deny(warnings)]

use sandcastle::AgentOutput;
use sandcastle::output::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

/// A report.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "report", validate = "crate::check")]
pub struct Report<T> {
    /// What was found.
    pub found: T,
}

/// A summary.
#[derive(AgentOutput)]
#[output(tag = "summary", text)]
#[output(max_retries = 1)]
pub struct Summary(pub String);

fn check<T>(_: &Report<T>) -> Result<(), Vec<Problem>> {
    Ok(())
}

fn main() {
    let report = Report::<u8>::extract(r#"<report>{"found":1}</report>"#).unwrap();
    assert_eq!((report.found, Summary::MAX_RETRIES), (1, 1));
}
