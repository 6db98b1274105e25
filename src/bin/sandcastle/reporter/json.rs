//! The form for programs: one JSON object on one line.

use serde_json::Value;

pub(super) fn object(value: &Value) -> String {
    value.to_string()
}
