//! The answer of a program's or a service's own structured output: a whole JSON document, without a tag around it.
//!
//! It is judged as a block is: white space and one code fence around it are removed, and nothing else is forgiven. Before
//! that, what a copy of the schema made the model add is taken out again, see [`Lowering::lift`]. What is wrapped into another
//! object, or encoded twice, is never unwrapped, but said.

use std::borrow::Cow;

use serde_json::Value;

use super::ladder::BlockJudge;
use super::lower::Lowering;
use super::{ExtractError, OutputSpec, Problem, Seen, pointer, read};

/// Judges a document, and returns the block that was accepted in its place. Agents and models come through here alike.
///
/// # Errors
/// When it is not one JSON document, in a fence or not, and when the judge refuses what it says. The error has the document
/// exactly as it was given.
pub(crate) fn judged<'t>(
    text: &'t str,
    (spec, lowering): (&OutputSpec, &Lowering),
    judge: &mut BlockJudge<'_>,
) -> Result<Cow<'t, str>, ExtractError> {
    let block = block_of(spec, lowering, text)?;
    match judge(&block) {
        Ok(()) => Ok(block),
        Err(error) => Err(explain(error.about(text), spec, lowering)),
    }
}

/// Returns the block that a document stands for.
fn block_of<'t>(spec: &OutputSpec, lowering: &Lowering, text: &'t str) -> Result<Cow<'t, str>, ExtractError> {
    let value = spec.read_json(text)?.value;
    let lifted = lowering.lift(value.clone());
    Ok(if lifted == value { Cow::Borrowed(text) } else { Cow::Owned(lifted.to_string()) })
}

/// Adds to an error that the value which was asked for is there, only inside of another one.
fn explain(mut error: ExtractError, spec: &OutputSpec, lowering: &Lowering) -> ExtractError {
    let wrapped = error.value.as_ref().and_then(Value::as_object).filter(|fields| fields.len() == 1);
    let Some((key, inner)) = wrapped.and_then(|fields| fields.iter().next()) else { return error };
    let fits = |value: Value| spec.read_block(&lowering.lift(value).to_string()).is_ok();
    let message = if fits(inner.clone()) {
        "is the value that was asked for: give it alone, without an object around it"
    } else if inner
        .as_str()
        .and_then(|text| read::read(text).ok())
        .is_some_and(|inner| fits(inner.value.clone()))
    {
        "is the value that was asked for, encoded twice: give the value itself, without an object around it"
    } else {
        return error;
    };
    error.problems.insert(0, Problem::bounded(&pointer::join("", key), message));
    error
}

/// The agent's own structured output gave no value; `why` is what the agent says of it.
pub(crate) fn no_value(spec: &OutputSpec, why: &str) -> ExtractError {
    let mut error = ExtractError::missing(spec.tag(), Seen::Nothing);
    let message = format!("no structured value for `<{}>`: {why}", spec.tag());
    error.problems = vec![Problem::bounded("", &message)];
    error
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Stage;
    use super::super::lower::{Dialect, lower};
    use super::*;

    fn spec() -> OutputSpec {
        let schema = json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"], "additionalProperties": false,
        });
        OutputSpec::json("result", schema).unwrap()
    }

    fn judged(text: &str) -> Result<Value, ExtractError> {
        let (spec, lowering) = (spec(), lower(spec().schema(), Dialect::Codex));
        let mut kept = None;
        super::judged(text, (&spec, &lowering), &mut |block| {
            kept = Some(spec.read_block(block)?);
            Ok(())
        })?;
        Ok(kept.unwrap())
    }

    #[test]
    fn a_document_is_one_value_in_white_space_and_one_fence() {
        for text in [" {\"n\":1}\n", "```json\n{\"n\":1}\n```", "\n~~~~\n{\"n\":1}\n~~~~ "] {
            assert_eq!(judged(text).unwrap(), json!({ "n": 1 }), "{text}");
        }
        for text in [
            "not json at all",
            "{\"n\":1} Done.",
            "Here:\n```json\n{\"n\":1}\n```",
            "```json\n{\"n\":1}\n```\nDone.",
            "```\n```json\n{\"n\":1}\n```\n```",
            "",
            "{\"n\":1,\"n\":2}",
        ] {
            let error = judged(text).unwrap_err();
            assert_eq!((error.stage(), error.raw_matched.as_deref()), (Stage::JsonParse, Some(text)));
        }
    }

    #[test]
    fn an_answer_is_judged_as_it_is_unless_its_wire_changed_it() {
        let schema = json!({
            "type": "object", "properties": { "n": { "type": "integer" }, "more": { "type": "string" } }, "required": ["n"],
        });
        let spec = OutputSpec::json("result", schema).unwrap();
        let lowering = lower(spec.schema(), Dialect::Codex);
        let block = |text: &'static str| block_of(&spec, &lowering, text);
        assert_eq!(block("{ \"n\": 1 }").unwrap(), "{ \"n\": 1 }");
        assert_eq!(block(r#"{"n":1,"more":null}"#).unwrap(), r#"{"n":1}"#);
        assert_eq!(block("```json\n{\"n\":1,\"more\":null}\n```").unwrap(), r#"{"n":1}"#);
        assert_eq!(block(r#"{"n":1,"n":2}"#).unwrap_err().stage(), Stage::JsonParse);

        let text = "```\n{\"n\":\"x\",\"more\":null}\n```";
        let error = super::judged(text, (&spec, &lowering), &mut |block| spec.read_block(block).map(drop));
        let error = error.unwrap_err();
        assert_eq!((error.raw_matched.as_deref(), &*error.problems[0].path), (Some(text), "/n"));
    }

    #[test]
    fn a_wrapped_value_is_located_and_not_unwrapped() {
        for key in ["output", "result"] {
            let error = judged(&format!("{{\"{key}\":{{\"n\":1}}}}")).unwrap_err();
            assert_eq!(error.stage(), Stage::SchemaValidate);
            assert_eq!(error.problems[0].path, format!("/{key}"));
            assert!(error.problems[0].message.contains("without an object around it"), "{error:#}");
            assert!(error.problems.len() > 1, "{error:#}");
        }
        let error = judged(r#"{"result":"{\"n\":1}"}"#).unwrap_err();
        assert_eq!((error.stage(), &*error.problems[0].path), (Stage::SchemaValidate, "/result"));
        assert!(error.problems[0].message.contains("encoded twice"), "{error:#}");
        assert!(
            judged(r#"{"m":1}"#)
                .unwrap_err()
                .problems
                .iter()
                .all(|problem| problem.path != "/m" || !problem.message.contains("around it"))
        );
    }

    #[test]
    fn a_value_that_is_encoded_twice_is_said_to_be() {
        let error = judged(r#""{\"n\":1}""#).unwrap_err();
        assert_eq!(error.stage(), Stage::SchemaValidate);
        assert!(error.problems[0].message.contains("encoded twice"), "{error:#}");
    }

    #[test]
    fn success_without_a_value_is_a_missing_answer() {
        let error = no_value(&spec(), "the agent reports success");
        assert_eq!(error.stage(), Stage::Missing);
        assert!(error.to_string().contains("no structured value"), "{error}");
    }
}
