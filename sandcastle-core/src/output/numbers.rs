//! Says where a value has a number that fits the schema and no Rust integer.
//!
//! For a schema `1.0` is an integer, and schemars gives the size of 32- and 64-bit integers only as a format. serde
//! refuses such numbers, but below `flatten` it does not say where they are.

use serde_json::{Number, Value};

use super::pointer;
use super::problem::Problems;
use super::schema::places::Parts;

/// Adds every number that no Rust integer can be where the schema wants one.
pub(super) fn explain(value: &Value, schema: &Value, problems: &mut Problems) {
    walk(&mut String::new(), value, &Parts::of_root(schema), problems);
}

/// Tells whether serde's message may be about such a number.
pub(super) fn is_about_a_number(message: &str) -> bool {
    [
        "invalid type: floating point",
        "invalid value: integer",
        "invalid type: integer",
        "invalid value: floating point",
        // Says nothing of what is wrong in the variant that was meant.
        "data did not match any variant",
    ]
    .into_iter()
    .any(|start| message.starts_with(start))
}

fn walk(path: &mut String, value: &Value, parts: &Parts<'_>, problems: &mut Problems) {
    let length = path.len();
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                pointer::push(path, key);
                walk(path, field, &parts.of_field(key), problems);
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer::push(path, &index.to_string());
                walk(path, item, &parts.of_item(index), problems);
                path.truncate(length);
            }
        }
        Value::Number(number) => {
            if let Some(message) = misfit(number, parts) {
                problems.add(path, &message);
            }
        }
        _ => {}
    }
}

/// Says why a number is none of the integers that could stand here, unless something else could, too.
fn misfit(number: &Number, parts: &Parts<'_>) -> Option<String> {
    let mut message = None;
    for part in parts.iter().filter(|part| allows_numbers(part)) {
        let ty = part.get("type")?;
        let names =
            |name: &str| ty == name || ty.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        if names("number") || !names("integer") {
            return None;
        }
        let format = part.get("format").and_then(Value::as_str);
        message = Some(out_of_range(number, format)?);
    }
    message
}

/// Parts that say nothing of the type belong to one that does.
fn allows_numbers(part: &Value) -> bool {
    part.get("type").is_some_and(|ty| match ty {
        Value::String(name) => name == "integer" || name == "number",
        Value::Array(names) => names.iter().any(|name| name == "integer" || name == "number"),
        _ => false,
    })
}

fn out_of_range(number: &Number, format: Option<&str>) -> Option<String> {
    if number.is_f64() {
        // An integer of more than 64 bits is a float here, and still one in the text.
        let written = number.as_f64().unwrap_or_default();
        return (written.abs() < 1.8e19).then(|| format!("must be an integer, got {number}"));
    }
    let (least, most) = match format? {
        "int8" => (i128::from(i8::MIN), i128::from(i8::MAX)),
        "int16" => (i128::from(i16::MIN), i128::from(i16::MAX)),
        "int32" => (i128::from(i32::MIN), i128::from(i32::MAX)),
        "int64" | "int" => (i128::from(i64::MIN), i128::from(i64::MAX)),
        "uint8" => (0, i128::from(u8::MAX)),
        "uint16" => (0, i128::from(u16::MAX)),
        "uint32" => (0, i128::from(u32::MAX)),
        _ => return None,
    };
    let number = number.as_i128()?;
    if number < least {
        Some(format!("must be at least {least}"))
    } else if number > most {
        Some(format!("must be at most {most}"))
    } else {
        None
    }
}
