//! Holds a type's schema, its extraction and plain serde against each other.

use std::fmt::Debug;

use sandcastle::AgentOutput;
use sandcastle::output::{ExtractError, Stage};
use serde::de::DeserializeOwned;

/// Extracts from a text in which `json` is the answer.
#[track_caller]
pub(super) fn answer<T: AgentOutput>(json: &str) -> Result<T, ExtractError> {
    T::extract(&format!("Done.\n<{tag}>{json}</{tag}>\n", tag = T::TAG))
}

/// Extracts from `json`, which must be refused for what it says, and returns the paths of the problems.
#[track_caller]
pub(super) fn problem_paths<T: AgentOutput + Debug>(json: &str) -> Vec<String> {
    let error = answer::<T>(json).expect_err("the answer must be refused");
    assert_eq!(error.stage(), Stage::SchemaValidate, "{json}: {error:#}");
    assert!(!error.problems.is_empty(), "{json}: refused without a reason");
    error.problems.into_iter().map(|problem| problem.path).collect()
}

/// Checks that serde, and the type as an output, both read each of `good` as the same value and refuse each of `bad`.
#[track_caller]
pub(super) fn agrees_with_serde<T>(good: &[&str], bad: &[&str])
where
    T: AgentOutput + DeserializeOwned + PartialEq + Debug,
{
    for json in good {
        let expected: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("serde: {json}: {error}"));
        let value = answer::<T>(json).unwrap_or_else(|error| panic!("{json}: {error:#}"));
        assert_eq!(value, expected, "{json}");
    }
    for json in bad {
        assert!(serde_json::from_str::<T>(json).is_err(), "serde accepts {json}");
        problem_paths::<T>(json);
    }
}
