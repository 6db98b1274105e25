//! What the engine needs to know of an agent program.
//!
//! An [`Agent`] says how its program is started and how its output is read. It starts nothing itself.

mod native;
mod request;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use self::native::version_in;
pub use self::native::{
    AnswerPlace, Confirmation, NativeOutput, RequestSchema, SchemaDelivery, VersionCheck,
};
pub use self::request::AgentRequest;
use crate::error::Result;
use crate::event::{AgentEvent, FailureKind};
use crate::id::SessionId;
use crate::secret::Variables;
use crate::session::SessionTransfer;
pub use crate::work::TurnMode;
use crate::work::Usage;

/// Describes a coding agent: a program that works in a folder and prints what it does.
///
/// Implement it to run an agent that is not built in; the page `guide::custom_agent` of the facade is a complete example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a coding agent",
    note = "a coding agent implements `Agent`; a model without an agent is asked by `ModelRun::new`"
)]
pub trait Agent: Send + Sync + fmt::Debug + 'static {
    /// Returns the name that options, messages and logs use, in kebab case.
    fn name(&self) -> &str;

    /// Returns the model it is told to use, if it is told one.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns what the program can do.
    fn capabilities(&self) -> Capabilities;

    /// Returns how the program itself holds an answer to a schema, or `None` if it cannot.
    fn native_output(&self) -> Option<NativeOutput> {
        None
    }

    /// Returns the variables that were set for it by whoever made it.
    ///
    /// They are over those of the sandbox and of `.sandcastle/.env`, and under those of the run. A variable that the sandbox
    /// sets too is an error before anything is started.
    fn env(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    /// Returns the command line of one unattended turn.
    ///
    /// # Errors
    /// When the request cannot be put to this program, for example because the prompt is too long for it.
    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand>;

    /// Returns the command line of the program's own terminal interface, or `None` if it has none.
    ///
    /// # Errors
    /// As for [`Agent::command`].
    fn interactive_command(&self, request: &AgentRequest<'_>) -> Result<Option<AgentCommand>> {
        let _ = request;
        Ok(None)
    }

    /// Returns a reader for the output of one process.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Returns what the end of the error output says of a failure that the events do not tell.
    fn stderr_failure(&self, stderr: &str) -> Option<FailureKind> {
        let _ = stderr;
        None
    }

    /// Returns the folder below which it keeps its sessions as files, whether it is there or not, or `None` if it keeps
    /// none.
    ///
    /// An agent that names one is not started to go on with a session that has no file there.
    fn session_folder(&self, place: &SessionPlace<'_>) -> Option<PathBuf> {
        let _ = place;
        None
    }

    /// Returns the agent's own file of a session, if it keeps one and it is there.
    fn session_file(&self, session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
        let _ = (session, place);
        None
    }

    /// Returns what a session had used by the last line of its file, for agents that count over whole sessions.
    fn session_usage(&self, session_file: &Path) -> Option<Usage> {
        let _ = session_file;
        None
    }

    /// Brings a session from one place to where the program looks for it in another, or returns `None` if `from` does
    /// not have it. Without an implementation, no session is ever brought anywhere.
    ///
    /// The places may be one home and two folders. Whatever names the old folder as the session's own is respelled; a
    /// session that is in the other place already is never overwritten with less. The files are an agent's, so nothing
    /// in them and no link among them is trusted. This reads and writes files, and blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the session is there and cannot be brought.
    fn transfer_session(
        &self,
        session: &SessionId,
        from: &SessionPlace<'_>,
        to: &SessionPlace<'_>,
    ) -> Result<Option<SessionTransfer>> {
        let _ = (session, from, to);
        Ok(None)
    }
}

/// Says what an agent program can do. Nothing is assumed: what is not declared is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// It can continue a session by id.
    pub resume: bool,
    /// It can copy a session by id and go on in the copy.
    pub fork: bool,
    /// It has an interface for a person at a terminal.
    pub interactive: bool,
    /// When it tells how many tokens it has used.
    pub tokens: Metering,
    /// When it tells what that costs.
    pub cost: Metering,
}

/// Tells when an agent says what it has used, and so how closely it can be held to a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metering {
    /// Never: it cannot be held to a budget.
    #[default]
    Absent,
    /// When a process of it ends: no further one is started once the budget is spent.
    AtTheEnd,
    /// While it works: it is ended once the budget is spent.
    Running,
}

impl Capabilities {
    /// Declares nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            resume: false,
            fork: false,
            interactive: false,
            tokens: Metering::Absent,
            cost: Metering::Absent,
        }
    }

    /// Declares that sessions can be resumed by id.
    #[must_use]
    pub const fn with_resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// Declares that sessions can be forked by id.
    #[must_use]
    pub const fn with_fork(mut self) -> Self {
        self.fork = true;
        self
    }

    /// Declares a terminal interface.
    #[must_use]
    pub const fn with_interactive(mut self) -> Self {
        self.interactive = true;
        self
    }

    /// Declares when it tells how many tokens it has used.
    #[must_use]
    pub const fn with_tokens(mut self, metering: Metering) -> Self {
        self.tokens = metering;
        self
    }

    /// Declares when it tells what it costs.
    #[must_use]
    pub const fn with_cost(mut self, metering: Metering) -> Self {
        self.cost = metering;
        self
    }
}

/// The command line of an agent: an argument vector, never a shell string.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentCommand {
    /// The program, looked up on the sandbox's `PATH` if it has no slash.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that the program needs besides those of the sandbox and the run.
    pub env: Vec<(OsString, OsString)>,
    /// What is written to its standard input, which is then closed. Without it the input is empty.
    pub stdin: Vec<u8>,
    /// How to ask it to stop.
    pub stop: StopRequest,
}

impl AgentCommand {
    /// Starts a command line with its program.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: Vec::new(),
            stop: StopRequest::default(),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Sets what is written to the standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets how the program is asked to stop.
    #[must_use]
    pub fn stop(mut self, stop: StopRequest) -> Self {
        self.stop = stop;
        self
    }
}

impl fmt::Debug for AgentCommand {
    /// Shows the names of variables and never their values, and how long the input is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, args, env, stdin, stop } = self;
        f.debug_struct("AgentCommand")
            .field("program", program)
            .field("args", args)
            .field("env", &Variables::names(env))
            .field("stdin", &format_args!("{} bytes", stdin.len()))
            .field("stop", stop)
            .finish()
    }
}

/// Says how a program is asked to stop before it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopRequest {
    /// The signal that it answers by ending its tools and itself.
    pub signal: StopSignal,
    /// How long it gets before it is killed; 2 seconds by default.
    pub grace: Duration,
}

impl StopRequest {
    /// Asks with `SIGINT`.
    #[must_use]
    pub const fn interrupt() -> Self {
        Self { signal: StopSignal::Interrupt, grace: Duration::from_secs(2) }
    }

    /// Asks with `SIGTERM`.
    #[must_use]
    pub const fn terminate() -> Self {
        Self { signal: StopSignal::Terminate, grace: Duration::from_secs(2) }
    }
}

impl Default for StopRequest {
    fn default() -> Self {
        Self::terminate()
    }
}

/// The signals that ask a program to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopSignal {
    /// `SIGTERM`.
    Terminate,
    /// `SIGINT`.
    Interrupt,
}

/// Says where an agent's session files are, as seen from this host.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SessionPlace<'a> {
    /// The home folder that the agent had.
    pub home: &'a Path,
    /// The folder that it worked in.
    pub cwd: &'a Path,
    /// The variables that were set for it.
    pub env: &'a [(OsString, OsString)],
}

impl<'a> SessionPlace<'a> {
    /// Names a place.
    #[must_use]
    pub fn new(home: &'a Path, cwd: &'a Path, env: &'a [(OsString, OsString)]) -> Self {
        Self { home, cwd, env }
    }
}

impl fmt::Debug for SessionPlace<'_> {
    /// Shows the names of variables and never their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { home, cwd, env } = self;
        f.debug_struct("SessionPlace")
            .field("home", home)
            .field("cwd", cwd)
            .field("env", &Variables::names(env))
            .finish()
    }
}

/// Reads the output of one agent process, line by line.
///
/// A decoder never fails: what it does not know becomes [`AgentEvent::Unknown`]. It keeps no more than it needs to
/// tell the main agent's text from everything else.
pub trait Decoder: Send {
    /// Reads one line of standard output, without its line feed, and appends what it says to `events`.
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>);

    /// Reads the end of the output. Called once, after the last line.
    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        let _ = events;
    }
}
