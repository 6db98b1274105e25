//! The contract of one output, known at run time: a tag, a format, a schema, and who else has a say.

mod reading;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::ladder::{self, Ladder};
use super::locate::Locator;
use super::schema::CompiledSchema;
use super::{AgentOutput, AnswerForm, ExtractError, OutputFormat, Problem, Snippet, defaults, tag};
use crate::error::{Error, ErrorKind, Result};

/// The longest form of a block that is shown in a correction.
const MAX_BLOCK_BYTES: usize = 2000;
/// The most retries that a run may make.
const MAX_RETRIES: u32 = 10;

/// Who judges a value, before the validator does.
#[derive(Clone, Copy)]
enum Judge {
    /// The schema alone.
    Schema,
    /// The schema, once its defaults are filled in.
    Filled,
    /// The schema, and the type with all that it has to say.
    Type(fn(&str, &OutputSpec) -> Result<(), ExtractError>),
    /// Nobody: it is all left to the validator.
    Nobody,
}

type Prepare = dyn Fn(&mut Value) + Send + Sync;
type Validator = dyn Fn(&Value) -> Result<(), Vec<Problem>> + Send + Sync;

/// Says what an answer must be: a tag, a format and a schema.
///
/// It is what [`AgentOutput`] says of a type, as a value, and cheap to clone.
///
/// # Examples
/// ```
/// use sandcastle_core::OutputSpec;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
/// let spec = OutputSpec::json("result", schema)?.max_retries(2)?;
/// let value = spec.extract("Counted. <result>{\"n\": 3}</result>").unwrap();
/// assert_eq!(value["n"], 3);
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
#[derive(Clone)]
pub struct OutputSpec {
    tag: Arc<str>,
    format: OutputFormat,
    retries: u32,
    schema: Arc<CompiledSchema>,
    /// What a model is shown in the place of that schema.
    sent: Option<Arc<Value>>,
    description: Option<Arc<str>>,
    prepare: Option<Arc<Prepare>>,
    judge: Judge,
    validator: Option<Arc<Validator>>,
    ladder: Ladder,
}

impl OutputSpec {
    /// Creates the contract of a type. Values are judged by the type, too: by serde and by [`AgentOutput::validate`].
    #[must_use]
    pub fn of<T: AgentOutput>() -> Self {
        Self {
            tag: T::TAG.into(),
            format: T::FORMAT,
            retries: T::MAX_RETRIES,
            schema: Arc::new(CompiledSchema::new(T::schema().into())),
            prepare: T::PREPARE.map(|prepare| Arc::new(prepare) as Arc<Prepare>),
            judge: Judge::Type(|block, spec| T::read_block(block, spec).map(drop)),
            validator: None,
            sent: None,
            description: None,
            ladder: Ladder::default(),
        }
    }

    /// Creates the contract of a JSON value in `<tag>...</tag>` that fits a JSON Schema.
    ///
    /// The schema is of draft 2020-12 unless its `$schema` says otherwise. Nothing outside of it is ever fetched.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if the tag cannot be told from other text, or the schema is none.
    pub fn json(tag: impl Into<String>, schema: impl Into<Value>) -> Result<Self> {
        let tag = tag::check(tag.into())?;
        let schema = CompiledSchema::new(schema.into());
        match schema.checker() {
            Ok(_) => Ok(Self::new(tag, OutputFormat::Json, schema)),
            Err(problems) => Err(unusable(&tag, problems)),
        }
    }

    /// Creates the contract of a text in `<tag>...</tag>`: trimmed, and never parsed.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if the tag cannot be told from other text.
    pub fn text(tag: impl Into<String>) -> Result<Self> {
        let schema = CompiledSchema::new(serde_json::json!({ "type": "string" }));
        Ok(Self::new(tag::check(tag.into())?, OutputFormat::Text, schema))
    }

    /// Creates the contract of a JSON value in `<tag>...</tag>` that nothing but a function judges.
    ///
    /// There is no schema, so a model is asked for the value in words, and cannot be held to it by its service; say what is
    /// wanted with [`OutputSpec::description`], or give a model something to go by with [`OutputSpec::sent_schema`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if the tag cannot be told from other text.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::{OutputSpec, Problem};
    ///
    /// let spec = OutputSpec::checked("port", |value| match value.as_u64() {
    ///     Some(1024..=65535) => Ok(()),
    ///     _ => Err(vec![Problem::new("", "must be a port that anybody may use")]),
    /// })?
    /// .description("The number of a free port.");
    /// assert_eq!(spec.extract("<port>8080</port>").unwrap(), 8080);
    /// assert!(spec.extract("<port>80</port>").is_err());
    /// # Ok::<(), sandcastle_core::Error>(())
    /// ```
    pub fn checked<F>(tag: impl Into<String>, validator: F) -> Result<Self>
    where
        F: Fn(&Value) -> Result<(), Vec<Problem>> + Send + Sync + 'static,
    {
        let spec = Self::new(tag::check(tag.into())?, OutputFormat::Json, CompiledSchema::new(true.into()));
        Ok(Self { judge: Judge::Nobody, ..spec }.validator(validator))
    }

    fn new(tag: String, format: OutputFormat, schema: CompiledSchema) -> Self {
        Self {
            tag: tag.into(),
            format,
            retries: 0,
            schema: Arc::new(schema),
            prepare: None,
            judge: Judge::Schema,
            validator: None,
            sent: None,
            description: None,
            ladder: Ladder::default(),
        }
    }

    /// Sets how often a run may ask again after an invalid answer, 10 times at most; the default is 0.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if that is more than 10.
    pub fn max_retries(mut self, retries: u32) -> Result<Self> {
        if retries > MAX_RETRIES {
            let message = format!("retry the output `<{}>` up to {retries} times", self.tag);
            return Err(Error::new(ErrorKind::InvalidOutput, message)
                .with_hint(format!("an answer is corrected at most {MAX_RETRIES} times")));
        }
        self.retries = retries;
        Ok(self)
    }

    /// Sets a check of what a schema cannot say; it is asked last, about values that fit in every other way.
    #[must_use]
    pub fn validator<F>(mut self, validator: F) -> Self
    where
        F: Fn(&Value) -> Result<(), Vec<Problem>> + Send + Sync + 'static,
    {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// Sets what puts a value into the form that the schema has, before defaults are filled in and anything is judged.
    ///
    /// It gets every answer that is JSON, of whatever kind, after the type's own if there is one; it changes what it knows and
    /// leaves the rest alone. What the schema then says of the value counts. A text is never prepared.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::OutputSpec;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "array", "items": { "type": "string" } });
    /// let spec = OutputSpec::json("files", schema)?.prepare(|value| {
    ///     if value.is_string() {
    ///         *value = json!([value.take()]);
    ///     }
    /// });
    /// assert_eq!(spec.extract(r#"<files>"a.rs"</files>"#).unwrap(), json!(["a.rs"]));
    /// # Ok::<(), sandcastle_core::Error>(())
    /// ```
    #[must_use]
    pub fn prepare<F>(mut self, prepare: F) -> Self
    where
        F: Fn(&mut Value) + Send + Sync + 'static,
    {
        self.prepare = Some(match self.prepare.take() {
            None => Arc::new(prepare),
            Some(first) => Arc::new(move |value: &mut Value| {
                first(value);
                prepare(value);
            }),
        });
        self
    }

    /// Fills the defaults of the schema into a value before it is judged, where it has left fields out.
    ///
    /// That is done in every object that is there, also in those within arrays. A field that is there is never replaced, not
    /// even `null`. It changes nothing for the output of a type, which has defaults of its own, and where there is no schema.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::OutputSpec;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "properties": { "level": { "type": "string", "default": "low" } } });
    /// let spec = OutputSpec::json("verdict", schema)?.fill_defaults();
    /// assert_eq!(spec.extract("<verdict>{}</verdict>").unwrap(), json!({ "level": "low" }));
    /// # Ok::<(), sandcastle_core::Error>(())
    /// ```
    #[must_use]
    pub fn fill_defaults(mut self) -> Self {
        if matches!(self.judge, Judge::Schema) && defaults::has_any(self.schema()) {
            self.judge = Judge::Filled;
        }
        self
    }

    /// Adds a check behind the one that there may be.
    #[cfg(feature = "workflow")]
    pub(crate) fn also(self, more: fn(&Value) -> Result<(), Vec<Problem>>) -> Self {
        match self.validator.clone() {
            None => self.validator(more),
            Some(first) => self.validator(move |value| first(value).and_then(|()| more(value))),
        }
    }

    /// Says in words what the value is; a model reads it beside the shape.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into().into());
        self
    }

    /// Sets the schema that a model is shown, and that its service holds it to, in the place of the one that judges.
    ///
    /// It judges nothing. Where the two disagree, an answer that fits this one alone is refused like any other.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if it is no schema, or the output is text.
    pub fn sent_schema(mut self, schema: impl Into<Value>) -> Result<Self> {
        let schema = CompiledSchema::new(schema.into());
        if self.format == OutputFormat::Text {
            let message = format!("send a schema for `<{}>`: the output is text, which has none", self.tag);
            return Err(Error::new(ErrorKind::InvalidOutput, message));
        }
        schema.checker().map_err(|problems| unusable(&self.tag, problems))?;
        self.sent = Some(Arc::new(schema.value().clone()));
        Ok(self)
    }

    /// Sets what makes a value of an answer that is not valid, once no retry is left; what it returns is judged like an
    /// answer, and used only if it is good.
    ///
    /// It is not asked when a run fails for another reason than its answer.
    #[must_use]
    pub fn fallback<F>(mut self, fallback: F) -> Self
    where
        F: Fn(&ExtractError) -> Result<Value, String> + Send + Sync + 'static,
    {
        self.ladder.set_fallback(fallback);
        self
    }

    /// Puts a value by that is given when no answer is valid, and the fallback function, if there is one, has none either.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`] if it is not valid itself.
    pub fn canned(mut self, value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        self.read_block(&ladder::block_of(&value, self.format)).map_err(|error| {
            Error::new(ErrorKind::InvalidOutput, format!("use the canned value of `<{}>`: {error}", self.tag))
                .with_hint("it is given in the place of an answer, so it has to fit as one does")
        })?;
        self.ladder.set_canned(value);
        Ok(self)
    }

    pub(crate) fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Returns the name of the tag that the answer stands in.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the tag as a prompt that asks for it writes it.
    pub(crate) fn opener(&self) -> String {
        format!("<{}>", self.tag)
    }

    /// Returns how the inside of the tag is read.
    #[must_use]
    pub fn format(&self) -> OutputFormat {
        self.format
    }

    /// Returns how often a run may ask again after an invalid answer.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Returns the schema that values are held against.
    #[must_use]
    pub fn schema(&self) -> &Value {
        self.schema.value()
    }

    /// Returns the schema that a model is shown, with the description.
    pub(crate) fn shown_schema(&self) -> Cow<'_, Value> {
        let schema = self.sent.as_deref().unwrap_or_else(|| self.schema());
        let Some(description) = &self.description else { return Cow::Borrowed(schema) };
        let mut described = match schema {
            Value::Object(schema) => schema.clone(),
            Value::Bool(true) => serde_json::Map::new(),
            _ => return Cow::Borrowed(schema),
        };
        described.insert("description".to_owned(), (&**description).into());
        Cow::Owned(described.into())
    }

    /// Tells whether there is a schema that a service could hold a model to.
    pub(crate) fn has_schema(&self) -> bool {
        self.sent.is_some() || !matches!(self.judge, Judge::Nobody)
    }

    /// Returns what finds the last block with the tag in a text that streams.
    #[must_use]
    pub fn locator(&self) -> Locator {
        Locator::new(&self.tag, self.format)
    }

    /// Returns the text that tells a model how to answer: the tag and the shape, in the default style of a
    /// [`Snippet`].
    #[must_use]
    pub fn prompt_snippet(&self) -> String {
        Snippet::of_spec(self).render()
    }

    /// Returns what a block looks like, for a model whose answer `error` refuses because of its form, if that can be shown
    /// in a few words. Small models that fell into another notation stay in it until they see this.
    pub(crate) fn block_for(&self, error: &ExtractError, form: AnswerForm) -> Option<String> {
        let is_lost = form == AnswerForm::Block && error.is_about_form();
        is_lost.then(|| Snippet::of_spec(self).render_block())?.filter(|block| block.len() <= MAX_BLOCK_BYTES)
    }
}

fn unusable(tag: &str, problems: &[Problem]) -> Error {
    let reasons: Vec<_> = problems.iter().map(ToString::to_string).collect();
    Error::new(ErrorKind::InvalidOutput, format!("use the schema of `<{tag}>`: {}", reasons.join("; ")))
        .with_hint("it must be a JSON Schema that is complete in itself: put what it refers to into `$defs`")
}

impl fmt::Debug for OutputSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSpec")
            .field("tag", &self.tag)
            .field("format", &self.format)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}
