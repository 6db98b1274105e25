//! What is given when no answer is valid: what a function makes of it, or a value that was put by.
//!
//! Both are judged as an answer is, by the judge that whoever asks brings along. A value that is put by is checked when it
//! is, and again when it is given.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;

use super::{ExtractError, OutputFormat};

/// Makes a value of an answer that is not valid, or says why it cannot.
type Fallback = dyn Fn(&ExtractError) -> Result<Value, String> + Send + Sync;

/// Judges the inside of a block, and keeps its value if it is good.
pub(crate) type BlockJudge<'a> = dyn FnMut(&str) -> Result<(), ExtractError> + 'a;

/// The steps below a valid answer, from the first to the last.
#[derive(Clone, Default)]
pub(crate) struct Ladder {
    fallback: Option<Arc<Fallback>>,
    canned: Option<Value>,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// The caller's function.
    Fallback,
    /// The value that was put by.
    Canned,
}

/// How far down it went.
#[derive(Debug)]
pub(crate) struct Descent {
    /// The step whose value is good; `None` if there is none.
    pub(crate) reached: Option<Rung>,
    /// What was wrong with those above it, each a fragment that follows "failed to".
    pub(crate) failed: Vec<String>,
}

impl Ladder {
    pub(crate) fn is_empty(&self) -> bool {
        self.fallback.is_none() && self.canned.is_none()
    }

    pub(crate) fn set_fallback(
        &mut self,
        fallback: impl Fn(&ExtractError) -> Result<Value, String> + Send + Sync + 'static,
    ) {
        self.fallback = Some(Arc::new(fallback));
    }

    /// Puts a value by, which has been judged.
    pub(crate) fn set_canned(&mut self, value: Value) {
        self.canned = Some(value);
    }

    /// Goes down until a value is good.
    pub(crate) fn descend(
        &self,
        error: &ExtractError,
        format: OutputFormat,
        judge: &mut BlockJudge<'_>,
    ) -> Descent {
        let mut failed = Vec::new();
        for (rung, made) in
            [(Rung::Fallback, self.made_of(error)), (Rung::Canned, self.canned.clone().map(Ok))]
        {
            let Some(made) = made else { continue };
            let good = made.and_then(|value| {
                let block = block_of(&value, format);
                judged(&error.tag, &block, judge).map_err(|error| format!("use its value: {error}"))
            });
            match good {
                Ok(()) => return Descent { reached: Some(rung), failed },
                Err(why) => failed.push(format!("{rung}: {why}")),
            }
        }
        Descent { reached: None, failed }
    }

    /// Asks the caller's function. A panic of it must not cost what the run has done.
    fn made_of(&self, error: &ExtractError) -> Option<Result<Value, String>> {
        let fallback = self.fallback.as_ref()?;
        let made = catch_unwind(AssertUnwindSafe(|| fallback(error)));
        Some(made.unwrap_or_else(|_| Err("it panicked".to_owned())))
    }
}

/// Calls a judge, whose type or validator is the caller's: a panic of it must not cost what was done before it.
///
/// # Errors
/// What the judge says, or that it panicked.
pub(crate) fn judged(tag: &str, block: &str, judge: &mut BlockJudge<'_>) -> Result<(), ExtractError> {
    catch_unwind(AssertUnwindSafe(|| judge(block)))
        .unwrap_or_else(|_| Err(ExtractError::panicked(tag, block)))
}

/// Returns a value as the block that an answer would have.
pub(crate) fn block_of(value: &Value, format: OutputFormat) -> String {
    match (format, value) {
        (OutputFormat::Text, Value::String(text)) => text.clone(),
        _ => value.to_string(),
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fallback => "the fallback function",
            Self::Canned => "the canned value",
        })
    }
}

impl fmt::Debug for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ladder")
            .field("fallback", &self.fallback.is_some())
            .field("canned", &self.canned.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::OutputSpec;
    use super::*;

    fn spec() -> OutputSpec {
        let schema =
            json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        OutputSpec::json("result", schema).unwrap()
    }

    fn descend(spec: &OutputSpec) -> (Descent, Option<Value>) {
        let error = spec.extract("nothing").unwrap_err();
        let mut kept = None;
        let descent = spec.ladder().descend(&error, spec.format(), &mut |block| {
            kept = Some(spec.read_block(block)?);
            Ok(())
        });
        (descent, kept)
    }

    #[test]
    fn the_function_comes_before_the_value_that_was_put_by() {
        let spec = spec().canned(json!({ "n": 2 })).unwrap().fallback(|_| Ok(json!({ "n": 1 })));
        let (descent, kept) = descend(&spec);
        assert_eq!((descent.reached, kept), (Some(Rung::Fallback), Some(json!({ "n": 1 }))));
    }

    #[test]
    fn a_function_that_fails_lies_or_panics_leaves_the_value_that_was_put_by() {
        type Function = fn(&ExtractError) -> Result<Value, String>;
        let functions: [Function; 3] =
            [|_| Err("no idea".to_owned()), |_| Ok(json!({ "n": "x" })), |_| panic!("at the disco")];
        for function in functions {
            let spec = spec().fallback(function).canned(json!({ "n": 2 })).unwrap();
            let (descent, kept) = descend(&spec);
            assert_eq!((descent.reached, kept), (Some(Rung::Canned), Some(json!({ "n": 2 }))));
            assert_eq!(descent.failed.len(), 1, "{descent:?}");
        }
    }

    #[test]
    fn without_a_good_value_everything_that_was_tried_is_told() {
        let (descent, kept) = descend(&spec().fallback(|error| Err(error.to_string())));
        assert_eq!((descent.reached, kept), (None, None));
        assert_eq!(descent.failed, ["the fallback function: no `<result>` block"]);
    }

    #[test]
    fn a_judge_that_panics_on_a_value_leaves_the_next_one() {
        let spec = spec().fallback(|_| Ok(json!({ "n": 1 }))).canned(json!({ "n": 2 })).unwrap();
        let error = spec.extract("nothing").unwrap_err();
        let descent = spec.ladder().descend(&error, spec.format(), &mut |block| match block {
            r#"{"n":1}"# => panic!("at the disco"),
            _ => Ok(()),
        });
        assert_eq!(descent.reached, Some(Rung::Canned));
        assert!(descent.failed[0].contains("panicked"), "{descent:?}");
    }

    #[test]
    fn a_value_that_does_not_fit_cannot_be_put_by() {
        let error = spec().canned(json!({ "n": "x" })).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::InvalidOutput);
        assert!(error.to_string().contains("/n"), "{error}");
    }
}
