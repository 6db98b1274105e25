//! Why an answer could not be turned into a value.
//!
//! Here are the facts and how a person reads them. What the agent is told about them is worded in `feedback`.

use std::error::Error as StdError;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::locate::Locator;
use super::quote::{clip, one_line};
use super::read::Fault;
use super::{Problem, excerpt, pointer, unfence};
use crate::event::StopReason;
use crate::work::AttemptOutcome;

/// The most problems that the long form shows; collected ones are as many and a last that counts the others.
const MAX_SHOWN: usize = 101;
/// The most characters of one problem.
const MAX_SHOWN_CHARS: usize = 600;

/// Names the step at which an answer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// There is no block with the tag, or the tool that takes the answer was not called.
    Missing,
    /// The last block is never closed.
    Unclosed,
    /// The block is not one JSON value.
    JsonParse,
    /// The value does not fit the schema or the type.
    SchemaValidate,
    /// The type's own validation refused the value.
    Rejected,
    /// The model refused to answer.
    Refused,
    /// The service held the answer back because of what it says.
    Filtered,
    /// The answer was cut off by the model's output limit.
    Truncated,
    /// There is no answer at all.
    Empty,
}

impl Stage {
    /// Returns the name in kebab case, as the command prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unclosed => "unclosed",
            Self::JsonParse => "json-parse",
            Self::SchemaValidate => "schema-validate",
            Self::Rejected => "rejected",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Truncated => "truncated",
            Self::Empty => "empty",
        }
    }
}

impl Stage {
    /// Tells whether an answer that failed here may be better the next time. What was refused or held back is not asked for
    /// again.
    pub(crate) fn may_be_corrected(self) -> bool {
        !matches!(self, Self::Refused | Self::Filtered)
    }

    /// Returns how an attempt ended whose answer failed here.
    pub(crate) fn outcome(self) -> AttemptOutcome {
        match self {
            Self::Missing => AttemptOutcome::Missing,
            Self::Unclosed => AttemptOutcome::Unclosed,
            Self::JsonParse => AttemptOutcome::JsonParse,
            Self::SchemaValidate => AttemptOutcome::SchemaValidate,
            Self::Rejected => AttemptOutcome::Rejected,
            Self::Refused => AttemptOutcome::Refused,
            Self::Filtered => AttemptOutcome::Filtered,
            Self::Truncated => AttemptOutcome::Truncated,
            Self::Empty => AttemptOutcome::Empty,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Says why a text holds no valid value.
///
/// `{}` is one line; `{:#}` adds every problem and an excerpt of the block with a caret.
///
/// # Examples
/// ```
/// use sandcastle_core::{OutputSpec, Stage};
///
/// let schema = serde_json::json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// let spec = OutputSpec::json("result", schema)?;
/// let error = spec.extract(r#"<result>{"n":"x"}</result>"#).unwrap_err();
/// assert_eq!(error.stage(), Stage::SchemaValidate);
/// assert_eq!(error.problems[0].path, "/n");
/// assert_eq!(error.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ExtractError {
    /// The tag that was looked for.
    pub tag: String,
    /// The inside of the block that was judged, exactly as the agent wrote it.
    pub raw_matched: Option<String>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The value, if the block was JSON.
    pub value: Option<Value>,
    pub(super) detail: Detail,
    source: Option<Box<dyn StdError + Send + Sync + 'static>>,
}

/// What an answer without a block has instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing that looks like an answer.
    Nothing,
    /// JSON that stands in no tag.
    BareJson,
    /// A block with this tag, which is nearly the right one.
    OtherTag(String),
}

/// What only the stage at hand has to say.
#[derive(Debug)]
pub(super) enum Detail {
    Missing(Seen),
    /// The tool whose arguments are the answer was not called.
    Uncalled,
    Unclosed,
    Oversize,
    NotJson {
        offset: usize,
        advice: Advice,
    },
    Misfit,
    Rejected,
    Refused,
    Filtered,
    Truncated,
    Empty,
}

/// What helps against a block that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// There is more in the block than JSON.
    JsonOnly,
    /// The JSON has a mistake.
    Syntax,
}

impl ExtractError {
    /// Returns the step that failed.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.detail {
            Detail::Missing(_) | Detail::Uncalled => Stage::Missing,
            Detail::Unclosed => Stage::Unclosed,
            Detail::Oversize | Detail::NotJson { .. } => Stage::JsonParse,
            Detail::Misfit => Stage::SchemaValidate,
            Detail::Rejected => Stage::Rejected,
            Detail::Refused => Stage::Refused,
            Detail::Filtered => Stage::Filtered,
            Detail::Truncated => Stage::Truncated,
            Detail::Empty => Stage::Empty,
        }
    }

    /// There is no block.
    pub(crate) fn missing(tag: impl Into<String>, seen: Seen) -> Self {
        let tag = tag.into();
        let message = match &seen {
            Seen::Nothing => format!("no `<{tag}>` block"),
            Seen::BareJson => format!("no `<{tag}>` block, but JSON outside of it"),
            Seen::OtherTag(other) => {
                format!("no `<{tag}>` block, but one in `<{}>`", clip(&one_line(other), 100))
            }
        };
        Self::new(tag, Detail::Missing(seen)).with_problems(vec![Problem::new("", message)])
    }

    /// The tool whose arguments are the answer was not called; `said` is what was answered instead.
    pub(crate) fn uncalled(tag: impl Into<String>, tool: &str, said: impl Into<String>) -> Self {
        let message = format!("the tool `{tool}` was not called");
        Self::new(tag.into(), Detail::Uncalled)
            .with_raw(said.into())
            .with_problems(vec![Problem::new("", message)])
    }

    /// The last block, of which `raw` is the text so far, is never closed; `found` is a closer that is nearly the
    /// right one.
    pub(crate) fn unclosed(tag: impl Into<String>, raw: impl Into<String>, found: Option<String>) -> Self {
        let tag = tag.into();
        let message = match found {
            None => format!("`</{tag}>` is missing"),
            Some(found) => format!("expected `</{tag}>`, found `{}`", clip(&one_line(&found), 100)),
        };
        Self::new(tag, Detail::Unclosed).with_raw(raw.into()).with_problems(vec![Problem::new("", message)])
    }

    /// The last block, of which `raw` is the beginning, is larger than `limit` bytes.
    pub(crate) fn oversize(tag: impl Into<String>, raw: impl Into<String>, limit: usize) -> Self {
        Self::new(tag.into(), Detail::Oversize)
            .with_raw(raw.into())
            .with_problems(vec![Problem::new("", format!("longer than {limit} bytes"))])
    }

    /// The block is not one JSON value.
    pub(super) fn json_parse(tag: &str, block: &str, fault: Fault) -> Self {
        let Fault { offset, path, message, advice, source } = fault;
        let mut error = Self::new(tag.to_owned(), Detail::NotJson { offset, advice })
            .with_raw(block.to_owned())
            .with_problems(vec![Problem::bounded(&path, &message)]);
        error.source = source.map(Into::into);
        error
    }

    /// The value does not fit the schema or the type.
    pub(super) fn schema(tag: &str, block: &str, value: Option<Value>, problems: Vec<Problem>) -> Self {
        let error = Self::new(tag.to_owned(), Detail::Misfit).with_raw(block.to_owned());
        Self { value, ..error.with_problems(problems) }
    }

    /// The type's own validation, or the validator of a specification, refused the value.
    pub(super) fn rejected(tag: &str, block: &str, value: Option<Value>, problems: Vec<Problem>) -> Self {
        let error = Self::new(tag.to_owned(), Detail::Rejected).with_raw(block.to_owned());
        let problems = if problems.is_empty() {
            vec![Problem::new("", "was refused without a reason")]
        } else {
            problems
        };
        Self { value, ..error.with_problems(problems) }
    }

    /// The answer was cut off; `located` is what there is of it.
    pub(crate) fn truncated(tag: impl Into<String>, located: Option<Locator>) -> Self {
        let message = "cut off by the output limit of the model";
        Self::ended(tag.into(), Detail::Truncated, located, message)
    }

    /// The answer was cut off because the conversation has no room for more; `located` is what there is of it.
    pub(crate) fn out_of_room(tag: impl Into<String>, located: Option<Locator>) -> Self {
        let message = "cut off: the conversation fills all that the model can see";
        Self::ended(tag.into(), Detail::Truncated, located, message)
    }

    /// The model refused to answer; `located` is what it said instead.
    pub(crate) fn refused(tag: impl Into<String>, located: Option<Locator>) -> Self {
        Self::ended(tag.into(), Detail::Refused, located, "the model refused to answer")
    }

    /// The service held the answer back; `located` is what there is of it.
    pub(crate) fn filtered(tag: impl Into<String>, located: Option<Locator>) -> Self {
        let message = "the model's service held the answer back because of what it says";
        Self::ended(tag.into(), Detail::Filtered, located, message)
    }

    /// Gives back what was located in an answer that came to its end.
    ///
    /// # Errors
    /// One that was refused, held back or cut off fails by that name, even if what is there of it would do.
    pub(crate) fn unless_stopped(
        tag: &str,
        stop: StopReason,
        located: Option<Locator>,
    ) -> Result<Option<Locator>, Self> {
        match stop {
            StopReason::Complete => Ok(located),
            StopReason::Refused => Err(Self::refused(tag, located)),
            StopReason::Filtered => Err(Self::filtered(tag, located)),
            StopReason::OutputLimit => Err(Self::truncated(tag, located)),
            StopReason::ContextLimit => Err(Self::out_of_room(tag, located)),
        }
    }

    /// There is no answer at all.
    pub(crate) fn empty(tag: impl Into<String>) -> Self {
        Self::ended(tag.into(), Detail::Empty, None, "the answer is empty")
    }

    fn ended(tag: String, detail: Detail, located: Option<Locator>, message: &str) -> Self {
        let raw_matched = located.and_then(|locator| match locator.finish() {
            Ok(block) => Some(block.into_string()),
            Err(error) => error.raw_matched,
        });
        Self { raw_matched, ..Self::new(tag, detail).with_problems(vec![Problem::new("", message)]) }
    }

    fn new(tag: String, detail: Detail) -> Self {
        Self { tag, raw_matched: None, problems: Vec::new(), value: None, detail, source: None }
    }

    /// Keeps the answer as it was given, where another text was judged in its place.
    pub(crate) fn about(self, answer: &str) -> Self {
        self.with_raw(answer.to_owned())
    }

    /// The code that judges it panicked.
    pub(crate) fn panicked(tag: &str, answer: &str) -> Self {
        Self::rejected(tag, answer, None, vec![Problem::new("", "the validation of the value panicked")])
    }

    fn with_raw(mut self, raw: String) -> Self {
        self.raw_matched = Some(raw);
        self
    }

    fn with_problems(mut self, problems: Vec<Problem>) -> Self {
        self.problems = problems;
        self
    }

    pub(super) fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Returns where in the block the first problem is.
    fn offset(&self) -> Option<usize> {
        let raw = self.raw_matched.as_deref()?;
        match self.detail {
            Detail::NotJson { offset, .. } => Some(offset),
            Detail::Unclosed | Detail::Truncated => Some(raw.trim_end().len()),
            Detail::Misfit | Detail::Rejected if self.value.is_some() => {
                pointer::offset_in(&unfence::unfence(raw).ok()?, &self.problems.first()?.path)
            }
            _ => None,
        }
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = &self.tag;
        match self.detail {
            Detail::Missing(_) | Detail::Uncalled | Detail::Refused | Detail::Filtered | Detail::Empty => {}
            Detail::Unclosed => write!(f, "the last `<{tag}>` is never closed: ")?,
            Detail::Oversize => write!(f, "the last `<{tag}>` is too long: ")?,
            Detail::NotJson { .. } => write!(f, "`<{tag}>` is not valid JSON: ")?,
            Detail::Misfit => write!(f, "`<{tag}>` does not fit its schema: ")?,
            Detail::Rejected => write!(f, "`<{tag}>` was rejected: ")?,
            Detail::Truncated => write!(f, "`<{tag}>` was ")?,
        }
        if let Some(first) = self.problems.first() {
            f.write_str(&shown(first))?;
        }
        match self.problems.len() {
            0 | 1 => {}
            2 => f.write_str(" (and 1 more problem)")?,
            count => write!(f, " (and {} more problems)", count - 1)?,
        }
        if f.alternate() { self.write_details(f) } else { Ok(()) }
    }
}

impl ExtractError {
    fn write_details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.problems.len() > 1 {
            for problem in self.problems.iter().take(MAX_SHOWN) {
                write!(f, "\n  - {}", shown(problem))?;
            }
            if self.problems.len() > MAX_SHOWN {
                write!(f, "\n  - and {} more", self.problems.len() - MAX_SHOWN)?;
            }
        }
        match (&self.raw_matched, self.offset()) {
            (Some(raw), Some(offset)) => write!(f, "\n{}", excerpt::excerpt(raw, offset)),
            _ => Ok(()),
        }
    }
}

/// Problems of a type's own validation may quote an answer of any length.
fn shown(problem: &Problem) -> String {
    clip(&problem.to_string(), MAX_SHOWN_CHARS).into_owned()
}

impl StdError for ExtractError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
