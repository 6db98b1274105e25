//! Single values: what they have to be, what they are, and what to write in their place.

use serde_json::Number;

use super::super::keys::Shape;
use super::super::report::{Path, listed, shown};
use super::super::tree::{Content, Node};
use super::Holder;
use crate::workflow::definition::MAX_NAME;
use crate::workflow::nearest::nearest;

pub(super) const SHORTEN: &str = "shorten it";
pub(super) const NAME_HINT: &str = "a name is a letter or `_`, then letters, digits and `_`";

/// What is wrong with a value, and what to write in its place.
struct Misfit {
    message: String,
    hint: String,
}

impl Misfit {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl Holder<'_> {
    /// Holds a value that has no parts against its shape.
    pub(super) fn value(&mut self, node: &Node, shape: Shape, at: &Path) {
        if let (Err(misfit), false) = (judge(node, shape), matches!(node.content, Content::Unreadable)) {
            self.report.error(at, node.place, misfit.message, misfit.hint);
            if let Shape::Steps | Shape::Name = shape {
                self.report.settle(&at.parent());
            }
        }
    }
}

fn judge(node: &Node, shape: Shape) -> Result<(), Misfit> {
    match shape {
        Shape::Version => version(node),
        Shape::Text => text(node).map(drop),
        Shape::Filled => text(node).and_then(filled),
        Shape::Spelled => spelled(node),
        Shape::Name => text(node).and_then(name),
        Shape::Secret => secret(node),
        Shape::Address => text(node).and_then(address),
        Shape::Choice(words) | Shape::OneOrMore(words) => choice(node, words),
        Shape::Boolean => boolean(node),
        Shape::Whole(least, most) => whole(node, least, most),
        Shape::Number(least, most) => {
            let what = format!("a number from {least} to {most}");
            within(node, &what, |number| (least..=most).contains(&number))
        }
        Shape::Positive(most) => {
            let what = format!("a number above 0 and up to {most}");
            within(node, &what, |number| number > 0.0 && number <= most)
        }
        Shape::AnyNumber => number(node, "a number").map(drop),
        Shape::Scalar => scalar(node),
        Shape::Variable => variable(node),
        Shape::List(_) => Err(list(node)),
        Shape::Steps => Err(steps(node)),
        Shape::Named(_)
        | Shape::Environment
        | Shape::Group(_)
        | Shape::SchemaNode
        | Shape::OutputSchema
        | Shape::TextOr(_) => {
            Err(must_be(node, "a map", "write it as lines of `name: value`, indented below the key"))
        }
        Shape::Anything => Ok(()),
    }
}

fn must_be(node: &Node, what: &str, hint: impl Into<String>) -> Misfit {
    Misfit::new(format!("must be {what}, and is {}", node.kind()), hint)
}

fn text(node: &Node) -> Result<&str, Misfit> {
    let hint = match &node.content {
        Content::Map(_) => "put it into quotes if it begins with `{`, or use `|` and indented lines",
        Content::Null => "write something behind the key, or leave the key away",
        Content::List(_) => "write one text, in quotes if it begins with `[`",
        _ => "put it into quotes",
    };
    node.str().ok_or_else(|| must_be(node, "a text", hint))
}

fn filled(text: &str) -> Result<(), Misfit> {
    if text.trim().is_empty() {
        return Err(Misfit::new("is empty", "write something, or leave the key away"));
    }
    Ok(())
}

fn spelled(node: &Node) -> Result<(), Misfit> {
    match node.content {
        Content::Number(..) | Content::Boolean(_) => Ok(()),
        _ => text(node).map(drop),
    }
}

/// Tells whether expressions can say a name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn name(text: &str) -> Result<(), Misfit> {
    if !is_name(text) {
        return Err(Misfit::new(format!("`{}` cannot be the name of a step", shown(text)), NAME_HINT));
    }
    match too_long(text) {
        Some(message) => Err(Misfit::new(message, SHORTEN)),
        None => Ok(()),
    }
}

/// Says of a name that nobody wants to read it.
pub(super) fn too_long(name: &str) -> Option<String> {
    let length = name.chars().count();
    (length > MAX_NAME)
        .then(|| format!("a name has at most {MAX_NAME} characters, and this one has {length}"))
}

/// Takes the name of a variable out of `${NAME}`.
pub(in crate::workflow::document) fn variable_of(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}').filter(|name| is_name(name))
}

/// What is written in the place of a variable may be a key, so it is not repeated.
fn secret(node: &Node) -> Result<(), Misfit> {
    node.str().and_then(variable_of).map(drop).ok_or_else(|| {
        Misfit::new(
            "must be the name of an environment variable in `${}`; a key itself is never written in a document",
            "put the key into the environment, and write `\"${OPENAI_API_KEY}\"` with the name of that variable",
        )
    })
}

fn address(text: &str) -> Result<(), Misfit> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace)) {
        return Ok(());
    }
    Err(Misfit::new("must be an address", "begin it with `https://` or `http://`"))
}

fn version(node: &Node) -> Result<(), Misfit> {
    match node.spelled() {
        Some(text) if matches!(text.source.as_str(), "1.0" | "1.1") => Ok(()),
        Some(text) => {
            let message = format!("must be \"1.0\" or \"1.1\", and is `{}`", shown(&text.source));
            Err(Misfit::new(message, "write `version: \"1.1\"`"))
        }
        None => Err(must_be(node, "\"1.0\" or \"1.1\"", "write `version: \"1.1\"`")),
    }
}

fn choice(node: &Node, words: &[&'static str]) -> Result<(), Misfit> {
    let all = listed(words.iter().copied());
    let Some(text) = node.str() else {
        return Err(must_be(node, &format!("one of {all}"), "choose one of them"));
    };
    if words.contains(&text) {
        return Ok(());
    }
    let meant = nearest(text, words.iter().copied());
    let hint =
        meant.map_or_else(|| "choose one of them".to_owned(), |meant| format!("did you mean `{meant}`?"));
    Err(Misfit::new(format!("must be one of {all}, and is `{}`", shown(text)), hint))
}

fn boolean(node: &Node) -> Result<(), Misfit> {
    node.boolean().map(drop).ok_or_else(|| {
        let no_boolean =
            matches!(node.str(), Some("yes" | "no" | "on" | "off" | "Yes" | "No" | "On" | "Off"));
        let hint = if no_boolean {
            "write `true` or `false`: `yes`, `no`, `on` and `off` are texts"
        } else {
            "write `true` or `false`, without quotes"
        };
        must_be(node, "`true` or `false`", hint)
    })
}

fn number<'n>(node: &'n Node, what: &str) -> Result<&'n Number, Misfit> {
    let hint = match node.str() {
        Some(text) if text.trim_end_matches(char::is_alphabetic).parse::<f64>().is_ok() => {
            "write the number alone, without quotes or a unit"
        }
        _ => "write a number, without quotes",
    };
    let number = node.number().ok_or_else(|| must_be(node, what, hint))?;
    if what == "a whole number" && !is_whole(number) {
        return Err(Misfit::new(
            format!("must be a whole number, and is {number}"),
            "leave the fraction away",
        ));
    }
    Ok(number)
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64()
}

fn whole(node: &Node, least: u64, most: u64) -> Result<(), Misfit> {
    let number = number(node, "a whole number")?;
    if number.as_u64().is_some_and(|number| (least..=most).contains(&number)) {
        return Ok(());
    }
    let message = format!("must be from {least} to {most}, and is {number}");
    Err(Misfit::new(message, "choose a number within these bounds"))
}

fn within(node: &Node, what: &str, fits: impl Fn(f64) -> bool) -> Result<(), Misfit> {
    let number = number(node, what)?;
    if number.as_f64().is_some_and(fits) {
        return Ok(());
    }
    Err(Misfit::new(format!("must be {what}, and is {number}"), "choose a number within these bounds"))
}

fn scalar(node: &Node) -> Result<(), Misfit> {
    match node.content {
        Content::List(_) | Content::Map(_) => Err(must_be(
            node,
            "a text, a number, a boolean or `null`",
            "describe lists and maps with `items` and `properties`",
        )),
        _ => Ok(()),
    }
}

fn variable(node: &Node) -> Result<(), Misfit> {
    match node.content {
        Content::Null => Err(Misfit::new(
            "must be a default or a map with `type`, and is nothing",
            "write `{ type: string }` for a variable that has to be set",
        )),
        _ => Ok(()),
    }
}

fn list(node: &Node) -> Misfit {
    let hint = match &node.content {
        Content::Text(_) => {
            "write each part as an item of its own, such as `[cargo, test]`; no shell reads them"
        }
        _ => "write its items in `[ ]`, or each in a line that begins with `- `",
    };
    must_be(node, "a list", hint)
}

fn steps(node: &Node) -> Misfit {
    must_be(node, "a list of steps", "begin each step with `- step: NAME` in a line of its own")
}
