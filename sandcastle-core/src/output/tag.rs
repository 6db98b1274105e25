//! Which names a tag may have. The derive checks the same at compile time.

use crate::error::{Error, ErrorKind, Result};

/// Tags with a meaning of their own in an agent's text, and that meaning.
const RESERVED: [(&str, &str); 3] = [
    ("promise", "agents end their work with it"),
    ("think", "models reason in it"),
    ("thinking", "models reason in it"),
];

/// Returns the tag if a reader of an agent's text can tell it from everything else.
pub(super) fn check(tag: String) -> Result<String> {
    let shown = tag.escape_debug();
    if !is_name(&tag) {
        return Err(Error::new(
            ErrorKind::InvalidOutput,
            format!("use `{shown}` as a tag: it is no name of an element"),
        )
        .with_hint("a tag is a letter or `_`, then letters, digits, `-`, `_` and `.`, such as `result`"));
    }
    match reserved_for(&tag) {
        None => Ok(tag),
        Some(meaning) => Err(Error::new(
            ErrorKind::InvalidOutput,
            format!("use `{shown}` as a tag: it is reserved, {meaning}"),
        )
        .with_hint("choose another name, such as `result`")),
    }
}

/// The names of XML elements, without the letters outside ASCII that agents would write in more than one form.
fn is_name(tag: &str) -> bool {
    tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && tag.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

fn reserved_for(tag: &str) -> Option<&'static str> {
    if tag.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("xml")) {
        return Some("names that begin with `xml` belong to XML itself");
    }
    RESERVED.into_iter().find_map(|(reserved, meaning)| (tag == reserved).then_some(meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_elements_are_tags() {
        for good in ["a", "_", "result", "my-result", "Result_2.b", "promises", "rethink"] {
            assert_eq!(check(good.to_owned()).ok().as_deref(), Some(good));
        }
    }

    #[test]
    fn other_names_are_refused_with_what_to_do() {
        let bad =
            ["", "1st", "-a", "a b", "a:b", "<a>", "é", "a\n", "promise", "think", "thinking", "xml", "XmlA"];
        for bad in bad {
            let error = check(bad.to_owned()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{bad}");
            assert!(error.to_string().contains(&*bad.escape_debug().to_string()), "{error}");
            assert_eq!((error.hints().len(), error.to_string().lines().count()), (1, 1), "{error:#}");
        }
    }
}
