//! The answer to a name that nobody has: the nearest one, or all that there are, as workflows have it everywhere.

use sandcastle_core::workflow::instead_of;
use sandcastle_core::{Error, ErrorKind};

use super::shown;

/// Refuses a name; `what` has its article.
pub(super) fn unknown(what: &str, name: &str, names: &[&str]) -> Error {
    Error::new(ErrorKind::InvalidWorkflow, format!("find {what} named `{}`", shown(name)))
        .with_hint(instead_of(name, names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_like_no_other_is_answered_with_all() {
        let error = unknown("a sandbox", "\u{1b}[2J", &["none", "docker"]);
        assert_eq!(error.to_string(), "find a sandbox named `\\u{1b}[2J`");
        assert_eq!(error.hints(), ["there are `none`, `docker`"]);
    }
}
