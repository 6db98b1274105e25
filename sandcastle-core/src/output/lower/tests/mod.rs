//! What becomes of schemas on the way to each dialect.

mod answers;
mod circles;
mod generated;
mod grammars;
mod hostile;
mod limits;
mod merged;
mod order;
mod patterns;
mod roots;
mod rules;
mod shapes;
mod table;

use serde_json::Value;

use super::{Dialect, Lowering, lower};

/// Lowers what can be sent.
#[track_caller]
fn sent(schema: &Value, dialect: Dialect) -> Lowering {
    let lowering = lower(schema, dialect);
    assert!(lowering.is_sendable(), "{dialect}: {:?}", lowering.refused);
    lowering
}

/// Returns the refusals in words.
fn refused(schema: &Value, dialect: Dialect) -> Vec<String> {
    lower(schema, dialect).refused.iter().map(ToString::to_string).collect()
}

/// Visits every schema of a copy, with its pointer.
fn each_schema(at: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(at, schema);
    for key in ["properties", "$defs", "patternProperties"] {
        for (name, one) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
            each_schema(&format!("{at}/{key}/{name}"), one, visit);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for (index, one) in schema.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
            each_schema(&format!("{at}/{key}/{index}"), one, visit);
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(one) = schema.get(key).filter(|one| one.is_object()) {
            each_schema(&format!("{at}/{key}"), one, visit);
        }
    }
}
