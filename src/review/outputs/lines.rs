//! How models name a line or a range of lines where one line is wanted: the first line of it.
//!
//! Only what is a line or a range is read, in whole: digits in another text are no line. A range that ends before it begins is
//! none either, and lines are counted from 1.

use serde_json::Value;

/// Returns the first line of a range: `"120-135"`, `"L120-L135"`, `"120"`, `120`, `[120, 135]`, or `{"start": 120, "end": 135}`.
pub(super) fn first(range: &Value) -> Option<u32> {
    match range {
        Value::String(text) => of_text(text),
        Value::Number(_) => line(range),
        Value::Array(ends) => match ends.as_slice() {
            [only] => line(only),
            [start, end] => ordered(line(start)?, line(end)?),
            _ => None,
        },
        Value::Object(ends) => match (ends.get("start")?, ends.get("end").filter(|end| !end.is_null())) {
            (start, None) => line(start),
            (start, Some(end)) => ordered(line(start)?, line(end)?),
        },
        Value::Null | Value::Bool(_) => None,
    }
}

/// Reads `120`, `L120`, `120-135`, `L120-L135`, with the hash of a link, another dash, or `..` in between.
fn of_text(text: &str) -> Option<u32> {
    let text = text.trim();
    let text = text.strip_prefix('#').unwrap_or(text);
    match ["..", "-", "–", "—", ":"].iter().find_map(|between| text.split_once(between)) {
        Some((start, end)) => ordered(of_digits(start)?, of_digits(end)?),
        None => of_digits(text),
    }
}

fn of_digits(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix(['L', 'l']).unwrap_or(text);
    // `parse` alone would take `+1`.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|line| is_plain && *line > 0)
}

fn line(number: &Value) -> Option<u32> {
    number.as_u64().and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0)
}

fn ordered(start: u32, end: u32) -> Option<u32> {
    (start <= end).then_some(start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_stands_for_its_first_line() {
        for range in [
            json!("120-135"),
            json!("L120-L135"),
            json!("#L120-L135"),
            json!("l120"),
            json!("120"),
            json!(" 120 - 135 "),
            json!("120–135"),
            json!("120..135"),
            json!("120:120"),
            json!(120),
            json!([120]),
            json!([120, 135]),
            json!({ "start": 120 }),
            json!({ "start": 120, "end": null }),
            json!({ "start": 120, "end": 135, "side": "RIGHT" }),
        ] {
            assert_eq!(first(&range), Some(120), "{range}");
        }
        assert_eq!(first(&json!("4294967295")), Some(u32::MAX));
    }

    #[test]
    fn what_is_no_line_and_no_range_is_not_guessed() {
        for range in [
            json!(""),
            json!("-"),
            json!("0"),
            json!("0-5"),
            json!("L0"),
            json!("-5"),
            json!("+5"),
            json!("5-"),
            json!("-5-7"),
            json!("135-120"),
            json!("1-2-3"),
            json!("v2 line 7"),
            json!("7 or so"),
            json!("1.5"),
            json!("LL7"),
            json!("٣"),
            json!("4294967296"),
            json!("99999999999999999999999"),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(4_294_967_296_u64),
            json!(true),
            json!(null),
            json!([]),
            json!([0, 5]),
            json!([5, 1]),
            json!([1, 2, 3]),
            json!(["1", "2"]),
            json!({}),
            json!({ "end": 7 }),
            json!({ "start": 7, "end": 1 }),
            json!({ "start": 7, "end": "x" }),
        ] {
            assert_eq!(first(&range), None, "{range}");
        }
    }

    proptest! {
        #[test]
        fn every_range_in_order_is_read(start in 1..=u32::MAX, length in 0..1000_u32) {
            let end = start.saturating_add(length);
            for range in [json!(format!("{start}-{end}")), json!(format!("L{start}-L{end}")), json!([start, end])] {
                prop_assert_eq!(first(&range), Some(start));
            }
        }

        #[test]
        fn a_text_is_read_in_whole_or_not_at_all(text in ".{0,12}") {
            if let Some(line) = first(&json!(text)) {
                let rest: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
                prop_assert!(line > 0);
                prop_assert!(rest.chars().all(|c| "#Ll-–—.: ".contains(c) || c.is_whitespace()), "{}", text);
            }
        }
    }
}
