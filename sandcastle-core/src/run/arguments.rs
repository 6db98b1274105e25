//! What may stand in the arguments of a program: every user of the host can read them, so secrets may not.
//!
//! Only looks; what is done about it is the caller's affair.

use std::ffi::OsStr;

use super::entry;
use super::options::Settings;
use crate::agent::AgentCommand;
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::{Piece, PromptTemplate};
use crate::secret::{Secrets, Shown};

/// Checks that nothing that will be started shows a declared secret, and returns what to warn of.
pub(super) fn check_shown(
    settings: &Settings,
    prompt: Option<&PromptTemplate>,
    commands: &[AgentCommand],
    secrets: &Secrets,
) -> Result<Vec<String>> {
    let hooks = settings.site.hooks.check_secrets(secrets)?;
    let expressions = prompt.map(|prompt| check_expressions(prompt, secrets)).transpose()?.flatten();
    let mut warnings: Vec<String> = [hooks, expressions].into_iter().flatten().collect();
    for command in commands {
        warnings.extend(check_arguments(&command.program, &command.args, secrets)?);
    }
    warnings.dedup();
    Ok(warnings)
}

/// Checks that no shell expression is given a declared secret: its values are arguments of the shell.
fn check_expressions(prompt: &PromptTemplate, secrets: &Secrets) -> Result<Option<String>> {
    let filled = entry::as_far_as_known(prompt);
    let args = filled.pieces.iter().filter_map(|piece| match piece {
        Piece::Expression(expression) => Some(expression.arguments()),
        Piece::Text(_) => None,
    });
    check_arguments(OsStr::new("sh"), args.flatten(), secrets)
}

/// Checks that no secret is in the arguments of a program, where every user of the host can read it, and returns what to
/// warn of: a value that only looks secret may be in an argument by coincidence.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] when a declared secret is.
pub(super) fn check_arguments<A: AsRef<OsStr>>(
    program: &OsStr,
    args: impl IntoIterator<Item = A>,
    secrets: &Secrets,
) -> Result<Option<String>> {
    let program = program.to_string_lossy();
    match secrets.shown_by(args) {
        None => Ok(None),
        Some(Shown::Guessed) => Ok(Some(format!(
            "the arguments of `{program}` hold the value of a variable that looks secret, and every user of this host can read them"
        ))),
        Some(Shown::Declared) => Err(Error::new(
            ErrorKind::InvalidOptions,
            format!(
                "start `{program}` with a secret in its arguments, where every user of this host can read it"
            ),
        )
        .with_hint("give secrets by variables, with `env` or in `.sandcastle/.env`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w_43_a_declared_secret_in_an_argument_is_refused_and_a_guessed_one_warned_of() {
        let secrets = Secrets::of(["declared"], [("API_TOKEN", "s3cret")]).unwrap();
        let with = |arg: &str| check_arguments("agent".as_ref(), [arg], &secrets);
        assert_eq!(with("do it").unwrap(), None);
        assert!(with("use s3cret").unwrap().unwrap().contains("`agent`"));
        let error = with("use declared").unwrap_err();
        assert!(!format!("{error:#?}").contains("declared"), "{error:#?}");
    }
}
