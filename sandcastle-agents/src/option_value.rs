//! Values of options that go onto a command line.
//!
//! They are arguments of their own and never seen by a shell. What is left to go wrong is a value that the program
//! takes for an option, and one that no argument can hold; both are refused by name before anything is started.

use sandcastle_core::{Error, ErrorKind, Result};

/// Returns `value` if it can stand behind the option that `what` names.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] if it is empty, begins with `-` or contains a control character.
pub(crate) fn option_value<'a>(agent: &str, what: &str, value: &'a str) -> Result<&'a str> {
    let problem = if value.is_empty() {
        "it is empty"
    } else if value.starts_with('-') {
        "it begins with `-`, as options do"
    } else if value.chars().any(char::is_control) {
        "it contains a control character"
    } else {
        return Ok(value);
    };
    let shown = value.escape_debug().to_string();
    Err(Error::new(ErrorKind::InvalidOptions, format!("give `{agent}` the {what} `{shown:.60}`: {problem}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_would_misread_is_refused_by_name() {
        assert_eq!(option_value("pi", "model", "anthropic/claude opus").unwrap(), "anthropic/claude opus");
        for (value, problem) in
            [("", "empty"), ("-p", "begins with `-`"), ("a\0b", "control character"), ("a\nb", "control")]
        {
            let error = option_value("pi", "model", value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions);
            assert!(error.to_string().contains(problem) && error.to_string().contains("model"), "{error}");
        }
    }
}
