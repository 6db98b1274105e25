//! Every keyword in every dialect, on the bytes that go over the wire.
//!
//! The table is `fixtures/keywords.txt`: below each schema one line for each dialect, with a letter for what becomes of it.
//! `A`: it goes as it is. `T`: it goes in another form that says the same. `D`: a description says what the wire cannot.
//! `R`: it is refused, and where. A schema stands for the property `v` of an object unless it is marked as `root`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::{Dialect, Lowering, lower};

const TABLE: &str = include_str!("fixtures/keywords.txt");

/// Returns the line of the table for a schema and a dialect.
fn line(schema: &Value, is_root: bool, dialect: Dialect) -> String {
    let within = json!({ "type": "object", "properties": { "v": schema }, "required": ["v"], "additionalProperties": false });
    let lowering = lower(if is_root { schema } else { &within }, dialect);
    let wire = if is_root { &lowering.wire } else { &lowering.wire["properties"]["v"] };
    let letter = letter(&lowering, wire == schema);
    if lowering.is_sendable() {
        return format!("{dialect:<11} {letter} {wire}");
    }
    let refusals: Vec<_> = lowering.refused.iter().map(ToString::to_string).collect();
    format!("{dialect:<11} {letter} {}", refusals.join("; "))
}

fn letter(lowering: &Lowering, is_same: bool) -> char {
    match (lowering.is_sendable(), lowering.moved.is_empty()) {
        (false, _) => 'R',
        (true, false) => 'D',
        (true, true) if is_same => 'A',
        (true, true) => 'T',
    }
}

#[test]
fn every_keyword_becomes_in_every_dialect_what_the_table_says() {
    let mut made = String::new();
    for section in TABLE.split_inclusive("\n\n").map(str::trim).filter(|section| !section.is_empty()) {
        let (title, rest) =
            section.split_once('\n').filter(|(title, _)| title.starts_with('#')).unwrap_or(("", section));
        if !title.is_empty() {
            writeln!(made, "{title}").unwrap();
        }
        let schema = rest.lines().next().unwrap();
        writeln!(made, "{schema}").unwrap();
        let (is_root, text) = schema.strip_prefix("root ").map_or((false, schema), |text| (true, text));
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value.to_string(), text, "the table has schemas as they are written");
        for dialect in Dialect::ALL {
            writeln!(made, "  {}", line(&value, is_root, dialect)).unwrap();
        }
        made.push('\n');
    }
    assert!(made.trim_end() == TABLE.trim_end(), "as it is now:\n{made}");
}
