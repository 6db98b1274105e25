//! What must not be shown of one run: what was declared, and the values of variables whose names look secret.
//!
//! It grows while the run goes on, since the variables that a document gives to a step have their values only once the step
//! begins. What was shown before cannot be taken back, which is why the variables of this process and of the workflow are
//! known from the beginning.

use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::error::Result;
use crate::secret::Secrets;

/// What must not be shown.
pub(super) struct Discretion(Mutex<Known>);

/// The values that are known, and what looks for them.
struct Known {
    declared: Vec<String>,
    variables: Vec<(OsString, OsString)>,
    secrets: Secrets,
}

impl Discretion {
    /// Begins with what is known before a run.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub(super) fn of(declared: Vec<String>, variables: Vec<(OsString, OsString)>) -> Result<Self> {
        let secrets = Secrets::of(&declared, variables.clone())?;
        Ok(Self(Mutex::new(Known { declared, variables, secrets })))
    }

    /// Returns what is masked by now.
    pub(super) fn secrets(&self) -> Secrets {
        self.known().secrets.clone()
    }

    /// Masks the values of these variables, too, as far as their names look secret.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub(super) fn learn<'v>(&self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Result<()> {
        let more: Vec<(OsString, OsString)> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        if Secrets::of([""; 0], more.clone())?.is_empty() {
            return Ok(());
        }
        let mut known = self.known();
        known.variables.extend(more);
        known.secrets = Secrets::of(&known.declared, known.variables.clone())?;
        Ok(())
    }

    /// Masks the variables of a workflow, too, as far as they are texts.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub(super) fn learn_vars(&self, vars: &Map<String, Value>) -> Result<()> {
        self.learn(vars.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing in there can be left half done that matters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
