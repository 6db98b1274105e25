//! Claude Code: the program `claude` in its print mode.
//!
//! [`ClaudeCode`] is what users configure; `args` words the command line, `wire` and `decode` read the output, and
//! `session` finds the session files.

mod args;
mod decode;
mod failure;
mod session;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;

use sandcastle_core::agent::{
    Agent, AgentCommand, AgentRequest, Capabilities, Confirmation, Decoder, Metering, NativeOutput,
    SchemaDelivery, SessionPlace,
};
use sandcastle_core::event::FailureKind;
use sandcastle_core::output::lower::Dialect;
use sandcastle_core::secret::Variables;
use sandcastle_core::session::SessionTransfer;
use sandcastle_core::{Result, SessionId, Support};

use crate::effort::Effort;
use crate::native::{self, Service};
use crate::program_setters::program_setters;

pub(crate) use self::decode::ClaudeDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "claude-code";

/// What the program can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities::none()
    .with_resume()
    .with_fork()
    .with_interactive()
    .with_tokens(Metering::AtTheEnd)
    .with_cost(Metering::AtTheEnd);

/// Runs Claude Code.
///
/// ```
/// use sandcastle_agents::{ClaudeCode, Effort};
///
/// let agent = ClaudeCode::new("opus").effort(Effort::High).max_turns(40);
/// ```
///
/// Unless told otherwise it works without asking for permissions. As `root` the program refuses to do so, except with
/// the variable `IS_SANDBOX=1`, by which you say that it runs in a sandbox; set it with [`ClaudeCode::env`].
#[derive(Clone, Debug)]
pub struct ClaudeCode {
    program: OsString,
    model: Option<String>,
    effort: Option<Effort>,
    permissions: PermissionMode,
    max_turns: Option<u32>,
    /// What the user says of its structured output.
    native: Option<Support>,
    args: Vec<OsString>,
    env: Variables,
}

/// Says what Claude Code may do without asking. Where it would have to ask, an unattended run refuses the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionMode {
    /// Everything; the sandbox is what holds it.
    #[default]
    Bypass,
    /// What the user's own settings allow.
    Default,
    /// Edits of files in the working folder.
    AcceptEdits,
    /// Nothing that changes anything.
    Plan,
    /// What a classifier of the program holds harmless.
    Auto,
    /// What the user's own settings allow; all else is refused rather than asked for.
    DontAsk,
}

impl ClaudeCode {
    /// Uses `model`, a full name or an alias such as `opus`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("claude"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            effort: None,
            permissions: PermissionMode::default(),
            max_turns: None,
            native: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Sets how hard the model thinks. Models that cannot be told so ignore it.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets what it may do without asking.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permissions = mode;
        self
    }

    /// Says what is known of its structured output with this model, in the place of what this crate knows. A model or a
    /// service of your own is unknown unless you say so. Whatever is said, a `--json-schema` among its arguments leaves no room for
    /// that of a run: `Native` is refused then, and `Auto` uses words.
    #[must_use]
    pub fn native_output(mut self, support: Support) -> Self {
        self.native = Some(support);
        self
    }

    /// Ends a run as failed that needs more than this many model requests. Unlimited by default.
    ///
    /// With structured output of its own, giving the value is one of them, and so is being reminded of it: with 1, a model that
    /// answers in words first fails the run.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    program_setters!("claude", arguments: "behind all others");
}

impl Agent for ClaudeCode {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn native_output(&self) -> Option<NativeOutput> {
        let native = NativeOutput::new(Dialect::ClaudeCode, SchemaDelivery::Argument)
            .with_confirmation(Confirmation::Event);
        let is_elsewhere = self.env.iter().any(|(key, _)| key == "ANTHROPIC_BASE_URL");
        let service = if is_elsewhere { Service::Other } else { Service::Own };
        let known = || native::CLAUDE_CODE.support(self.model.as_deref(), service);
        let taken = native::taken_by(args::SCHEMA, &self.args);
        let support = taken.or_else(|| self.native.clone()).unwrap_or_else(known);
        Some(native::CLAUDE_CODE.complete(native, AgentCommand::new(&self.program), support))
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand> {
        Ok(args::unattended(self, request))
    }

    fn interactive_command(&self, request: &AgentRequest<'_>) -> Result<Option<AgentCommand>> {
        args::interactive(self, request).map(Some)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder::default())
    }

    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        failure::of_start(stderr)
    }

    fn session_folder(&self, place: &SessionPlace<'_>) -> Option<PathBuf> {
        Some(session::LAYOUT.sessions(place))
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
