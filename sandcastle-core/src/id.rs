//! Names that come from outside: session ids, branch names and commit ids.
//!
//! A value of one of these types has been checked once; nothing behind it checks again.

use std::fmt;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

macro_rules! text_newtype {
    ($name:ident) => {
        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    };
}

/// Names one conversation of an agent.
///
/// An id is 1 to 128 characters out of `A-Z a-z 0-9 . _ -` and begins with a letter or a digit, so it can neither be
/// taken for an option nor leave a folder it is joined to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

text_newtype!(SessionId);

impl SessionId {
    /// Checks `id` and wraps it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when `id` has another form than the one above.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let well_formed = id.len() <= 128
            && id.starts_with(|c: char| c.is_ascii_alphanumeric())
            && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if well_formed {
            Ok(Self(id))
        } else {
            Err(Error::new(
                ErrorKind::InvalidOptions,
                format!(
                    "use `{:.60}` as a session id: it is 1 to 128 ASCII letters, digits, `.`, `_` and `-`, the first a letter or digit",
                    id.escape_debug().to_string()
                ),
            )
            .with_hint("take the id from `iterations[].session_id` of a result or from an error"))
        }
    }
}

/// Names a branch, or `HEAD` where none is checked out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct BranchName(String);

text_newtype!(BranchName);

impl BranchName {
    /// Checks `name` by git's own rules for branches and wraps it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when git would not take it.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::BranchName;
    ///
    /// assert!(BranchName::new("agent/issue-12").is_ok());
    /// assert!(BranchName::new("-rf").is_err());
    /// ```
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        if is_branch_name(&name) {
            return Ok(Self(name));
        }
        let shown = name.escape_debug().to_string();
        Err(Error::new(ErrorKind::InvalidOptions, format!("use `{shown:.60}` as the name of a branch"))
            .with_hint("git refuses such a name; `git help check-ref-format` has its rules"))
    }

    pub(crate) fn from_git(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

/// Identifies a commit by its full hexadecimal object id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct CommitId(String);

text_newtype!(CommitId);

impl CommitId {
    /// Checks `sha` and wraps it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] unless it is 40 or 64 hexadecimal digits.
    pub fn new(sha: impl Into<String>) -> Result<Self> {
        let sha = sha.into();
        if matches!(sha.len(), 40 | 64) && sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(sha.to_ascii_lowercase()));
        }
        let shown = sha.escape_debug().to_string();
        Err(Error::new(ErrorKind::InvalidOptions, format!("use `{shown:.80}` as the id of a commit"))
            .with_hint("the full id is wanted: 40 hexadecimal digits, or 64"))
    }

    pub(crate) fn from_git(sha: impl Into<String>) -> Self {
        Self(sha.into())
    }
}

/// Names one run: the second in which it began, in UTC, and six random hexadecimal digits.
///
/// The same text is part of the names of what the run makes: its temporary branches and its journal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

text_newtype!(RunId);

impl RunId {
    /// Makes an id for a run that begins now, such as `20261130-094312-5f3a9c`.
    pub(crate) fn generate() -> Self {
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        Self(format!("{now}-{:06x}", fastrand::u32(..0x100_0000)))
    }

    /// Checks `id` and wraps it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when `id` has another form than the one above.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let digits =
            |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
        let well_formed = match id.split('-').collect::<Vec<_>>()[..] {
            [day, time, random] => {
                digits(day, 8)
                    && digits(time, 6)
                    && random.len() == 6
                    && random.bytes().all(|b| b.is_ascii_hexdigit())
            }
            _ => false,
        };
        if well_formed {
            return Ok(Self(id));
        }
        let shown = id.escape_debug().to_string();
        Err(Error::new(ErrorKind::InvalidOptions, format!("use `{shown:.60}` as the id of a run")).with_hint(
            "an id looks like `20261130-094312-5f3a9c`; `sandcastle runs list` shows those that are there",
        ))
    }
}

/// Tells whether git takes `name` as a branch: the rules of `git check-ref-format --branch`, without its shorthands.
fn is_branch_name(name: &str) -> bool {
    let is_forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.len() <= 1024
        && name != "HEAD"
        && name != "@"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(is_forbidden)
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_are_what_is_generated_and_nothing_else() {
        let id = RunId::generate();
        assert_eq!(RunId::new(id.as_str()).unwrap(), id);
        for bad in ["", "..", "20261130-094312", "20261130-094312-5f3a9/", "2026113x-094312-5f3a9c"] {
            assert_eq!(RunId::new(bad).unwrap_err().kind(), ErrorKind::InvalidOptions, "{bad:?}");
        }
    }

    #[test]
    fn session_ids_cannot_be_options_or_paths() {
        for good in ["bc25b0aa-9b21-43ae-b4fb-6abd6d260ffe", "a", "ses_1.2"] {
            assert_eq!(SessionId::new(good).unwrap(), good);
        }
        for bad in ["", "--resume", "../x", "a/b", ".", "a b", "é", &"x".repeat(129)] {
            let error = SessionId::new(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{bad:?}");
        }
    }

    #[test]
    fn a_branch_is_named_as_git_takes_it() {
        for good in ["main", "agent/issue-1", "a@b", "ü", "a.b"] {
            assert!(BranchName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", "-rf", "a..b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "@", "HEAD",
            "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a@{1}", "a\nb", "a\u{7f}",
        ] {
            assert!(BranchName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_commit_is_named_in_full() {
        assert_eq!(CommitId::new("A".repeat(40)).unwrap().as_str(), "a".repeat(40));
        assert!(CommitId::new("f".repeat(64)).is_ok());
        for bad in ["", "abc", "HEAD", &"g".repeat(40), &"f".repeat(41)] {
            assert!(CommitId::new(bad).is_err(), "{bad}");
        }
    }
}
