//! Lines that are JSON except for their characters.
//!
//! A tool may print bytes that are not UTF-8, and a JavaScript program that cuts a text inside an emoji prints half of
//! a surrogate pair as `\ud83d`, which no Rust string can hold. Both stand in otherwise good lines, which must not be
//! lost for them.

use std::borrow::Cow;

const REPLACEMENT: &str = "\\ufffd";

/// Reads a line as it is or else, if that differs, repaired.
pub(crate) fn read_or_repair<T>(line: &[u8], mut read: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
    read(line).or_else(|| read(&repaired(line)?))
}

/// Replaces what no string can hold, or returns `None` if there is nothing of the kind.
pub(crate) fn repaired(line: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(line);
    match (replace_lone_surrogates(&text), text) {
        (Some(replaced), _) => Some(replaced.into_bytes()),
        (None, Cow::Owned(text)) => Some(text.into_bytes()),
        (None, Cow::Borrowed(_)) => None,
    }
}

fn replace_lone_surrogates(text: &str) -> Option<String> {
    let mut replaced = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let start = at + offset;
        at = (start + 2).min(text.len());
        match surrogate(text, start) {
            Some(Surrogate::High) if surrogate(text, start + 6) == Some(Surrogate::Low) => at = start + 12,
            Some(_) => {
                at = start + 6;
                replaced.push_str(&text[kept..start]);
                replaced.push_str(REPLACEMENT);
                kept = at;
            }
            None => {}
        }
    }
    (kept > 0).then(|| replaced + &text[kept..])
}

#[derive(PartialEq)]
enum Surrogate {
    High,
    Low,
}

/// Reads the escape sequence at `start`, if it is half of a surrogate pair.
fn surrogate(text: &str, start: usize) -> Option<Surrogate> {
    let digits = text.get(start..start + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..0xdc00 => Some(Surrogate::High),
        0xdc00..0xe000 => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repair(line: &[u8]) -> Option<String> {
        repaired(line).map(|line| String::from_utf8(line).unwrap())
    }

    #[test]
    fn good_lines_are_left_alone() {
        for line in
            ["", "{}", r#""\ud83d\ude42""#, r#""\\ud83d""#, r#""\u00e9\n""#, "\\", "\\u", r#""日\u65e5""#]
        {
            assert_eq!(repair(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn half_pairs_are_replaced() {
        assert_eq!(repair(br#""a\ud83d""#).unwrap(), r#""a\ufffd""#);
        assert_eq!(repair(br#""\ude42\ud83d\ude42\ud83dx""#).unwrap(), r#""\ufffd\ud83d\ude42\ufffdx""#);
        assert_eq!(repair(br#""\ud83d\ud83d\ude42""#).unwrap(), r#""\ufffd\ud83d\ude42""#);
    }

    #[test]
    fn bytes_that_are_no_characters_are_replaced() {
        assert_eq!(repair(b"\"a\xffb\\ud800\"").unwrap(), "\"a\u{fffd}b\\ufffd\"");
    }
}
