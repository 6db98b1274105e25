//! Removes what may stand around a value in its block: white space and one code fence.
//!
//! Nothing is cut out: what is removed becomes spaces, so that every place in the result is the same place in the
//! block. Whether the value is JSON is judged by `read`; here JSON is only looked at to tell the info string of a fence
//! from a value in the same line.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::error::Advice;
use super::read::Fault;

/// The least number of backticks or tildes that make a fence.
const FENCE: usize = 3;

/// Returns the block with everything but the value blanked out, and nothing behind the value.
pub(super) fn unfence(block: &str) -> Result<Cow<'_, str>, Fault> {
    let value = value_range(block)?;
    let before = &block[..value.start];
    if before.bytes().all(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
        return Ok(Cow::Borrowed(&block[..value.end]));
    }
    let mut text = String::with_capacity(value.end);
    text.extend(before.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    text.push_str(&block[value]);
    Ok(Cow::Owned(text))
}

fn value_range(block: &str) -> Result<Range<usize>, Fault> {
    let outer = trimmed(block, 0..block.len());
    let inside = &block[outer.clone()];
    let Some(fence) = opening(inside) else {
        return match closing(inside) {
            Some(at) if can_begin_value(inside) => {
                let message = "a code fence is closed that was never opened";
                Err(Fault::new(block, outer.start + at, message, Advice::JsonOnly))
            }
            _ => Ok(outer),
        };
    };
    let body = outer.start + fence..outer.end;
    let marker = &inside[..1];
    match block[body.clone()].trim_end_matches(marker) {
        kept if body.len() - kept.len() >= FENCE => {
            Ok(within_fence(block, body.start..body.start + kept.len()))
        }
        _ => Err(unclosed(block, outer.start, body, marker)),
    }
}

/// Finds the value in a fence: behind the line of the info string, or in that line.
fn within_fence(block: &str, body: Range<usize>) -> Range<usize> {
    let text = &block[body.clone()];
    let behind_line = text.find('\n').map(|end| trimmed(block, body.start + end + 1..body.end));
    let word =
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_+.-".contains(c)).len();
    let behind_word = trimmed(block, body.start + word..body.end);
    let whole = trimmed(block, body);
    match behind_line {
        Some(lines)
            if !lines.is_empty() && (is_json(&block[lines.clone()]) || !is_json(&block[whole.clone()])) =>
        {
            lines
        }
        _ if is_json(&block[whole.clone()]) => whole,
        _ => behind_word,
    }
}

fn unclosed(block: &str, fence: usize, body: Range<usize>, marker: &str) -> Fault {
    let lines = block[body.clone()].split_inclusive('\n');
    let mut at = body.start;
    for (number, line) in lines.enumerate() {
        at += line.len();
        if number == 0 {
            continue;
        }
        let line = line.trim();
        if line.len() >= FENCE && line.trim_start_matches(marker).is_empty() {
            let behind = trimmed(block, at..body.end);
            return Fault::new(block, behind.start, "there is text behind the code fence", Advice::JsonOnly);
        }
    }
    Fault::new(block, fence, "the code fence is never closed", Advice::Syntax)
}

/// Returns the length of the fence that the text begins with.
fn opening(text: &str) -> Option<usize> {
    let marker = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(marker).len();
    (length >= FENCE).then_some(length)
}

/// Returns where the fence that the text ends with begins.
fn closing(text: &str) -> Option<usize> {
    let marker = text.chars().next_back().filter(|c| matches!(c, '`' | '~'))?;
    let kept = text.trim_end_matches(marker).len();
    (text.len() - kept >= FENCE).then_some(kept)
}

fn can_begin_value(text: &str) -> bool {
    text.starts_with(|c: char| matches!(c, '{' | '[' | '"' | '-' | 't' | 'f' | 'n') || c.is_ascii_digit())
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Takes white space off both ends of a range.
fn trimmed(block: &str, range: Range<usize>) -> Range<usize> {
    let text = &block[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}
