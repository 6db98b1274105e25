//! pi: the program `pi` in its print mode, with events as JSON lines.
//!
//! [`Pi`] is what users configure; `args` words the command line, `wire` and `decode` read the output, `failure`
//! tells failures apart, and `session` finds the session files and moves them.

mod args;
mod decode;
mod failure;
mod session;
mod wire;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use sandcastle_core::agent::{
    Agent, AgentCommand, AgentRequest, Capabilities, Decoder, Metering, SessionPlace,
};
use sandcastle_core::event::FailureKind;
use sandcastle_core::secret::Variables;
use sandcastle_core::session::SessionTransfer;
use sandcastle_core::{Result, SessionId};

use crate::program_setters::program_setters;

pub(crate) use self::decode::PiDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "pi";

/// What the program can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities::none()
    .with_resume()
    .with_fork()
    .with_interactive()
    .with_tokens(Metering::Running)
    .with_cost(Metering::Running);

/// Runs pi.
///
/// ```
/// use sandcastle_agents::{Pi, ThinkingLevel};
///
/// let agent = Pi::new("claude-opus-4-8").provider("anthropic").thinking(ThinkingLevel::High);
/// ```
///
/// The program knows no permissions: the sandbox of the run is what holds it. It writes a session down only once the
/// model has answered, so a turn that is ended before leaves nothing to go on with.
#[derive(Clone, Debug)]
pub struct Pi {
    program: OsString,
    model: Option<String>,
    provider: Option<String>,
    thinking: Option<ThinkingLevel>,
    args: Vec<OsString>,
    env: Variables,
}

/// Says how much pi lets a model think. Models that cannot be told so get the nearest that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// Next to nothing.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
}

impl ThinkingLevel {
    /// Returns the program's name for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

impl fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Pi {
    /// Uses `model`, which may name its provider as `provider/model`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("pi"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            provider: None,
            thinking: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Sets whose model it is, such as `anthropic` or one of the user's own `models.json`.
    #[must_use]
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Sets how much the model thinks.
    #[must_use]
    pub fn thinking(mut self, level: ThinkingLevel) -> Self {
        self.thinking = Some(level);
        self
    }

    program_setters!("pi", arguments: "behind all others");
}

impl Agent for Pi {
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
        Box::new(PiDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_start(stderr)
    }

    fn session_folder(&self, place: &SessionPlace<'_>) -> Option<PathBuf> {
        Some(session::folder(place))
    }

    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        session::find(session, place)
    }

    fn transfer_session(
        &self,
        session: &SessionId,
        from: &SessionPlace<'_>,
        to: &SessionPlace<'_>,
    ) -> Result<Option<SessionTransfer>> {
        session::transfer(session, from, to)
    }
}
