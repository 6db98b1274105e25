//! Cursor: its program `agent` in print mode.
//!
//! [`Cursor`] is what users configure; `args` words the command line, `wire` and `decode` read the output, and `failure`
//! tells failures apart. All of it follows the program's documentation: it cannot be run without an account.

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

pub(crate) use self::decode::CursorDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "cursor";

/// What the program can do. It can resume chats, but nothing says that its sessions are named as its chats are.
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities::none().with_interactive().with_tokens(Metering::AtTheEnd);

/// Runs Cursor's command-line agent, `agent`; older installations call it `cursor-agent`.
///
/// ```
/// use sandcastle_agents::Cursor;
///
/// let agent = Cursor::new("composer-1").env("CURSOR_API_KEY", "a key of your own");
/// ```
///
/// It works without asking for permissions. Its prompt goes by the command line: whoever can list the processes of the
/// machine can read it, and one that is too long for an argument is refused before anything is started.
#[derive(Clone, Debug)]
pub struct Cursor {
    program: OsString,
    model: Option<String>,
    args: Vec<OsString>,
    env: Variables,
}

impl Cursor {
    /// Uses `model`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("agent"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    program_setters!("agent", arguments: "behind all other options");
}

impl Agent for Cursor {
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
        Box::new(CursorDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_stderr(stderr)
    }
}
