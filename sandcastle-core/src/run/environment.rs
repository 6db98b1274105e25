//! The variables that an agent gets, merged from everybody who may set some, and the secrets among them.
//!
//! From the least to the most: `.sandcastle/.env`, the sandbox, the agent, the call. A variable that both the sandbox and the
//! agent set is refused: whichever won, the other would not get what it was made with. What a sandbox lets its programs
//! inherit lies below all of it and is not part of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::agent::Agent;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Identity;
use crate::sandbox::SandboxProvider;
use crate::secret::{Secrets, Variables};

/// Who sets variables, from the least to the most.
#[derive(Clone, Copy, Default)]
pub(super) struct Layers<'a> {
    /// `.sandcastle/.env`, with the values of the host.
    pub(super) file: &'a [(OsString, OsString)],
    /// The sandbox.
    pub(super) sandbox: &'a [(OsString, OsString)],
    /// The agent.
    pub(super) agent: &'a [(OsString, OsString)],
    /// The options of the run.
    pub(super) call: &'a [(OsString, OsString)],
}

/// The variables that an agent gets, each once; `Debug` shows names only.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    variables: Variables,
    inherited: Variables,
    /// What also the programs get that are run on this host.
    mark: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Merges what there is: the file of the repository, the sandbox, the agent and the call. A place that is made for
    /// several runs has no agent yet.
    ///
    /// # Errors
    /// As [`Environment::merge`]; also when the file cannot be read.
    pub(super) fn of(
        config: &ConfigDir,
        sandbox: Option<&dyn SandboxProvider>,
        agent: Option<&dyn Agent>,
        call: &[(OsString, OsString)],
    ) -> Result<Self> {
        let file = config.env_file()?.resolve(host_variable);
        let inherited = sandbox.map(SandboxProvider::inherited_env).unwrap_or_default();
        let sandbox = sandbox.map(SandboxProvider::env).unwrap_or_default();
        let agent = agent.map(Agent::env).unwrap_or_default();
        let merged = Self::merge(Layers { file: &file, sandbox: &sandbox, agent: &agent, call })?;
        Ok(Self { inherited: inherited.into_iter().collect(), ..merged })
    }

    /// Merges the layers.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] with every name that is none, and with every variable that both the sandbox and the agent
    /// set.
    pub(super) fn merge(layers: Layers<'_>) -> Result<Self> {
        let in_order = [layers.file, layers.sandbox, layers.agent, layers.call];
        check_names(in_order.into_iter().flatten())?;
        check_overlap(layers.sandbox, layers.agent)?;
        let merged: BTreeMap<OsString, OsString> = in_order.into_iter().flatten().cloned().collect();
        Ok(Self { variables: merged.into_iter().collect(), ..Self::default() })
    }

    /// Tells whether programs inside can learn by themselves who makes their commits: they have the home folder of this
    /// process, or are told.
    pub(super) fn knows_the_author(&self) -> bool {
        let has = |variables: &Variables, name: &str| variables.iter().any(|(key, _)| key == name);
        has(&self.variables, "GIT_AUTHOR_NAME")
            || has(&self.inherited, "HOME") && !has(&self.variables, "HOME")
    }

    /// Says who makes the commits.
    pub(super) fn identify(&mut self, author: &Identity) {
        let known = author.variables().map(|(key, value)| (OsString::from(key), OsString::from(value)));
        let all: BTreeMap<_, _> = known.into_iter().chain(self.variables.iter().cloned()).collect();
        self.variables = all.into_iter().collect();
    }

    /// Adds the variable by which everything that a run starts is found again.
    pub(super) fn mark(&mut self, mark: (OsString, OsString)) {
        self.variables = self.variables.iter().cloned().chain([mark.clone()]).collect();
        self.mark.push(mark);
    }

    /// Returns what is set for programs that are run on this host, beside what they inherit.
    pub(super) fn on_host(&self) -> &[(OsString, OsString)] {
        &self.mark
    }

    /// Returns the variables, sorted by name.
    pub(super) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns the secrets: declared ones, and those that are among the variables that programs inside see.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub(super) fn secrets(&self, declared: &[String]) -> Result<Secrets> {
        let visible = self.inherited.iter().chain(self.variables.iter());
        Secrets::of(declared, visible.map(|(key, value)| (key, value)))
    }
}

/// Returns a variable of this process that `.sandcastle/.env` names without a value.
///
/// Libraries do not read the environment; here a person asks for it, name by name, and nothing else is looked at. Without it
/// every program that runs agents in containers would write the same line to pass a key on.
#[expect(clippy::disallowed_methods, reason = "the file asks for this variable by its name")]
fn host_variable(key: &OsStr) -> Option<OsString> {
    std::env::var_os(key)
}

fn check_names<'a>(variables: impl Iterator<Item = &'a (OsString, OsString)>) -> Result<()> {
    let is_none = |key: &OsStr| key.is_empty() || key.as_bytes().iter().any(|byte| matches!(byte, b'=' | 0));
    let mut wrong: Vec<String> = variables
        .filter(|(key, value)| is_none(key) || value.as_bytes().contains(&0))
        .map(|(key, _)| format!("`{:.60}`", key.to_string_lossy().escape_debug().to_string()))
        .collect();
    wrong.dedup();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidOptions, format!("set the variable {}", wrong.join(", ")))
        .with_hint("a name has at least one character and no `=`; neither it nor its value has a NUL byte"))
}

fn check_overlap(sandbox: &[(OsString, OsString)], agent: &[(OsString, OsString)]) -> Result<()> {
    let mut both: Vec<String> = sandbox
        .iter()
        .filter(|(key, _)| agent.iter().any(|(other, _)| other == key))
        .map(|(key, _)| format!("`{}`", key.to_string_lossy()))
        .collect();
    both.sort_unstable();
    both.dedup();
    if both.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidOptions,
        format!("set {} for the sandbox and for the agent at once", both.join(", ")),
    )
    .with_hint("set it in one of the two places; `RunOptions::env` is over both"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::NoSandbox;

    fn set(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        variables.iter().map(|(key, value)| (key.into(), value.into())).collect()
    }

    #[test]
    fn the_call_is_over_the_agent_over_the_sandbox_over_the_file() {
        let file = set(&[("A", "file"), ("B", "file"), ("C", "file"), ("D", "file")]);
        let (sandbox, agent) = (set(&[("B", "sandbox"), ("E", "sandbox")]), set(&[("C", "agent")]));
        let call = set(&[("D", "call"), ("D", "call again")]);
        let layers = Layers { file: &file, sandbox: &sandbox, agent: &agent, call: &call };
        let merged = Environment::merge(layers).unwrap();
        let expected =
            [("A", "file"), ("B", "sandbox"), ("C", "agent"), ("D", "call again"), ("E", "sandbox")];
        assert_eq!(merged.variables(), set(&expected));
    }

    #[test]
    fn what_both_the_sandbox_and_the_agent_set_is_refused_by_name() {
        let sandbox = set(&[("TOKEN", "s3cret"), ("X", "1"), ("KEY", "s3cret")]);
        let agent = set(&[("KEY", "0ther"), ("TOKEN", "s3cret"), ("Y", "1")]);
        let error =
            Environment::merge(Layers { sandbox: &sandbox, agent: &agent, ..Layers::default() }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        let shown = format!("{error:#}");
        assert!(shown.contains("`KEY`, `TOKEN`"), "{shown}");
        assert!(!shown.contains("s3cret") && !shown.contains("0ther") && !shown.contains("`X`"), "{shown}");
    }

    #[test]
    fn names_that_are_none_are_refused_together() {
        let call =
            set(&[("", "s3cret"), ("A=B", "s3cret"), ("N\0", "s3cret"), ("V", "s3\0cret"), ("OK", "=")]);
        let error = Environment::merge(Layers { call: &call, ..Layers::default() }).unwrap_err();
        let shown = format!("{error:#}");
        assert!(shown.contains("``, `A=B`, `N\\0`, `V`"), "{shown}");
        assert!(!shown.contains("cret") && !shown.contains("OK"), "{shown}");
    }

    #[test]
    fn w_23_debug_shows_names_and_the_secrets_are_known() {
        let call = set(&[("API_TOKEN", "s3cret")]);
        let environment = Environment::merge(Layers { call: &call, ..Layers::default() }).unwrap();
        assert!(!format!("{environment:?}").contains("s3cret"));
        let secrets = environment.secrets(&["declared".to_owned()]).unwrap();
        assert_eq!(secrets.mask("s3cret and declared"), "*** and ***");
    }

    #[test]
    fn a_sandbox_says_what_was_set_for_it() {
        let sandbox = NoSandbox::new().clear_env().env("API_KEY", "s3cret");
        assert_eq!(SandboxProvider::env(&sandbox), set(&[("API_KEY", "s3cret")]));
        assert_eq!(sandbox.inherited_env(), []);
        assert!(!NoSandbox::new().inherited_env().is_empty());
        assert!(!format!("{sandbox:?}").contains("s3cret"));
    }
}
