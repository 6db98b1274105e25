//! OpenCode: the program `opencode` in its `run` mode, with events as JSON lines.
//!
//! [`OpenCode`] is what users configure; `args` words the command line, `wire` and `decode` read the output, and
//! `failure` tells failures apart. Its sessions are rows of a database, so there is no session file.

mod args;
mod decode;
mod failure;
mod wire;

use std::ffi::OsString;

use sandcastle_core::Result;
use sandcastle_core::agent::{Agent, AgentCommand, AgentRequest, Capabilities, Decoder, Metering};
use sandcastle_core::event::FailureKind;
use sandcastle_core::secret::Variables;

use crate::program_setters::program_setters;

pub(crate) use self::decode::OpenCodeDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "opencode";

/// What the program can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities::none()
    .with_resume()
    .with_fork()
    .with_interactive()
    .with_tokens(Metering::Running)
    .with_cost(Metering::Running);

/// Runs OpenCode.
///
/// ```
/// use sandcastle_agents::OpenCode;
///
/// let agent = OpenCode::new("anthropic/claude-opus-4-8").variant("high").agent("build");
/// ```
///
/// It works without asking for permissions: the sandbox of the run is what holds it. Three things are its own. It says
/// nothing, not even the name of its session, until the model has begun to answer. It asks a model that is overloaded
/// or out of reach again and again without a word, so it is the idle timeout that ends such a run. And it keeps its
/// sessions in a database below its home folder: they can be resumed where that folder is, but there is no file.
#[derive(Clone, Debug)]
pub struct OpenCode {
    program: OsString,
    model: Option<String>,
    variant: Option<String>,
    agent: Option<String>,
    args: Vec<OsString>,
    env: Variables,
}

impl OpenCode {
    /// Uses `model`, named as `provider/model`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("opencode"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            variant: None,
            agent: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Chooses a variant of the model; most providers have variants by how hard it thinks, such as `high`.
    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = Some(variant.into());
        self
    }

    /// Chooses one of the program's own agents, such as `build` or `plan`.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    program_setters!("opencode", arguments: "behind all others");
}

impl Agent for OpenCode {
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
        Box::new(OpenCodeDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_start(stderr)
    }
}
