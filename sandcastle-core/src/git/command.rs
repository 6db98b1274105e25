//! One call of git: its environment, its limits and its errors.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::process::{Program, capture};

/// Variables that would point git at another repository, change what it prints, or make it run something.
pub(crate) const DROPPED_VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_TRACE",
];

/// Settings that outrank the repository's own.
const HARDENED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "log.showSignature=false",
    "core.quotePath=false",
    "i18n.logOutputEncoding=UTF-8",
];

/// The protocols by which a remote may be reached.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// What one call may print.
const OUTPUT_LIMIT: usize = 64 * 1024 * 1024;
/// How long one call may take unless its caller says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Git, aimed at a folder, and at a repository that is named or found from there.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    timeout: Duration,
}

/// Says how a call of git ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    /// Tells whether git ended with 0.
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns the first line of what it printed, if it succeeded and printed one.
    pub(crate) fn line(&self) -> Option<&str> {
        std::str::from_utf8(self.line_bytes()?).ok()
    }

    /// Returns the path that it printed, if it succeeded and printed one; a path may hold anything, line feeds too.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.line_bytes().map(path_from)
    }

    fn line_bytes(&self) -> Option<&[u8]> {
        let line = self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout);
        (self.is_success() && !line.is_empty()).then_some(line)
    }

    /// Turns a bad answer into an error that says what git said.
    pub(crate) fn refused(&self, what: &str, cwd: &Path) -> Error {
        let said = self.stderr.trim();
        let error = Error::new(ErrorKind::Git, format!("{what} in `{}`: {said:.500}", cwd.display()));
        if said.contains("dubious ownership") {
            error.with_hint(
                "the repository belongs to another user: add it to git's `safe.directory`, or run as its owner",
            )
        } else {
            error
        }
    }
}

/// Reads a path as git prints it.
pub(crate) fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

impl Git {
    /// Aims at `cwd`; the repository is found from there.
    pub(crate) fn at(cwd: impl Into<PathBuf>) -> Self {
        Self { cwd: cwd.into(), env: Vec::new(), timeout: TIMEOUT }
    }

    /// Sets a variable for every call.
    #[must_use]
    pub(crate) fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Sets how long one call may take.
    #[must_use]
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Returns the folder in which git runs.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Asks git something. A bad exit is an answer, not an error.
    pub(crate) async fn ask<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Answer> {
        self.feed(args, Vec::new()).await
    }

    /// As [`Git::ask`], with something to read on its standard input.
    pub(crate) async fn feed<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        stdin: Vec<u8>,
    ) -> Result<Answer> {
        // In a partial clone git fetches what is missing, with the programs that the repository names. Before version
        // 2.45 only the empty list of protocols keeps it from that.
        let program =
            self.program(args).env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "").stdin(stdin);
        self.run(&program).await
    }

    /// As [`Git::ask`], for a call that may reach a remote; `ext::` and the like, which start programs, are not spoken.
    pub(super) async fn reach<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Answer> {
        self.run(&self.program(args).env("GIT_ALLOW_PROTOCOL", PROTOCOLS)).await
    }

    /// Asks git to do something and returns what it printed. A bad exit is an error: "failed to `what` in ...".
    pub(crate) async fn does<A: AsRef<OsStr>>(
        &self,
        what: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Answer> {
        let answer = self.ask(args).await?;
        if answer.is_success() { Ok(answer) } else { Err(answer.refused(what, &self.cwd)) }
    }

    fn program<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Program {
        let hardened = HARDENED.iter().flat_map(|setting| ["-c", setting]);
        let mut program = Program::new("git")
            .args(hardened)
            .args(args)
            .cwd(&self.cwd)
            .env("LC_ALL", "C")
            .env("LANGUAGE", "")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_PAGER", "cat");
        for variable in DROPPED_VARIABLES {
            program = program.env_remove(variable);
        }
        program.env.extend(self.env.iter().cloned());
        program
    }

    async fn run(&self, program: &Program) -> Result<Answer> {
        let captured =
            capture(program, OUTPUT_LIMIT, self.timeout).await.map_err(|error| not_run(&self.cwd, error))?;
        Ok(Answer { stdout: captured.stdout, stderr: captured.stderr, code: captured.status.code() })
    }
}

/// Runs git in `cwd` and returns what it printed, without the last line feed. A bad exit is an error.
pub(crate) async fn print<A: AsRef<OsStr>>(cwd: &Path, args: impl IntoIterator<Item = A>) -> Result<String> {
    let git = Git::at(cwd);
    let answer = git.run(&git.program(args)).await?;
    if !answer.is_success() {
        return Err(answer.refused("run git", cwd));
    }
    Ok(String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned())
}

fn not_run(cwd: &Path, error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if !cwd.exists() => "the folder has gone since the run began",
        io::ErrorKind::NotFound => "install git 2.38 or newer and put it on the `PATH`",
        _ => "see whether `git status` works in that folder",
    };
    Error::new(ErrorKind::Git, format!("run `git` in `{}`", cwd.display())).with_source(error).with_hint(hint)
}
