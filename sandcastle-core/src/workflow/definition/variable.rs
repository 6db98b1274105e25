//! Variables as somebody types them.

use serde_json::Value;

use super::{Variable, Workflow};
use crate::error::{Error, ErrorKind, Result};

impl Workflow {
    /// Returns the variables that whoever runs the workflow may set.
    #[must_use]
    pub fn vars(&self) -> &[Variable] {
        &self.vars
    }
}

impl Variable {
    /// Returns the JSON Schema of the values.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Reads a value from what somebody typed: the text itself where a text is wanted, and JSON otherwise. Whether the value
    /// fits is found out when the workflow is run.
    ///
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::workflow::Workflow;
    /// use serde_json::json;
    ///
    /// let workflow = Workflow::new("w").var("team", "platform").var("limit", 3).var("labels", json!([]));
    /// let [team, limit, labels] = workflow.vars() else { unreachable!() };
    /// assert_eq!(team.parse("7")?, json!("7"));
    /// assert_eq!(limit.parse("7")?, json!(7));
    /// assert_eq!(labels.parse(r#"["bug", "new"]"#)?, json!(["bug", "new"]));
    /// assert!(limit.parse("many").is_err());
    /// # Ok::<(), sandcastle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] where no text is wanted and it is no JSON.
    pub fn parse(&self, typed: &str) -> Result<Value> {
        let kinds = self.kinds();
        let text = || Value::String(typed.to_owned());
        if kinds == ["string"] {
            return Ok(text());
        }
        match serde_json::from_str(typed) {
            Ok(value) if kinds.is_empty() || kinds.iter().any(|kind| is_a(&value, kind)) => Ok(value),
            // A text is what it is where one may stand beside something else.
            _ if kinds.is_empty() || kinds.contains(&"string") => Ok(text()),
            // Of the wrong kind, which is told with the schema at hand.
            Ok(value) => Ok(value),
            Err(error) => Err(Error::new(
                ErrorKind::InvalidOptions,
                format!("read the value of the variable `{}`, {}: {error}", self.name, worded(&kinds)),
            )
            .with_hint("write it as JSON, such as `3`, `true` or `[\"a\", \"b\"]`")),
        }
    }

    /// The kinds of values by the names of JSON Schema; none if it does not say.
    fn kinds(&self) -> Vec<&str> {
        match self.schema.get("type") {
            Some(Value::String(kind)) => vec![kind.as_str()],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" | "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_string(),
    }
}

fn worded(kinds: &[&str]) -> String {
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    format!("which is {}", kinds.join(" or "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variable(schema: Value) -> Variable {
        Variable { name: "v".to_owned(), schema, default: None, place: None }
    }

    #[test]
    fn what_is_typed_is_read_by_the_declared_kind() {
        for (schema, typed, read) in [
            (json!({ "type": "string" }), "true", json!("true")),
            (json!({ "type": "string" }), "", json!("")),
            (json!({ "type": "boolean" }), "true", json!(true)),
            (json!({ "type": "number" }), "1e3", json!(1e3)),
            (json!({ "type": ["string", "null"] }), "null", Value::Null),
            (json!({ "type": ["string", "null"] }), "nothing", json!("nothing")),
            (json!({ "type": ["string", "null"] }), "3", json!("3")),
            (json!({ "enum": ["low", 3] }), "low", json!("low")),
            (json!({ "enum": ["low", 3] }), "3", json!(3)),
            (json!({ "type": "integer" }), "[1]", json!([1])),
        ] {
            assert_eq!(variable(schema.clone()).parse(typed).unwrap(), read, "{schema} {typed}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_where_no_text_is_wanted() {
        let error = variable(json!({ "type": ["integer", "null"] })).parse("three").unwrap_err();
        let said = "read the value of the variable `v`, which is `integer` or `null`: ";
        assert!(error.to_string().starts_with(said), "{error}");
    }
}
