//! Variables whose values are nobody's business.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;

/// Holds environment variables; `Debug` shows their names and never their values.
///
/// A builder of an agent or a sandbox keeps what is set with `env` in one of these, and can derive `Debug`.
///
/// ```
/// use sandcastle_core::secret::Variables;
///
/// let mut variables = Variables::default();
/// variables.set("TOKEN", "s3cret");
/// assert_eq!(format!("{variables:?}"), r#"["TOKEN"]"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(Vec<(OsString, OsString)>);

impl Variables {
    /// Sets a variable. The last value of a name counts.
    pub fn set(&mut self, key: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.push((key.into(), value.into()));
    }

    /// Shows the names of `variables` as [`fmt::Debug`] does.
    pub fn names(variables: &[(OsString, OsString)]) -> impl fmt::Debug {
        fmt::from_fn(move |f| f.debug_list().entries(variables.iter().map(|(key, _)| key)).finish())
    }

    /// Returns the value that counts for a name.
    #[must_use]
    pub fn get(&self, key: impl AsRef<OsStr>) -> Option<&OsStr> {
        let key = key.as_ref();
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_os_str())
    }
}

impl Deref for Variables {
    type Target = [(OsString, OsString)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromIterator<(OsString, OsString)> for Variables {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::names(&self.0).fmt(f)
    }
}
