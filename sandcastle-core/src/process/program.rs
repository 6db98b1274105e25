//! What to start: a program, its arguments, its environment and its input.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use crate::secret::Variables;

/// Describes a program to start; never a shell string.
#[derive(Clone)]
#[non_exhaustive]
pub struct Program {
    /// The program, looked up on `PATH` if it has no slash.
    pub name: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs; the caller's own folder if absent.
    pub cwd: Option<PathBuf>,
    /// Variables set for it on top of what it inherits, the last one of a name counts.
    pub env: Vec<(OsString, OsString)>,
    /// Variables taken away from what it inherits.
    pub removed_env: Vec<OsString>,
    /// Whether it inherits the environment of this process.
    pub inherit: Inherit,
    /// What it reads on its standard input, which is closed behind it.
    pub stdin: Vec<u8>,
    /// A file that it reads behind that, from where the file stands.
    pub stdin_file: Option<Arc<File>>,
    /// Where its standard streams go.
    pub streams: Streams,
    /// Who is told to stop.
    pub(crate) told: Told,
}

/// Says whose end is meant: who gets the signal that asks a program to stop, and whose death is told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Told {
    /// The program, and its process group.
    #[default]
    Program,
    /// The process that it started, and that one's group: for a program that is only the boundary of another, and whose
    /// own death would be that one's at once.
    Guest,
}

/// What is added to the number of a signal when a program tells by its exit that another was killed.
const KILLED: i32 = 128;
/// The signals that kill by themselves are numbered up to here.
const LAST_SIGNAL: i32 = 31;

impl Told {
    /// Says how it ended: a guest that was killed is told of by a number, as a shell tells of its children.
    pub(crate) fn exit(self, exit: ExitStatus) -> ExitStatus {
        let signal =
            exit.code().map(|code| code - KILLED).filter(|signal| (1..=LAST_SIGNAL).contains(signal));
        match (self, signal) {
            (Self::Guest, Some(signal)) => ExitStatus::from_raw(signal),
            _ => exit,
        }
    }
}

/// Says whether a program sees the environment of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherit {
    /// It does.
    All,
    /// It sees only what is set for it.
    Nothing,
}

/// Says where the standard streams of a program go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Streams {
    /// Through pipes to the caller.
    #[default]
    Piped,
    /// To the terminal of this process; the program also stays in its process group, so that it may read from it.
    Terminal,
}

impl Program {
    /// Describes a program without arguments.
    #[must_use]
    pub fn new(name: impl Into<OsString>) -> Self {
        Self {
            name: name.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            removed_env: Vec::new(),
            inherit: Inherit::All,
            stdin: Vec::new(),
            stdin_file: None,
            streams: Streams::Piped,
            told: Told::Program,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    /// Sets the folder it runs in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = Some(cwd.as_ref().to_path_buf());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, key: impl Into<OsString>) -> Self {
        self.removed_env.push(key.into());
        self
    }

    /// Sets what it reads on its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets a file that it reads on its standard input, behind the bytes.
    #[must_use]
    pub fn stdin_file(mut self, file: File) -> Self {
        self.stdin_file = Some(Arc::new(file));
        self
    }

    /// Sets where its standard streams go.
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }
}

impl fmt::Debug for Program {
    /// Shows the names of variables and never their values, and how long the input is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, args, cwd, env, removed_env, inherit, stdin, stdin_file, streams, told } = self;
        f.debug_struct("Program")
            .field("name", name)
            .field("args", args)
            .field("cwd", cwd)
            .field("env", &Variables::names(env))
            .field("removed_env", removed_env)
            .field("inherit", inherit)
            .field("stdin", &format_args!("{} bytes", stdin.len()))
            .field("stdin_file", stdin_file)
            .field("streams", streams)
            .field("told", told)
            .finish()
    }
}
