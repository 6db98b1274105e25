//! The scripted agent: a real process that plays a script, for tests.
//!
//! [`Scripted`] needs only `sh` and, to commit, `git`, so it runs in every sandbox and needs no account. `script` and
//! `turn` are what it plays, `program` turns that into a shell program, `wire` and `decode` read its output. Its sessions are
//! folders in a state folder, one file for each prompt, so that a test can see what the agent was told.

mod decode;
mod program;
mod script;
mod turn;
mod wire;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::{
    Agent, AgentCommand, AgentRequest, Capabilities, Decoder, Metering, NativeOutput, RequestSchema,
    SchemaDelivery, SessionPlace, StopRequest,
};
use sandcastle_core::output::lower::Dialect;
use sandcastle_core::secret::Variables;
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result, SessionId, Support};

pub(crate) use self::decode::ScriptedDecoder;
pub use self::script::{AfterLast, Script, Sequence};
pub use self::turn::{LeftOutput, Turn};

/// The name in options and logs.
pub(crate) const NAME: &str = "scripted";

/// What it can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities::none()
    .with_resume()
    .with_fork()
    .with_interactive()
    .with_tokens(Metering::Running)
    .with_cost(Metering::Running);

/// Plays a script as a real process.
///
/// ```
/// use sandcastle_agents::Scripted;
/// use sandcastle_agents::scripted::{Script, Turn};
///
/// let script = Script::new()
///     .turn(Turn::new().write_file("greeting.txt", "hello\n").commit("greet").say("<result>oops</result>"))
///     .turn(Turn::new().say("<result>{\"n\":1}</result>"));
/// let agent = Scripted::new(script).state_dir("/tmp/scripted-sessions");
/// ```
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
    /// The file of the script, which takes the place of a model.
    file: Option<String>,
    state_dir: Option<PathBuf>,
    capabilities: Capabilities,
    env: Variables,
}

impl Scripted {
    /// Plays `script`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script, file: None, state_dir: None, capabilities: CAPABILITIES, env: Variables::default() }
    }

    /// Gives the same answer to every prompt.
    #[must_use]
    pub fn answering(text: impl Into<String>) -> Self {
        Self::new(Script::new().turn(Turn::new().say(text)).after(AfterLast::Repeat))
    }

    /// Plays the script in a JSON file (see [`Script::from_json`]).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when the file cannot be read or is no script.
    pub fn from_file(path: &Path) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(Error::new(ErrorKind::InvalidOptions, "play a script that is not named")
                .with_hint("name the file of the script as the model"));
        }
        let json = fs::read_to_string(path).map_err(|error| {
            let message = format!("read the script `{}`: {error}", path.display());
            Error::new(ErrorKind::InvalidOptions, message)
                .with_hint("the model of the agent `scripted` is the path of its script, in JSON")
                .with_source(error)
        })?;
        Ok(Self { file: path.to_str().map(str::to_owned), ..Self::new(Script::from_json(&json)?) })
    }

    /// Keeps sessions in this folder, as seen inside the sandbox; `~/.local/state/sandcastle/scripted` by default.
    #[must_use]
    pub fn state_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(folder.into());
        self
    }

    /// Can no longer resume or fork sessions.
    #[must_use]
    pub fn without_resume(mut self) -> Self {
        self.capabilities.resume = false;
        self.capabilities.fork = false;
        self
    }

    /// Sets a variable for the process.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.set(key, value);
        self
    }

    /// Returns the prompts that a session was given, in order.
    ///
    /// # Errors
    /// When there is no such session in `state_dir` or a prompt cannot be read.
    pub fn prompts(state_dir: &Path, session: &SessionId) -> io::Result<Vec<String>> {
        let folder = state_dir.join(session.as_str());
        let count = fs::read_dir(&folder)?
            .filter(|entry| {
                entry.as_ref().is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"prompt-"))
            })
            .count();
        (1..=count).map(|number| fs::read_to_string(folder.join(format!("prompt-{number}")))).collect()
    }

    /// Returns the schemas that a session was given with its prompts, in order; `None` for a turn without one.
    ///
    /// # Errors
    /// When there is no such session in `state_dir` or a schema cannot be read.
    pub fn schemas(state_dir: &Path, session: &SessionId) -> io::Result<Vec<Option<String>>> {
        let folder = state_dir.join(session.as_str());
        let read = |number| match fs::read_to_string(folder.join(format!("schema-{number}"))) {
            Ok(schema) => Ok(Some(schema)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        (1..=Self::prompts(state_dir, session)?.len()).map(read).collect()
    }

    fn start(&self, mode: Mode, session: &str, origin: &str) -> Result<AgentCommand> {
        if self.script.turns.is_empty() {
            return Err(Error::new(ErrorKind::InvalidOptions, "play a script without turns"));
        }
        if self.script.sequence == Sequence::AcrossSessions && self.state_dir.is_none() {
            return Err(Error::new(
                ErrorKind::InvalidOptions,
                "count turns across sessions without a state folder",
            )
            .with_hint("set one with `state_dir`; the default one is shared by everything on the machine"));
        }
        let mut command = AgentCommand::new("sh")
            .args(program::arguments(&self.script)?)
            .args([mode.as_str(), session, origin])
            .arg(self.state_dir.as_deref().unwrap_or(Path::new("")))
            .stop(StopRequest::terminate());
        command.env.extend(self.env.iter().cloned());
        Ok(command)
    }
}

impl Agent for Scripted {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> Option<&str> {
        self.file.as_deref()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn native_output(&self) -> Option<NativeOutput> {
        let delivery = self.script.native?;
        let dialect = match delivery {
            SchemaDelivery::File => Dialect::Codex,
            _ => Dialect::ClaudeCode,
        };
        Some(NativeOutput::new(dialect, delivery).with_support(Support::Declared))
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand> {
        let fresh = new_id();
        let command = match request.session {
            SessionRequest::Resume(id) => self.start(Mode::Resume, id, ""),
            SessionRequest::Fork(id) => self.start(Mode::Fork, &fresh, id),
            _ => self.start(Mode::Fresh, &fresh, ""),
        };
        let command = match request.schema {
            Some(RequestSchema::Text(schema)) => command?.args(["argument", schema]),
            Some(RequestSchema::File(schema)) => command?.arg("file").arg(schema),
            _ => command?,
        };
        Ok(command.stdin(request.prompt))
    }

    fn interactive_command(&self, request: &AgentRequest<'_>) -> Result<Option<AgentCommand>> {
        let _ = request;
        self.start(Mode::Interactive, &new_id(), "").map(Some)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ScriptedDecoder)
    }

    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        let default = || place.home.join(".local/state/sandcastle/scripted");
        let state = self.state_dir.clone().unwrap_or_else(default);
        let file = state.join(session.as_str()).join("session.jsonl");
        fs::symlink_metadata(&file).ok()?.is_file().then_some(file)
    }
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Fresh,
    Resume,
    Fork,
    Interactive,
}

impl Mode {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Resume => "resume",
            Self::Fork => "fork",
            Self::Interactive => "interactive",
        }
    }
}

fn new_id() -> String {
    format!("scripted-{:016x}", fastrand::u64(..))
}

#[cfg(test)]
mod tests;
