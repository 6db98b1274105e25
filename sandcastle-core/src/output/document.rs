//! The answer of a program's own structured output: a whole JSON document, without a tag around it.
//!
//! It is judged as a block is. Before that, what a copy of the schema made the model add is taken out again, see
//! [`Lowering::lift`]. What is wrapped into another object, or encoded twice, is never unwrapped, but said.

use std::borrow::Cow;

use serde_json::Value;

use super::lower::Lowering;
use super::read::{self, Fault};
use super::{ExtractError, OutputSpec, Problem, Seen, error, pointer};

/// Returns the block that a document stands for, which `spec` can then judge.
///
/// # Errors
/// When the text is not one JSON document and nothing else. A fence around it is something else: a model that is held to a
/// schema cannot write one.
pub(crate) fn block_of(spec: &OutputSpec, lowering: &Lowering, text: &str) -> Result<String, ExtractError> {
    let reading = spec.read_json(text)?;
    let begins = text.len() - text.trim_start().len();
    if reading.text.trim_start().len() != reading.text.len() - begins {
        let message = "there is more than the value";
        let fault = Fault::new(text, begins, message, error::Advice::JsonOnly);
        return Err(ExtractError::json_parse(spec.tag(), text, fault));
    }
    Ok(lifted(text, &reading.value, lowering).into_owned())
}

/// Returns the same of a document that may stand in a fence.
///
/// # Errors
/// When the text is not one JSON document, in a fence or not.
pub(crate) fn block_within<'b>(
    spec: &OutputSpec,
    lowering: &Lowering,
    text: &'b str,
) -> Result<Cow<'b, str>, ExtractError> {
    Ok(lifted(text, &spec.read_json(text)?.value, lowering))
}

/// Returns a text as it is to be judged: with what its wire made of the value undone.
fn lifted<'b>(text: &'b str, value: &Value, lowering: &Lowering) -> Cow<'b, str> {
    let lifted = lowering.lift(value.clone());
    if lifted == *value { Cow::Borrowed(text) } else { Cow::Owned(lifted.to_string()) }
}

/// Adds to an error that the value which was asked for is there, only inside of another one.
pub(crate) fn explain(mut error: ExtractError, spec: &OutputSpec, lowering: &Lowering) -> ExtractError {
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
        let block = block_of(&spec, &lowering, text)?;
        spec.read_block(&block).map_err(|error| explain(error, &spec, &lowering))
    }

    #[test]
    fn a_document_is_one_value_and_nothing_else() {
        assert_eq!(judged(" {\"n\":1}\n").unwrap(), json!({ "n": 1 }));
        for text in ["not json at all", "```json\n{\"n\":1}\n```", "{\"n\":1} Done.", "", "{\"n\":1,\"n\":2}"]
        {
            assert_eq!(judged(text).unwrap_err().stage(), Stage::JsonParse, "{text}");
        }
    }

    #[test]
    fn an_answer_is_judged_as_it_is_unless_its_wire_changed_it() {
        let schema = json!({
            "type": "object", "properties": { "n": { "type": "integer" }, "more": { "type": "string" } }, "required": ["n"],
        });
        let spec = OutputSpec::json("result", schema).unwrap();
        let lowering = lower(spec.schema(), Dialect::Codex);
        let within = |text: &'static str| block_within(&spec, &lowering, text);
        assert_eq!(within("{ \"n\": 1 }").unwrap(), "{ \"n\": 1 }");
        assert_eq!(within(r#"{"n":1,"more":null}"#).unwrap(), r#"{"n":1}"#);
        assert_eq!(within("```json\n{\"n\":1,\"more\":null}\n```").unwrap(), r#"{"n":1}"#);
        assert_eq!(within(r#"{"n":1,"n":2}"#).unwrap_err().stage(), Stage::JsonParse);
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
