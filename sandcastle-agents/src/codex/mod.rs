//! Codex: the program `codex` in its `exec` mode.
//!
//! [`Codex`] is what users configure; `args` words the command line, `wire` and `decode` read the output, `failure`
//! tells failures apart, and `session` reads the session files.

mod args;
mod decode;
mod failure;
mod session;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::{
    Agent, AgentCommand, AgentRequest, AnswerPlace, Capabilities, Decoder, Metering, NativeOutput,
    SchemaDelivery, SessionPlace,
};
use sandcastle_core::event::FailureKind;
use sandcastle_core::output::lower::Dialect;
use sandcastle_core::secret::Variables;
use sandcastle_core::session::SessionTransfer;
use sandcastle_core::{Result, SessionId, Support, Usage};

use crate::effort::Effort;
use crate::native::{self, Service};
use crate::program_setters::program_setters;

pub(crate) use self::decode::CodexDecoder;

/// The name in options and logs.
pub(crate) const NAME: &str = "codex";

/// What the program can do.
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities::none().with_resume().with_fork().with_interactive().with_tokens(Metering::AtTheEnd);

/// Runs Codex.
///
/// ```
/// use sandcastle_agents::{Codex, Effort};
///
/// let agent = Codex::new("gpt-5.1-codex").effort(Effort::High).config("model_verbosity", "\"low\"");
/// ```
///
/// It works without asking and without a sandbox of its own: the sandbox of the run is what holds it. A session
/// remembers neither model nor effort, so both are given with every turn.
#[derive(Clone, Debug)]
pub struct Codex {
    program: OsString,
    model: Option<String>,
    effort: Option<Effort>,
    config: Vec<(String, String)>,
    /// What the user says of its structured output.
    native: Option<Support>,
    args: Vec<OsString>,
    env: Variables,
}

impl Codex {
    /// Uses `model`. An empty name leaves the choice to the program.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            program: OsString::from("codex"),
            model: Some(model.into()).filter(|model| !model.is_empty()),
            effort: None,
            config: Vec::new(),
            native: None,
            args: Vec::new(),
            env: Variables::default(),
        }
    }

    /// Sets how hard the model thinks. Codex knows no [`Effort::Max`] and gets its highest, [`Effort::XHigh`].
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Overrides a configuration value; `key` may be a dotted path, `value` is written as in TOML.
    #[must_use]
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.push((key.into(), value.into()));
        self
    }

    /// Says what is known of its structured output with this model, in the place of what this crate knows. A model or a
    /// service of your own is unknown unless you say so: the program itself checks nothing, and many services that are like
    /// that of OpenAI answer without a look at the schema. Whatever is said, an `--output-schema` among its arguments leaves no
    /// room for that of a run: `Native` is refused then, and `Auto` uses words.
    #[must_use]
    pub fn native_output(mut self, support: Support) -> Self {
        self.native = Some(support);
        self
    }

    program_setters!("codex", arguments: "behind all other options");

    /// Tells whose service is asked, as far as the options say so.
    fn service(&self) -> Service {
        let is_other = |text: &str| ELSEWHERE.iter().any(|word| text.contains(word));
        let config = self.config.iter().any(|(key, _)| is_other(key));
        let args = self.args.iter().any(|arg| is_other(&arg.to_string_lossy()));
        let env = self.env.iter().any(|(key, _)| key == "OPENAI_BASE_URL");
        if config || args || env { Service::Other } else { Service::Own }
    }
}

/// What is said in options that send requests to another service.
const ELSEWHERE: [&str; 3] = ["model_provider", "openai_base_url", "--oss"];

impl Agent for Codex {
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
        let native =
            NativeOutput::new(Dialect::Codex, SchemaDelivery::File).with_answer(AnswerPlace::LastMessage);
        let known = || native::CODEX.support(self.model.as_deref(), self.service());
        let taken = native::taken_by(args::SCHEMA, &self.args);
        let support = taken.or_else(|| self.native.clone()).unwrap_or_else(known);
        Some(native::CODEX.complete(native, AgentCommand::new(&self.program), support))
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
        Box::new(CodexDecoder::default())
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

    fn session_usage(&self, session_file: &Path) -> Option<Usage> {
        session::usage(session_file)
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
