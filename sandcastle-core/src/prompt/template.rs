//! Prompt templates: a file's text with `{{KEY}}` in it.
//!
//! One pass from front to back. What an argument brings is text and is never looked at again, so nothing in it can act
//! as a placeholder. White space inside the braces does not matter; `\{{` is a literal `{{`. Braces around anything that
//! is no key, as in program code, stay as they are.

use std::collections::BTreeSet;

/// The text of a template with its arguments in place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) text: String,
    /// Arguments that the template does not mention, in the order in which they were given.
    pub(super) unused: Vec<String>,
}

/// A placeholder without an argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfilled {
    pub(super) key: String,
    /// Counts from 1.
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Puts arguments in the place of their placeholders. Of two arguments with one key the last counts.
pub(super) fn fill(template: &str, arguments: &[(String, String)]) -> Result<Filled, Vec<Unfilled>> {
    let mut text = String::with_capacity(template.len());
    let mut used = BTreeSet::new();
    let mut unfilled = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let (before, opened) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('\\') {
            text.push_str(before);
            text.push_str("{{");
            rest = &opened[2..];
            continue;
        }
        text.push_str(before);
        let Some((key, behind)) = placeholder(opened) else {
            text.push('{');
            rest = &opened[1..];
            continue;
        };
        match arguments.iter().rev().find(|(name, _)| name == key) {
            Some((_, value)) => {
                used.insert(key);
                text.push_str(value);
            }
            None => unfilled.push(at_place(template, template.len() - opened.len(), key)),
        }
        rest = behind;
    }
    if !unfilled.is_empty() {
        return Err(unfilled);
    }
    text.push_str(rest);
    let unused =
        arguments.iter().map(|(key, _)| key).filter(|key| !used.contains(key.as_str())).cloned().collect();
    Ok(Filled { text, unused })
}

/// Tells whether a name can be a key: a letter or `_`, then letters, digits and `_`.
pub(super) fn is_key(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads `{{ KEY }}` at the front, and returns the key and what follows.
fn placeholder(opened: &str) -> Option<(&str, &str)> {
    let line = opened.lines().next()?;
    let (inside, _) = line.strip_prefix("{{")?.split_once("}}")?;
    let key = inside.trim();
    is_key(key).then(|| (key, &opened["{{".len() + inside.len() + "}}".len()..]))
}

fn at_place(template: &str, offset: usize, key: &str) -> Unfilled {
    let before = &template[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Unfilled {
        key: key.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, arguments: &[(&str, &str)]) -> String {
        let arguments: Vec<_> = arguments.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        fill(template, &arguments).unwrap().text
    }

    #[test]
    fn case_189_spaces_inside_the_braces_do_not_matter() {
        assert_eq!(filled("{{ KEY }} {{KEY}} {{\tKEY}}", &[("KEY", "v")]), "v v v");
    }

    #[test]
    fn case_187_what_an_argument_brings_is_text() {
        assert_eq!(filled("{{A}}{{B}}", &[("A", "{{B}}"), ("B", "!`touch pwned`")]), "{{B}}!`touch pwned`");
        assert_eq!(filled("{{A}}B}}", &[("A", "{{"), ("B", "x")]), "{{B}}");
    }

    #[test]
    fn braces_that_hold_no_key_stay() {
        for text in ["{{ 1 }}", "{{}}", "{{a b}}", "{{x\n}}", "fn f() {{}}", "{{{", "{{é}}"] {
            assert_eq!(filled(text, &[]), text);
        }
        assert_eq!(filled("{{{A}}}", &[("A", "x")]), "{x}");
    }

    #[test]
    fn a_literal_is_written_with_a_backslash() {
        assert_eq!(filled(r"\{{KEY}} and {{KEY}}", &[("KEY", "v")]), "{{KEY}} and v");
    }

    #[test]
    fn case_190_missing_arguments_are_named_with_their_place() {
        let missing = fill("a\n  é {{ONE}} {{TWO}}", &[("TWO".into(), "2".into())]).unwrap_err();
        assert_eq!(missing, [Unfilled { key: "ONE".into(), line: 2, column: 5 }]);
    }

    #[test]
    fn unused_arguments_are_told() {
        let arguments = [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())];
        assert_eq!(fill("{{A}}", &arguments).unwrap().unused, ["B"]);
    }
}
