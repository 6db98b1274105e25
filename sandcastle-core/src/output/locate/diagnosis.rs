//! Says more about an answer that was not found: a bare value, a tag that is nearly the right one.

use serde::de::IgnoredAny;

use crate::output::error::Seen;
use crate::output::{ExtractError, OutputFormat};

/// A tag that is longer than this is prose between two angle brackets.
const MAX_TAG: usize = 80;
/// A bare value is looked for at no more places than this.
const MAX_PLACES: usize = 32;

/// Creates the error for a text, of which this is the end, without any block.
pub(super) fn missing(name: &str, tail: &str, format: OutputFormat) -> ExtractError {
    let seen = match near_tag(name, tail) {
        Some(found) => Seen::OtherTag(found),
        None if format == OutputFormat::Json && has_bare_json(tail) => Seen::BareJson,
        None => Seen::Nothing,
    };
    ExtractError::missing(name, seen)
}

/// Looks in `text`, which has a complete value up to `value_end`, for something that is meant to be the closer.
///
/// Returns the text before it and the near miss.
pub(super) fn near_closer<'t>(name: &str, text: &'t str, value_end: usize) -> Option<(&'t str, String)> {
    let behind = text.get(value_end..)?;
    let rest = behind.trim_start().trim_start_matches(['`', '~']).trim_start();
    let found = leading_tag(rest)?;
    let is_closer = found.starts_with("</") || is_near(name, found);
    let exact = found.strip_prefix("</").and_then(|found| found.strip_suffix('>')) == Some(name);
    (is_closer && !exact).then(|| (&text[..text.len() - rest.len()], found.to_owned()))
}

/// Looks in a text for a closer that is nearly the right one; returns the text before it and the near miss.
pub(super) fn last_near_closer<'t>(name: &str, text: &'t str) -> Option<(&'t str, String)> {
    let closers = memchr::memchr_iter(b'<', text.as_bytes()).filter(|at| text[*at..].starts_with("</"));
    let mut near = closers.filter_map(|at| Some((&text[..at], leading_tag(&text[at..])?)));
    let (before, found) = near.rfind(|(_, tag)| is_near(name, tag))?;
    Some((before, found.to_owned()))
}

/// Finds the last opener that is nearly the right one; returns what stands between its brackets.
fn near_tag(name: &str, tail: &str) -> Option<String> {
    let openers = memchr::memchr_iter(b'<', tail.as_bytes()).filter(|at| !tail[*at..].starts_with("</"));
    let mut tags = openers.filter_map(|at| leading_tag(&tail[at..]));
    let near = tags.rfind(|tag| is_near(name, tag))?;
    let inside = near.strip_prefix('<')?.strip_suffix('>')?;
    (inside != name).then(|| inside.to_owned())
}

fn leading_tag(text: &str) -> Option<&str> {
    let text = &text[..text.floor_char_boundary(MAX_TAG)];
    let end = text.find(['>', '\n'])?;
    (text.starts_with('<') && text[end..].starts_with('>')).then(|| &text[..=end])
}

fn name_of(tag: &str) -> &str {
    tag.trim_matches(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '/'))
}

/// Tells whether a tag has the name but for case, an `s` at the end, signs between the words, or attributes.
fn is_near(name: &str, tag: &str) -> bool {
    let found = name_of(tag).split_whitespace().next().unwrap_or_default();
    let bare = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
        letters.collect::<String>().trim_end_matches('s').to_owned()
    };
    !found.is_empty() && bare(found) == bare(name)
}

/// Tells whether a complete object stands in the text, or a complete array at the beginning of a line.
fn has_bare_json(tail: &str) -> bool {
    let places = memchr::memchr2_iter(b'{', b'[', tail.as_bytes()).filter(|at| {
        let before = tail[..*at].trim_end_matches([' ', '`']);
        match tail.as_bytes()[*at] {
            b'{' => {
                let may_precede = |c: char| c.is_whitespace() || matches!(c, '`' | '>' | ';' | ':' | '*');
                tail[..*at].is_empty() || tail[..*at].ends_with(may_precede)
            }
            _ => before.is_empty() || before.ends_with('\n'),
        }
    });
    places.take(MAX_PLACES).any(|at| {
        let mut values = serde_json::Deserializer::from_str(&tail[at..]).into_iter::<IgnoredAny>();
        values.next().is_some_and(|value| value.is_ok())
    })
}
