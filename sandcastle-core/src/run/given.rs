//! What options say so far, for whoever takes them half filled in and sets the rest; and a prompt template that is no file.
//!
//! A workflow of pull requests is told the agent and the sandbox, and sets the prompt and the branch itself. It looks here at
//! what was said already, so that nothing is set twice in silence. Nothing is checked here beside that.

use std::path::Path;
use std::sync::Arc;

use super::options::RunOptions;
use crate::agent::Agent;
use crate::cancellation::Cancellation;
use crate::prompt::PromptSource;
use crate::sandbox::SandboxProvider;

/// Shows what [`RunOptions`] say so far.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Given<'a> {
    /// The agent.
    pub agent: &'a Arc<dyn Agent>,
    /// Where it is to run.
    pub sandbox: &'a Arc<dyn SandboxProvider>,
    /// The folder, if one was named.
    pub cwd: Option<&'a Path>,
    /// The name, if one was given.
    pub name: Option<&'a str>,
    /// What ends the run.
    pub cancel: &'a Cancellation,
    /// The names of the prompt arguments.
    pub prompt_args: Vec<&'a str>,
    /// The names of those options that say what is asked for and on which branch, as far as they were set: `prompt` (or a file,
    /// or a template), `branch_strategy`, `resume_session`, `fork_session`.
    pub settled: Vec<&'static str>,
}

impl<O> RunOptions<O> {
    /// Returns what was said so far.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// # use sandcastle::{Agent, SandboxProvider};
    /// # fn example(agent: impl Agent, sandbox: impl SandboxProvider) {
    /// use sandcastle::RunOptions;
    ///
    /// let options = RunOptions::new(agent, sandbox).prompt("Fix the failing test.");
    /// assert_eq!(options.given().settled, ["prompt"]);
    /// # }
    /// ```
    #[must_use]
    pub fn given(&self) -> Given<'_> {
        let settings = &self.settings;
        let settled = [
            ("prompt", !settings.prompts.is_empty()),
            ("branch_strategy", settings.site.strategy.is_some()),
            ("resume_session", settings.resume.is_some()),
            ("fork_session", settings.fork.is_some()),
        ];
        Given {
            agent: &settings.agent,
            sandbox: &settings.sandbox,
            cwd: settings.site.cwd.as_deref(),
            name: settings.site.name.as_deref(),
            cancel: &settings.cancel,
            prompt_args: settings.prompt_args.iter().map(|(key, _)| key.as_str()).collect(),
            settled: settled.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect(),
        }
    }

    /// Sets a template that is in this program and not in a file; otherwise as [`prompt_file`](Self::prompt_file). `name` stands
    /// for the file in messages.
    pub fn prompt_template(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.settings.prompts.push(PromptSource::Template { name: name.into(), text: text.into() });
        self
    }
}
