//! The words that ask an agent, at the end of its work, only to report.
//!
//! They are made from the type that is wanted, so they name each of its fields and no other. What holds an agent to them is the
//! turn in which they are said.

use crate::AgentOutput;

/// Returns the prompt that makes an agent report its work as a `T`: in one block, at the end of its answer, and without
/// doing anything else.
///
/// # Examples
/// ```
/// use sandcastle::review::{ReviewOutput, extraction_prompt};
///
/// let prompt = extraction_prompt::<ReviewOutput>();
/// assert!(prompt.contains("inlineComments") && prompt.contains("<output>"));
/// ```
#[must_use]
pub fn extraction_prompt<T: AgentOutput>() -> String {
    let tag = T::TAG;
    let lists = if has_lists(T::schema().as_value()) {
        " Where there is nothing to say, write an empty list; leave no field out, and write no `null`."
    } else {
        ""
    };
    format!(
        "Your work is done; this turn is only for the report of it. Change no file and run no command.\n\
         Answer with a single `<{tag}>` block and nothing else: your answer ends with it, and no text stands outside \
         of it.{lists}\n\n{}",
        T::prompt_snippet()
    )
}

/// Tells whether one of the fields is a list.
fn has_lists(schema: &serde_json::Value) -> bool {
    let fields = schema.get("properties").and_then(serde_json::Value::as_object);
    fields.into_iter().flatten().any(|(_, field)| field.get("type").is_some_and(|kind| kind == "array"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::review::{ExploreOutput, ImplementOutput, ReviewOutput, UpdateBranchOutput};

    /// The names of all fields, also of those of what lists hold.
    fn fields_of(schema: &Value) -> BTreeSet<String> {
        let objects = [schema]
            .into_iter()
            .chain(schema["$defs"].as_object().into_iter().flat_map(|defs| defs.values()));
        objects
            .filter_map(|object| object["properties"].as_object())
            .flat_map(|fields| fields.keys().cloned())
            .collect()
    }

    /// The names at the beginnings of the lines of a shape, with what their form shows to be one: `name: type`.
    fn named_in(prompt: &str) -> BTreeSet<String> {
        let name_of = |line: &str| {
            let (name, _) = line.trim_start().split_once(": ")?;
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_\"?".contains(c));
            is_name.then(|| name.trim_matches(['"', '?']).to_owned())
        };
        prompt.lines().filter_map(name_of).collect()
    }

    fn in_step<T: AgentOutput>() {
        let (prompt, schema) = (extraction_prompt::<T>(), T::schema().to_value());
        assert_eq!(named_in(&prompt), fields_of(&schema), "{prompt}");
        assert!(!fields_of(&schema).is_empty());
        for other in ["`file`", "lineRange", "file:", "# Examples", "::"] {
            assert!(!prompt.contains(other), "`{other}` is in {prompt}");
        }
    }

    #[test]
    fn the_prompt_names_every_field_of_the_schema_and_no_other() {
        in_step::<ReviewOutput>();
        in_step::<ImplementOutput>();
        in_step::<ExploreOutput>();
        in_step::<UpdateBranchOutput>();
    }

    #[test]
    fn the_prompt_asks_for_one_block_at_the_end_and_nothing_besides() {
        let prompt = extraction_prompt::<ReviewOutput>();
        for words in [
            "Change no file and run no command",
            "a single `<output>` block and nothing else",
            "your answer ends with it",
            "no text stands outside of it",
            "write an empty list",
            "</output>",
        ] {
            assert!(prompt.contains(words), "`{words}` is not in {prompt}");
        }
        assert!(!extraction_prompt::<ExploreOutput>().contains("list"), "it has none");
    }

    #[test]
    fn the_prompt_is_no_answer() {
        assert!(ReviewOutput::extract(&extraction_prompt::<ReviewOutput>()).is_err());
        assert!(ExploreOutput::extract(&extraction_prompt::<ExploreOutput>()).is_err());
    }
}
