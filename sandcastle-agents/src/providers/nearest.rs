//! The answer to a name that nobody has: the nearest one, or all that there are.

use sandcastle_core::{Error, ErrorKind};

use super::shown;

/// How alike two names are that may have been meant for each other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// Refuses a name; `what` has its article.
pub(super) fn unknown(what: &str, name: &str, names: &[&str]) -> Error {
    let error = Error::new(ErrorKind::InvalidWorkflow, format!("find {what} named `{}`", shown(name)));
    match nearest(name, names) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            error.with_hint(format!("there are {}", names.join(", ")))
        }
    }
}

fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    // Comparing takes time with the square of the length, and no name is long.
    let name = name.get(..60).unwrap_or(name);
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    let near = names.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(near) >= ALIKE).then_some(near)
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
