//! What must not be shown, and its mask.
//!
//! [`Secrets`] knows the values: those that were declared, and those of variables whose names look secret (`names`).
//! Each is looked for in the forms that programs print it in (`forms`), in one pass, also when a text arrives in pieces
//! (`masker`). What goes to an agent and the typed value that comes back are never masked: a mask is for logs, events,
//! messages and `Debug`.
//!
//! Nothing is read here; who has an environment gives it.

mod automaton;
mod forms;
mod masker;
mod names;
mod token;
mod variables;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use self::automaton::Automaton;
use self::forms::Origin;
pub use self::masker::Masker;
pub use self::token::Token;
pub use self::variables::Variables;
use crate::error::{Error, Result};

/// What is shown in the place of a secret.
pub const MASK: &str = "***";

/// The shortest value, in bytes, that is masked because its variable looks secret.
///
/// Shorter ones are found in innocent text, and masking them there would tell more than it hides.
pub const SHORTEST: usize = 6;

/// The shortest value, in bytes, that is masked because it was declared.
pub const SHORTEST_DECLARED: usize = 4;

/// Knows the secrets of a run, and hides them in text.
///
/// A secret is masked as it is, and escaped as in JSON (also twice, as in a tool's result within a line of an agent), in a
/// URL and in Base64; one of several lines is masked line by line. What is masked:
///
/// - declared values of at least 4 bytes;
/// - values, of at least 6 bytes, of variables whose names look secret (`API_KEY`, `GITHUB_TOKEN`, `DB_PASSWORD`), unless they
///   are words such as `default`, small numbers or paths;
/// - passwords within URLs (`postgres://user:password@host`), whatever the variable is called.
///
/// ```
/// use sandcastle_core::secret::Secrets;
///
/// let secrets = Secrets::of(["hunter2"], [("TOKEN", "s3cret"), ("LANG", "en_US.UTF-8")])?;
/// assert_eq!(secrets.mask("TOKEN=s3cret, LANG=en_US.UTF-8"), "TOKEN=***, LANG=en_US.UTF-8");
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Automaton>>);

impl Secrets {
    /// Knows no secrets.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Knows declared values.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub fn declared<D: AsRef<OsStr>>(values: impl IntoIterator<Item = D>) -> Result<Self> {
        Self::of(values, [("", ""); 0])
    }

    /// Knows declared values, and finds those of variables that look secret.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`](crate::ErrorKind::InvalidOptions) when there are too many to look for, gigabytes of
    /// them.
    pub fn of<D, K, V>(
        declared: impl IntoIterator<Item = D>,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self>
    where
        D: AsRef<OsStr>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        let mut needles = BTreeMap::new();
        let mut count = 0;
        for value in declared {
            let value = value.as_ref().to_string_lossy();
            count += usize::from(forms::add(&value, Origin::Declared, &mut needles));
        }
        for (name, value) in variables {
            let (name, value) = (name.as_ref().to_string_lossy(), value.as_ref().to_string_lossy());
            if let Some(secret) = names::secret_in(&name, &value) {
                count += usize::from(forms::add(secret, Origin::Guessed, &mut needles));
            }
            if let Some(password) = names::password_in_url(&value) {
                count += usize::from(forms::add(password, Origin::Guessed, &mut needles));
            }
        }
        if needles.is_empty() {
            return Ok(Self(None));
        }
        Ok(Self(Some(Arc::new(Automaton::build(needles, count)?))))
    }

    /// Tells whether there is nothing to mask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Puts a mask over every secret in a text that is complete. A text without any is not copied.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(automaton) = &self.0 else { return Cow::Borrowed(text) };
        if !automaton.is_in(text) {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut masker = Masker::new(self);
        masker.push(text, &mut shown);
        masker.finish(&mut shown);
        Cow::Owned(shown)
    }

    /// Puts a mask over every secret in a text whose end was cut off, and over what may be the beginning of one there.
    #[must_use]
    pub fn mask_cut<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut masker = Masker::new(self);
        masker.push(text, &mut shown);
        masker.finish_cut(&mut shown);
        if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
    }

    /// Puts a mask over every secret in the texts of a value, the names of its fields among them.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            _ if self.is_empty() => {}
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.mask_value(field));
                if fields.keys().any(|name| matches!(self.mask(name), Cow::Owned(_))) {
                    let named = std::mem::take(fields).into_iter();
                    *fields = named.map(|(name, field)| (self.mask(&name).into_owned(), field)).collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Puts a mask over every secret in the words of an error: its message, its hints and its causes.
    ///
    /// A cause that shows a secret is replaced by one that says the same behind a mask; one that shows none stays what it
    /// is. The record of what was done ([`Error::work`]) is the caller's data and is not touched.
    #[must_use]
    pub fn mask_error(&self, error: Error) -> Error {
        if self.is_empty() { error } else { error.reworded(&|text| self.mask(text)) }
    }

    /// Finds what in an argument vector shows a secret. Every user of the host can read those.
    ///
    /// A declared value is a mistake wherever it is; a guessed one may be a coincidence.
    pub(crate) fn shown_by<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Option<Shown> {
        let automaton = self.0.as_ref()?;
        args.into_iter().filter_map(|arg| automaton.worst_in(&arg.as_ref().to_string_lossy())).max()
    }
}

/// Says what kind of secret was found in the open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shown {
    /// The value of a variable that looks secret.
    Guessed,
    /// A declared value.
    Declared,
}

impl From<Origin> for Shown {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Guessed => Self::Guessed,
            Origin::Declared => Self::Declared,
        }
    }
}

impl fmt::Debug for Secrets {
    /// Shows how many there are and nothing else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.0.as_ref().map_or(0, |automaton| automaton.count)).finish()
    }
}

#[cfg(test)]
mod tests;
