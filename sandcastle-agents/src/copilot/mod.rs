//! GitHub Copilot CLI: the program `copilot` in its prompt mode.
//!
//! [`Copilot`] is what users configure; `args` words the command line, `wire` and `decode` read the output, `failure`
//! tells failures apart, and `session` finds the session files.

mod args;
mod decode;
mod failure;
mod session;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;

use sandcastle_core::agent::{Agent, AgentCommand, AgentRequest, Capabilities, Decoder, SessionPlace};
use sandcastle_core::event::FailureKind;
use sandcastle_core::secret::Variables;
use sandcastle_core::{Result, SessionId};

use crate::effort::Effort;
use crate::program_setters::program_setters;

pub(crate) use self::decode::CopilotDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "copilot";

/// What the program can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities::none().with_resume().with_interactive();

/// Runs GitHub Copilot CLI.
///
/// ```
/// use sandcastle_agents::{Copilot, Effort};
///
/// let agent = Copilot::new("gpt-5.4").effort(Effort::High).env("COPILOT_GITHUB_TOKEN", "a token of your own");
/// ```
///
/// It works without asking for permission to use its tools, and asks the user nothing. The program counts no tokens in
/// its output, so the usage of its runs is zero. It names its session only when it ends.
#[derive(Clone, Debug)]
pub struct Copilot {
    program: OsString,
    model: Option<String>,
    effort: Option<Effort>,
    args: Vec<OsString>,
    env: Variables,
}

impl Copilot {
    /// Uses `model`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("copilot"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            effort: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Sets how hard the model thinks.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    program_setters!("copilot", arguments: "behind all others");
}

impl Agent for Copilot {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand> {
        args::unattended(self, request)
    }

    fn interactive_command(&self, request: &AgentRequest<'_>) -> Result<Option<AgentCommand>> {
        args::interactive(self, request).map(Some)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(CopilotDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_start(stderr)
    }

    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        session::find(session, place)
    }
}
