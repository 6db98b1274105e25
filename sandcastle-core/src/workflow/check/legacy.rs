//! Version 1.0: what placeholders and comparisons name, against the outputs that are there by then.

use serde_json::Value;

use super::super::expression::{Operator, comparison, placeholders};
use super::super::finding::Severity;
use super::order::remark;
use super::reader::{Reader, Remark};
use super::scope::Scope;
use super::shape::{Absence, Kinds, Shape};
use crate::workflow::nearest::shortened;

/// Reads a text. A placeholder of nothing stays in it as it is written, so that it is no more than doubtful.
pub(super) fn template(source: &str, scope: &Scope<'_, '_>) -> Vec<Remark> {
    let mut remarks = newer(source, scope);
    for place in placeholders(source) {
        let (message, hint) = match look(scope, place.step, place.field, place.offset) {
            Ok(shape) if !shape.is_open() && !is_scalar(&shape) => {
                let is = format!("`{}.{}` is {}", place.step, place.field, shape.described());
                (is, "only scalars are filled in".to_owned())
            }
            Ok(_) => continue,
            Err(remark) => (remark.message, remark.hint),
        };
        let message = format!("`{}` stays as it is written: {message}", place.written);
        remarks.push(Remark { severity: Severity::Warning, offset: place.offset, message, hint });
    }
    remarks
}

/// Finds what would be filled in under version 1.1, or by a shorter name than there is.
fn newer(source: &str, scope: &Scope<'_, '_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut rest = 0;
    while let Some(open) = source[rest..].find('{').map(|at| rest + at) {
        let is_double = source[open..].starts_with("{{");
        let (width, close) = if is_double { (2, "}}") } else { (1, "}") };
        let inner = &source[open + width..];
        let end = inner.find(['}', '{', '\n']).filter(|end| inner[*end..].starts_with(close));
        rest = open + width + end.unwrap_or(0);
        let Some(end) = end else { continue };
        let written = &source[open..rest + width];
        let (reason, hint) = if is_double {
            ("version 1.0 has no expressions", UPGRADE)
        } else if matches!(inner[..end].trim(), "input" | "vars" | "trigger" | "steps") {
            ("version 1.0 fills in fields of steps", UPGRADE)
        } else if scope.knows(inner[..end].trim()) {
            ("no field is named", "name one, as in `{step.field}`")
        } else {
            continue;
        };
        let message = format!("`{}` stays as it is written: {reason}", shortened(written));
        remarks.push(Remark { severity: Severity::Warning, offset: open, message, hint: hint.to_owned() });
    }
    remarks
}

/// What to do about something that the older version does not have.
const UPGRADE: &str = "set `version: \"1.1\"`, and write `{{ input }}`";

/// Reads a condition.
pub(super) fn condition(source: &str, scope: &Scope<'_, '_>) -> Vec<Remark> {
    let test = match comparison(source) {
        Ok(test) => test,
        Err(flaw) => return vec![remark(flaw)],
    };
    let shape = match look(scope, test.step, test.field, test.offset) {
        Ok(shape) => shape,
        Err(remark) => return vec![remark],
    };
    let literal = match &test.literal {
        Value::Null => Shape::null(),
        Value::Bool(_) => Shape::boolean(),
        Value::Number(_) => Shape::number(),
        Value::String(text) => Shape::literal(text),
        Value::Array(_) | Value::Object(_) => Shape::unknown(),
    };
    let equality = matches!(test.operator, Operator::Equal | Operator::NotEqual);
    let ordered =
        (literal.kinds().number && shape.kinds().number) || (literal.kinds().text && shape.kinds().text);
    let equal = (literal.null && shape.null) || same(literal.kinds(), shape.kinds());
    let mut remarks = Vec::new();
    if let Ok(Some(Absence::NotRun(step))) = scope.root(test.step).map(|output| output.absent) {
        let message = format!("the step `{step}` may not have run");
        let hint = "the workflow fails then; put the condition behind it".to_owned();
        remarks.push(Remark { severity: Severity::Warning, offset: test.offset, message, hint });
    }
    if shape.is_open() || (if equality { equal } else { ordered }) {
        return remarks;
    }
    let never = if equality { "which never equals" } else { "which is neither less nor greater than" };
    let message =
        format!("`{}.{}` is {}, {never} {}", test.step, test.field, shape.described(), test.literal);
    let hint = format!("compare it with {}", shape.described());
    remarks.push(Remark { severity: Severity::Error, offset: test.offset, message, hint });
    remarks
}

/// What a field is, or why it cannot be read.
fn look<'c>(scope: &Scope<'c, '_>, step: &str, field: &str, offset: usize) -> Result<Shape<'c>, Remark> {
    let error = |message, hint| Remark { severity: Severity::Error, offset, message, hint };
    let output = scope.root(step).map_err(|unknown| error(unknown.message, unknown.hint))?;
    let mut reader = Reader::new(scope);
    let shape = reader.within(&output, field, &format!("`{step}`"), offset);
    match reader.remarks.pop() {
        Some(remark) => Err(remark),
        None => Ok(shape),
    }
}

fn is_scalar(shape: &Shape<'_>) -> bool {
    let kinds = shape.kinds();
    kinds.text || kinds.number || kinds.boolean || shape.null
}

/// Here a boolean is no number.
fn same(one: Kinds, other: Kinds) -> bool {
    (one.text && other.text) || (one.number && other.number) || (one.boolean && other.boolean)
}
