//! What a plain scalar is, by the core schema of YAML 1.2: only `true` and `false` are booleans, so `no` stays a text.
//!
//! What programs read as different numbers (`017`) and what JSON cannot hold (`.inf`, integers beyond 64 bits) is refused.

use serde_json::Number;

/// What a plain scalar is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Boolean(bool),
    Number(Number),
    Text,
}

/// Why a plain scalar is refused, and what to write in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) message: &'static str,
    pub(super) hint: &'static str,
}

/// Reads a plain scalar.
pub(super) fn read(text: &str) -> Result<Plain, Refusal> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Ok(Plain::Null),
        "true" | "True" | "TRUE" => Ok(Plain::Boolean(true)),
        "false" | "False" | "FALSE" => Ok(Plain::Boolean(false)),
        _ if is_special_float(text) => Err(Refusal {
            message: "is a number that JSON does not have",
            hint: "put it into quotes if it is a text",
        }),
        _ => number(text),
    }
}

fn is_special_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(text, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

fn number(text: &str) -> Result<Plain, Refusal> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let based = [("0x", 16), ("0o", 8)].into_iter().find_map(|(prefix, radix)| {
        let digits = text.strip_prefix(prefix)?;
        (!digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))).then_some((digits, radix))
    });
    if let Some((digits, radix)) = based {
        return u64::from_str_radix(digits, radix)
            .map(|number| Plain::Number(number.into()))
            .map_err(|_| TOO_LARGE);
    }
    if is_decimal_integer(unsigned) {
        return if unsigned.len() > 1 && unsigned.starts_with('0') { Err(OCTAL) } else { integer(text) };
    }
    if !is_float(unsigned) {
        return Ok(Plain::Text);
    }
    let float: f64 = text.parse().map_err(|_| TOO_LARGE)?;
    Number::from_f64(float).map(Plain::Number).ok_or(TOO_LARGE)
}

const TOO_LARGE: Refusal = Refusal {
    message: "is a number beyond 64 bits",
    hint: "put it into quotes if it is a text, such as an id",
};

const OCTAL: Refusal = Refusal {
    message: "is read as different numbers by different programs, since it begins with `0`",
    hint: "leave the `0` away, write `0o` before octal digits, or put it into quotes if it is a text",
};

fn integer(text: &str) -> Result<Plain, Refusal> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let signed = text.parse::<i64>().map(Number::from);
    signed.or_else(|_| text.parse::<u64>().map(Number::from)).map(Plain::Number).map_err(|_| TOO_LARGE)
}

fn is_decimal_integer(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `1.5`, `.5`, `1.`, `1e9`, without a sign.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, None),
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !rest.is_empty();
    let exponent_is_fine = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        is_decimal_integer(digits)
    });
    has_digits && is_digits(whole) && is_digits(rest) && exponent_is_fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        for text in [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "1_000",
            "12:30:45",
            "2026-01-01",
            "1.2.3",
            ".",
            "-",
            "+",
            "e5",
            "0x",
            "0b1",
            "1e",
            "--1",
        ] {
            assert_eq!(read(text), Ok(Plain::Text), "{text}");
        }
        for (text, number) in [("1", 1), ("-0", 0), ("+7", 7), ("0x1F", 31), ("0o17", 15), ("0", 0)] {
            assert_eq!(read(text), Ok(Plain::Number(Number::from(number))), "{text}");
        }
        for (text, number) in [("1.10", 1.1), (".5", 0.5), ("1.", 1.0), ("-1e3", -1000.0)] {
            assert_eq!(read(text), Ok(Plain::Number(Number::from_f64(number).unwrap())), "{text}");
        }
        assert_eq!(read("18446744073709551615"), Ok(Plain::Number(u64::MAX.into())));
        assert_eq!(read("~"), Ok(Plain::Null));
        assert_eq!(read("True"), Ok(Plain::Boolean(true)));
    }

    #[test]
    fn what_has_two_meanings_or_none_in_json_is_refused() {
        for text in ["017", "-007", "08", "00"] {
            assert_eq!(read(text), Err(OCTAL), "{text}");
        }
        for text in ["18446744073709551616", "-9223372036854775809", "1e400", "0xFFFFFFFFFFFFFFFFF"] {
            assert_eq!(read(text), Err(TOO_LARGE), "{text}");
        }
        for text in [".inf", "-.INF", ".nan"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
