//! The rules of the locator once more, written for reading instead of for speed, and held against it.
//!
//! Works on the whole text and tries one attempt after the other, each from its opener on. Takes quadratic time.

use proptest::prelude::*;

use super::{Locator, diagnosis};
use crate::output::{OutputFormat, Stage};

/// A block, or the stage at which there is none.
type Answer = Result<String, Stage>;

fn reference(text: &str) -> Answer {
    let mut last = None;
    let mut from = 0;
    while let Some(start) = find(text, "<r>", from).map(|at| at + 3) {
        from = start;
        match attempt(text, start) {
            Attempt::Mention => {}
            Attempt::Bad { value_end } => last = Some(bad(text, start, value_end)),
            Attempt::Good { closer } => {
                last = Some(Ok(text[start..closer].to_owned()));
                from = closer;
            }
        }
    }
    last.or_else(|| last_pair(text)).unwrap_or(Err(Stage::Missing))
}

fn find(text: &str, what: &str, from: usize) -> Option<usize> {
    text[from..].find(what).map(|at| from + at)
}

fn bad(text: &str, start: usize, value_end: Option<usize>) -> Answer {
    let closer = find(text, "</r>", start);
    let raw = &text[start..closer.unwrap_or(text.len())];
    let near = value_end.and_then(|end| diagnosis::near_closer("r", raw, end - start));
    if near.is_some() || closer.is_none() { Err(Stage::Unclosed) } else { Ok(raw.to_owned()) }
}

fn last_pair(text: &str) -> Option<Answer> {
    let mut pair = None;
    let mut open = None;
    for at in 0..text.len() {
        if text.as_bytes()[at..].starts_with(b"<r>") {
            open = Some(at + 3);
        } else if text.as_bytes()[at..].starts_with(b"</r>")
            && let Some(start) = open.take()
        {
            pair = Some(Ok(text[start..at].to_owned()));
        }
    }
    pair
}

enum Attempt {
    Mention,
    Bad { value_end: Option<usize> },
    Good { closer: usize },
}

/// What comes of one way to read an attempt.
enum Reading {
    Mention,
    /// The text ends before it is known whether a value begins.
    Begun,
    /// A value begins and is not complete, or what follows it is not right.
    Failed {
        value_end: Option<usize>,
        at_end_of_text: bool,
    },
    Good {
        closer: usize,
    },
}

fn attempt(text: &str, start: usize) -> Attempt {
    let at = skip_space(text, start);
    let mark = text[at..].chars().next().filter(|c| matches!(c, '`' | '~'));
    let Some(mark) = mark else { return merge(value(text, at, None), None) };
    let inside = at + text[at..].len() - text[at..].trim_start_matches(mark).len();
    if inside - at < 3 {
        return Attempt::Mention;
    }
    let line_end = find(text, "\n", inside).unwrap_or(text.len());
    let info = &text[inside..line_end];
    let below = if info.contains("<r>") || (mark == '`' && info.contains('`')) {
        Reading::Mention
    } else if line_end == text.len() {
        Reading::Begun
    } else {
        match skip_space(text, line_end) {
            at if at == text.len() => Reading::Begun,
            at => value(text, at, Some(mark)),
        }
    };
    merge(below, inline(text, inside, line_end, mark))
}

fn merge(main: Reading, inline: Option<Reading>) -> Attempt {
    if let Some(Reading::Good { closer }) = inline {
        return Attempt::Good { closer };
    }
    let of_inline = match inline {
        Some(Reading::Failed { value_end, .. }) => value_end,
        _ => None,
    };
    match (main, inline) {
        (Reading::Good { closer }, _) => Attempt::Good { closer },
        (Reading::Failed { value_end, .. }, _) => Attempt::Bad { value_end: value_end.max(of_inline) },
        (Reading::Begun, _) => Attempt::Bad { value_end: of_inline },
        (Reading::Mention, Some(Reading::Failed { value_end, at_end_of_text: true })) => {
            Attempt::Bad { value_end }
        }
        (Reading::Mention, _) => Attempt::Mention,
    }
}

/// The value in the line of the fence, behind at most one word.
fn inline(text: &str, inside: usize, line_end: usize, mark: char) -> Option<Reading> {
    let at = skip_space(text, inside);
    let word = |c: char| c.is_alphanumeric() || "_-+.#".contains(c);
    let behind = at + text[at..].len() - text[at..].trim_start_matches(word).len();
    let second = skip_space(text, behind);
    let glued = text[behind..].starts_with(['{', '[', '"']);
    let places = [Some(at), (behind > at && (second > behind || glued)).then_some(second)];
    places.into_iter().flatten().filter(|at| *at < line_end).find_map(|at| {
        match value(text, at, Some(mark)) {
            Reading::Mention | Reading::Begun => None,
            reading => Some(reading),
        }
    })
}

fn skip_space(text: &str, from: usize) -> usize {
    from + text[from..].len() - text[from..].trim_start().len()
}

fn value(text: &str, at: usize, fence: Option<char>) -> Reading {
    let rest = &text[at..];
    let word =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || (!c.is_ascii() && !c.is_whitespace());
    let literal = ["true", "false", "null"].into_iter().find(|literal| rest.starts_with(&literal[..1]));
    match rest.chars().next() {
        Some('{' | '[' | '"') => match delimited(rest) {
            Ok(len) => trailer(text, at + len, fence),
            Err(at_end_of_text) => Reading::Failed { value_end: None, at_end_of_text },
        },
        Some('-') if rest.len() == 1 => Reading::Begun,
        Some('-') if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => Reading::Mention,
        Some('-' | '0'..='9') => {
            let len = rest.len() - rest.trim_start_matches(|c: char| "0123456789+-.eE".contains(c)).len();
            if len == rest.len() {
                return Reading::Failed { value_end: None, at_end_of_text: true };
            }
            trailer(text, at + len, fence)
        }
        Some('t' | 'f' | 'n') => match literal {
            Some(literal) if literal.starts_with(rest) => Reading::Begun,
            Some(literal) if rest.starts_with(literal) && !rest[literal.len()..].starts_with(word) => {
                trailer(text, at + literal.len(), fence)
            }
            _ => Reading::Mention,
        },
        _ => Reading::Mention,
    }
}

/// Returns the length of the value, or whether the text ends in it.
fn delimited(rest: &str) -> Result<usize, bool> {
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'<' | b'\\' => return Err(false),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']') {
            return Ok(at + 1);
        }
    }
    Err(true)
}

fn trailer(text: &str, value_end: usize, fence: Option<char>) -> Reading {
    let mut at = skip_space(text, value_end);
    let mut complete = true;
    if let Some(mark) = fence {
        let behind = at + text[at..].len() - text[at..].trim_start_matches(mark).len();
        complete = behind - at >= 3;
        at = if complete { skip_space(text, behind) } else { behind };
    }
    if complete && text[at..].starts_with("</r>") {
        return Reading::Good { closer: at };
    }
    let at_end_of_text = if complete { "</r>".starts_with(&text[at..]) } else { at == text.len() };
    Reading::Failed { value_end: Some(value_end), at_end_of_text }
}

fn locate(pieces: &[&str]) -> Answer {
    let mut locator = Locator::new("r", OutputFormat::Json);
    pieces.iter().for_each(|piece| locator.push(piece));
    locator.finish().map(super::Block::into_string).map_err(|error| error.stage())
}

fn token() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("<r>"),
        4 => Just("</r>"),
        3 => prop::sample::select(vec!["```", "~~~", "\n", " ", "{", "}", "[", "]"]),
        3 => Just("\""),
        2 => prop::sample::select(vec![
            "json", "\\", "1", "-", "true", "nul", ":", ",", "x", "<", ">", "\u{a0}", "é", "</R>", "`", "~", "{}", "\"a\"",
            "<r>{}</r>", "<r>[\"", "\"]</r>", "\"<r>{",
        ]),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(token(), 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_locator_agrees_with_the_reference(text in text()) {
        prop_assert_eq!(locate(&[&text]), reference(&text), "{:?}", text);
    }

    #[test]
    fn where_the_text_is_cut_makes_no_difference(text in text(), cuts in prop::collection::vec(0usize..120, 0..6)) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let mut from = 0;
        let pieces: Vec<_> = cuts.into_iter().map(|to| &text[std::mem::replace(&mut from, to)..to]).collect();
        prop_assert_eq!(locate(&pieces), locate(&[&text]), "{:?}", pieces);
        let single: Vec<_> = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect();
        prop_assert_eq!(locate(&single), locate(&[&text]), "{:?}", text);
    }

    #[test]
    fn a_good_block_at_the_end_is_found_behind_any_text(text in any_text(), tag in "[a-z]{1,3}") {
        let mut locator = Locator::new(&tag, OutputFormat::Json);
        locator.push(&text.replace("<r>", &format!("<{tag}>")));
        locator.push(&format!("<{tag}>{{\"k\":1}}</{tag}>"));
        let found = locator.finish().map(super::Block::into_string).map_err(|error| error.stage());
        prop_assert_eq!(found, Ok("{\"k\":1}".to_owned()), "{:?}", text);
    }
}

/// Text without escape sequences, which may swallow what follows them.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC*", "[\\x00-\\x1a\\x1c-\\x7f]*", text()]
}
