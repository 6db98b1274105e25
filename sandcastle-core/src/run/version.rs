//! The version of an agent's program, which is asked for where the program will run.
//!
//! No model is asked, and nothing is decided: what a version is good for is said, and `plan` settles by it.

use std::time::Duration;

use semver::Version;

use super::iteration::Stage;
use super::shell::{Call, Shell, Stdout};
use crate::agent::{VersionCheck, version_in};
use crate::output::one_line;
use crate::session::SessionRequest;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(30);
/// How much it may print for that.
const MAX_OUTPUT: usize = 16 * 1024;

/// What was found out about a version.
#[derive(Debug)]
pub(super) enum Found {
    Version(Version),
    /// The program said none, for this reason.
    Unknown(String),
}

/// Which turns a version is to be good for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turns {
    Fresh,
    Resumed,
}

impl Turns {
    /// Says what a turn is that begins or goes on with a session.
    pub(super) fn first_of(session: &SessionRequest) -> Self {
        if session.origin().is_some() { Self::Resumed } else { Self::Fresh }
    }
}

/// Asks a program for its version.
///
/// # Errors
/// Says why it could not even be started.
pub(super) async fn ask(check: &VersionCheck, stage: &Stage<'_>) -> Result<Found, String> {
    let command = &check.command;
    let words: Vec<_> =
        std::iter::once(&command.program).chain(&command.args).map(|word| word.to_string_lossy()).collect();
    let shown = words.join(" ");
    let env: Vec<_> = command.env.iter().chain(stage.env).cloned().collect();
    let shell = Shell { sandbox: Some(&**stage.workplace.sandbox()), cwd: &stage.cwd, env: &env };
    let argv = words.iter().map(|word| &**word).collect();
    let call = Call { argv, shown: &shown, limit: LIMIT, stdin: &[], stdout: Stdout::Whole(MAX_OUTPUT) };
    let finished = match shell.run(call).await {
        Ok(finished) => finished,
        Err(failure) if failure.is_of_the_start() => return Err(failure.to_string()),
        Err(failure) => return Ok(Found::Unknown(failure.to_string())),
    };
    let printed = String::from_utf8_lossy(&finished.stdout);
    let none = || Found::Unknown(format!("`{shown:.200}` printed `{:.100}`", one_line(printed.trim())));
    Ok(version_in(&printed).map_or_else(none, Found::Version))
}

impl Found {
    /// Says why these turns cannot have a schema, if they cannot.
    pub(super) fn suits(&self, check: &VersionCheck, turns: Turns) -> Result<(), String> {
        let found = match self {
            Self::Version(found) => found,
            Self::Unknown(why) => return Err(format!("its version is not known: {why}")),
        };
        let (needed, what) = match turns {
            Turns::Fresh => (check.since, ""),
            Turns::Resumed => (check.resumed_since, " to take a schema where it goes on with a session"),
        };
        // A version of ours that is none cannot be reached.
        if Version::parse(needed).is_ok_and(|needed| *found >= needed) {
            return Ok(());
        }
        Err(format!("its version is {found}, and it has to be {needed} or newer{what}"))
    }
}
