//! The token for GitHub: found in the environment, and kept from agents.
//!
//! It is in no argument, is masked where things are shown, and whatever variables it was in are empty for everything that runs
//! inside, no matter by which way it would have got there. An agent without a sandbox can still read what its user can, such as the
//! memory of the user's processes: that is what sandboxes are for.

use sandcastle::RunOptions;

use super::super::options::{variable, variables_with};
use crate::failure::Failure;

/// The variables that programs for GitHub look into.
const USUAL: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];
/// What to do where there is none.
const WANTED: &str = "give one that reads pull requests, contents and issues, and writes the first two to post and push: \
                      `GITHUB_TOKEN=$(gh auth token)`, if `gh` is logged in, or one of a variable that `--token-env` names";

/// A token, and the variables that it is or may be in.
#[derive(Debug)]
pub(super) struct GitHubToken {
    value: Value,
    variables: Vec<String>,
}

/// A value that `Debug` does not show.
struct Value(String);

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl GitHubToken {
    /// Looks into the variable that was named, or into the usual ones.
    ///
    /// # Errors
    /// When there is no token: the threads of a pull request, even of a public one, are told only to those who have one.
    pub(super) fn find(named: Option<&str>) -> Result<Self, Failure> {
        let value = match named {
            Some(name) => read(name)?.ok_or_else(|| {
                failed(name, "there is no such variable in the environment, or it is empty").with_hint(WANTED)
            })?,
            None => {
                let found = USUAL.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
                found.into_iter().flatten().next().ok_or_else(|| {
                    let [first, second] = USUAL;
                    Failure::usage(format!(
                        "failed to find a token for GitHub: neither `{first}` nor `{second}` is set"
                    ))
                    .with_hint(WANTED)
                })?
            }
        };
        let mut variables: Vec<String> = USUAL.map(str::to_owned).to_vec();
        for name in named.map(str::to_owned).into_iter().chain(variables_with(&value)) {
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
        Ok(Self { value: Value(value), variables })
    }

    pub(super) fn value(&self) -> &str {
        &self.value.0
    }

    /// Refuses to hand it to the agent by name.
    pub(super) fn check_variables(&self, given: &[String]) -> Result<(), Failure> {
        let is_ours = |given: &&String| {
            let name = given.split_once('=').map_or(given.as_str(), |(name, _)| name);
            self.variables.iter().any(|variable| variable == name)
        };
        match given.iter().find(is_ours) {
            None => Ok(()),
            Some(given) => {
                let name = given.split('=').next().unwrap_or(given);
                Err(Failure::usage(format!("failed to give `{name}` to the agent: it is kept from agents here"))
                    .with_hint("what is posted and pushed is checked first, and an agent with a token could do both alone"))
            }
        }
    }

    /// Keeps it from agents, logs and errors.
    pub(super) fn hidden(&self, options: RunOptions) -> RunOptions {
        let options = self.variables.iter().fold(options, |options, name| options.env(name, ""));
        options.secret(self.value())
    }
}

fn read(name: &str) -> Result<Option<String>, Failure> {
    let value = variable(name).filter(|value| !value.is_empty());
    value.map(|value| value.into_string().map_err(|_| failed(name, "its value is not UTF-8"))).transpose()
}

fn failed(name: &str, why: &str) -> Failure {
    Failure::usage(format!("failed to read the token in `{name}`: {why}"))
}
