//! Gemini CLI: the program `gemini` in its headless mode.
//!
//! [`Gemini`] is what users configure; `args` words the command line, `wire` and `decode` read the output, `failure`
//! tells failures apart, and `session` finds the session files.

mod args;
mod decode;
mod failure;
mod session;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;

use sandcastle_core::agent::{
    Agent, AgentCommand, AgentRequest, Capabilities, Decoder, Metering, SessionPlace,
};
use sandcastle_core::event::FailureKind;
use sandcastle_core::secret::Variables;
use sandcastle_core::{Result, SessionId};

use crate::program_setters::program_setters;

pub(crate) use self::decode::GeminiDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "gemini";

/// What the program can do. It can copy a session too, but only one that is named by its file.
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities::none().with_resume().with_interactive().with_tokens(Metering::AtTheEnd);

/// Runs Gemini CLI.
///
/// ```
/// use sandcastle_agents::Gemini;
///
/// let agent = Gemini::new("gemini-2.5-pro").env("GEMINI_API_KEY", "a key of your own");
/// ```
///
/// Unless told otherwise it works without asking, in the folder of the run as in one that you trust: the program
/// refuses to work unattended in a folder that it is not told to trust, and reads the settings that lie in it. How it
/// logs in is a setting of its own (`security.auth.selectedType` in `~/.gemini/settings.json`).
///
/// It reports statistics of its use to its makers unless its setting `privacy.usageStatisticsEnabled` is false. It puts the
/// file of that name into the prompt where the prompt says `@path`.
#[derive(Clone, Debug)]
pub struct Gemini {
    program: OsString,
    model: Option<String>,
    approval: Option<ApprovalMode>,
    args: Vec<OsString>,
    env: Variables,
}

/// Says what Gemini CLI may do without asking. What it would have to ask for, an unattended run does not offer to the
/// model at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// Everything; the sandbox is what holds it.
    Yolo,
    /// What the user's own settings allow.
    Default,
    /// Edits of files.
    AutoEdit,
    /// Nothing that changes anything.
    Plan,
}

impl Gemini {
    /// Uses `model`. An empty name leaves the choice to the program, which asks a small model for it first.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("gemini"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            approval: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Sets what it may do without asking: everything by default, or, where a person is at the terminal, what the
    /// user's own settings say.
    #[must_use]
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.approval = Some(mode);
        self
    }

    program_setters!("gemini", arguments: "behind all others");
}

impl Agent for Gemini {
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
        Box::new(GeminiDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_start(stderr)
    }

    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        session::find(session, place)
    }
}
