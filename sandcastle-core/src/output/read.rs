//! Reads a block as one JSON value, strictly.
//!
//! What serde_json reads is JSON; on top of that, a key that is given twice is refused, since one of its values would
//! be lost. Places are those of the block, and messages say what an author of JSON can look for.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::error::Advice;
use super::excerpt::position;
use super::quote::{clip, one_line, push_printable};
use super::{pointer, unfence};

/// The most values, nested ones included, in one block. A value in memory is many times larger than its text.
const MAX_VALUES: usize = 1_000_000;

/// A block that is JSON.
#[derive(Debug)]
pub(super) struct Reading<'b> {
    /// The JSON, at the same place as in the block.
    pub(super) text: Cow<'b, str>,
    pub(super) value: Value,
    /// The number of values in it, itself included.
    pub(super) count: usize,
}

impl Reading<'_> {
    /// Lets a function change the value. The text stays as it is unless the value changed, since numbers have all their digits
    /// only there.
    pub(super) fn prepared(self, prepare: &dyn Fn(&mut Value)) -> Self {
        let mut value = self.value.clone();
        prepare(&mut value);
        if value == self.value {
            return self;
        }
        Self { text: Cow::Owned(value.to_string()), count: count(&value), value }
    }
}

/// Counts a value and those in it.
fn count(value: &Value) -> usize {
    let nested: usize = match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    };
    nested + 1
}

/// Why a block is not JSON, and where.
#[derive(Debug)]
pub(super) struct Fault {
    /// The place in the block, in bytes.
    pub(super) offset: usize,
    /// Pointer to the place, if it is one of a value.
    pub(super) path: String,
    pub(super) message: String,
    pub(super) advice: Advice,
    pub(super) source: Option<serde_json::Error>,
}

impl Fault {
    pub(super) fn new(block: &str, offset: usize, message: &str, advice: Advice) -> Self {
        let (line, column) = position(block, offset);
        let message = format!("{message} at line {line} column {column}");
        Self { offset, path: String::new(), message, advice, source: None }
    }
}

/// Reads a block.
pub(super) fn read(block: &str) -> Result<Reading<'_>, Fault> {
    let text = unfence::unfence(block)?;
    if text.trim().is_empty() {
        return Err(Fault::new(block, text.len(), "there is nothing in the block", Advice::Syntax));
    }
    let census = Census::default();
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let checked = Check { census: &census, chain: None }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    let value =
        checked.and_then(|()| serde_json::from_str(&text)).map_err(|error| fault(&text, &census, error))?;
    Ok(Reading { text, value, count: census.values.get() })
}

/// What is learned while a value is checked.
#[derive(Default)]
struct Census {
    values: Cell<usize>,
    /// Where a key is given for the second time, and which.
    duplicate: RefCell<Option<(String, String)>>,
}

/// Goes through one value; keeps none of it.
#[derive(Clone, Copy)]
struct Check<'a> {
    census: &'a Census,
    chain: Option<&'a Chain<'a>>,
}

/// The way from the root to a value.
struct Chain<'a> {
    parent: Option<&'a Chain<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Check<'a> {
    fn below(&self, step: Step<'a>) -> Chain<'a> {
        Chain { parent: self.chain, step }
    }

    fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut chain = self.chain;
        while let Some(link) = chain {
            steps.push(match link.step {
                Step::Key(key) => Cow::Borrowed(key),
                Step::Index(index) => Cow::Owned(index.to_string()),
            });
            chain = link.parent;
        }
        let mut path = String::new();
        steps.iter().rev().for_each(|step| pointer::push(&mut path, step));
        path
    }
}

impl<'de> DeserializeSeed<'de> for Check<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let values = &self.census.values;
        values.set(values.get() + 1);
        if values.get() > MAX_VALUES {
            return Err(de::Error::custom(format_args!("more than {MAX_VALUES} values")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Check<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            let chain = self.below(Step::Index(index));
            if items.next_element_seed(Check { census: self.census, chain: Some(&chain) })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            if keys.contains(&key) {
                let message = format!("the key `{}` is given twice", clip(&one_line(&key), 100));
                let path = pointer::join(&self.path(), &key);
                *self.census.duplicate.borrow_mut() = Some((path, message));
                return Err(de::Error::custom("duplicate key"));
            }
            let chain = self.below(Step::Key(&key));
            fields.next_value_seed(Check { census: self.census, chain: Some(&chain) })?;
            keys.insert(key);
        }
        Ok(())
    }
}

/// Says in our words what serde_json refused.
fn fault(text: &str, census: &Census, error: serde_json::Error) -> Fault {
    let raw = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let raw = raw.strip_suffix(&suffix).unwrap_or(&raw);
    let place = offset_of(text, &error);
    let start = text.len() - text.trim_start().len();
    let (offset, message, advice) = match raw {
        _ if census.duplicate.borrow().is_some() => (place, String::new(), Advice::Syntax),
        "EOF while parsing a string" => unclosed_string(text, start),
        _ if raw.starts_with("EOF while parsing") => {
            (text.len(), format!("the JSON ends too early, {}", &raw["EOF ".len()..]), Advice::Syntax)
        }
        _ if raw.starts_with("control character") => (place, control_character(text, place), Advice::Syntax),
        "trailing characters" => {
            (place, format!("trailing characters{}", found(text, place)), Advice::JsonOnly)
        }
        "expected value" | "expected ident" if is_first_word(text, start, place) => {
            (start, format!("expected a JSON value{}", found(text, start)), Advice::JsonOnly)
        }
        "recursion limit exceeded" => (place, "nested more than 127 levels deep".to_owned(), Advice::Syntax),
        _ if raw.starts_with("expected") || raw.starts_with("key must") => {
            (place, format!("{raw}{}", found(text, place)), Advice::Syntax)
        }
        other => (place, other.to_owned(), Advice::Syntax),
    };
    let duplicate = census.duplicate.borrow_mut().take();
    let (path, message) = duplicate.unwrap_or((String::new(), message));
    Fault { path, source: Some(error), ..Fault::new(text, offset, &message, advice) }
}

/// serde_json counts columns in bytes, and from 1 or, at a line break, from 0.
fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = match error.line().checked_sub(2) {
        None => 0,
        Some(breaks) => lines.map(|at| at + 1).nth(breaks).unwrap_or(0),
    };
    text.floor_char_boundary((start + error.column()).saturating_sub(1))
}

fn found(text: &str, offset: usize) -> String {
    let Some(c) = text[offset..].chars().next() else { return String::new() };
    let mut shown = String::from(", found `");
    push_printable(&mut shown, c);
    shown + "`"
}

fn control_character(text: &str, offset: usize) -> String {
    match text[offset..].chars().next() {
        Some('\n') => "a line break (U+000A) stands raw in a string, where it must be `\\n`,".to_owned(),
        Some('\t') => "a tab (U+0009) stands raw in a string, where it must be `\\t`,".to_owned(),
        Some(c) => {
            let code = u32::from(c);
            format!(
                "the control character U+{code:04X} stands raw in a string, where it must be `\\u{code:04x}`,"
            )
        }
        None => "a control character stands raw in a string".to_owned(),
    }
}

/// Tells whether the value itself, rather than something in it, is what cannot be read.
fn is_first_word(text: &str, start: usize, place: usize) -> bool {
    !text[start..].starts_with(['{', '[', '"']) && !text[start..place].contains(char::is_whitespace)
}

/// Finds the string that the text ends in.
fn unclosed_string(text: &str, start: usize) -> (usize, String, Advice) {
    let (mut opened, mut escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match (byte, opened) {
            (b'"', None) => opened = Some(at),
            (b'"', Some(_)) if !escaped => opened = None,
            _ => {}
        }
        escaped = opened.is_some() && byte == b'\\' && !escaped;
    }
    let offset = opened.unwrap_or(start);
    let mut message = "the string is never closed that begins".to_owned();
    if let Some(quote) = text[offset..].chars().find(|c| matches!(c, '“' | '”' | '„' | '‟' | '＂')) {
        message = format!("`{quote}` does not close a string, and so it is never closed the one that begins");
    }
    (offset, message, Advice::Syntax)
}
