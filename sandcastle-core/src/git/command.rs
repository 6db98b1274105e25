//! One call of git: its environment, its limits and its errors.

use std::ffi::OsStr;
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

/// What one call may print.
const OUTPUT_LIMIT: usize = 64 * 1024 * 1024;
/// How long one call may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Says how a call of git ended.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    pub(super) code: Option<i32>,
}

impl Answer {
    /// Returns the first line of what it printed, if it succeeded and printed one.
    pub(super) fn line(&self) -> Option<&str> {
        std::str::from_utf8(self.line_bytes()?).ok()
    }

    /// Returns the path that it printed, if it succeeded and printed one; a path may hold anything, line feeds too.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let line = self.line_bytes()?;
        #[cfg(unix)]
        return Some(PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(line)));
        #[cfg(not(unix))]
        return std::str::from_utf8(line).ok().map(PathBuf::from);
    }

    fn line_bytes(&self) -> Option<&[u8]> {
        let line = self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout);
        (self.code == Some(0) && !line.is_empty()).then_some(line)
    }
}

/// Asks git about the repository at `cwd`. A bad exit is an answer, not an error.
pub(super) async fn ask<A: AsRef<OsStr>>(cwd: &Path, args: impl IntoIterator<Item = A>) -> Result<Answer> {
    // In a partial clone git fetches what is missing, with the programs that the repository names. Before version 2.45
    // only the empty list of protocols keeps it from that.
    let program = git(cwd, args).env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "");
    run(&program, cwd).await
}

/// Runs git in `cwd` and returns what it printed, without the last line feed. A bad exit is an error.
pub(crate) async fn print<A: AsRef<OsStr>>(cwd: &Path, args: impl IntoIterator<Item = A>) -> Result<String> {
    let answer = run(&git(cwd, args), cwd).await?;
    if answer.code != Some(0) {
        return Err(refused("run git", cwd, &answer));
    }
    Ok(String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned())
}

fn git<A: AsRef<OsStr>>(cwd: &Path, args: impl IntoIterator<Item = A>) -> Program {
    let hardened = HARDENED.iter().flat_map(|setting| ["-c", setting]);
    let mut program = Program::new("git")
        .args(hardened)
        .args(args)
        .cwd(cwd)
        .env("LC_ALL", "C")
        .env("LANGUAGE", "")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_PAGER", "cat");
    for variable in DROPPED_VARIABLES {
        program = program.env_remove(variable);
    }
    program
}

async fn run(program: &Program, cwd: &Path) -> Result<Answer> {
    let captured = capture(program, OUTPUT_LIMIT, TIMEOUT).await.map_err(|error| not_run(cwd, error))?;
    Ok(Answer { stdout: captured.stdout, stderr: captured.stderr, code: captured.status.code() })
}

fn not_run(cwd: &Path, error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if !cwd.exists() => "the folder has gone since the run began",
        io::ErrorKind::NotFound => "install git 2.30 or newer and put it on the `PATH`",
        _ => "see whether `git status` works in that folder",
    };
    Error::new(ErrorKind::Git, format!("run `git` in `{}`", cwd.display())).with_source(error).with_hint(hint)
}

/// Turns a bad answer into an error that says what git said.
pub(super) fn refused(what: &str, cwd: &Path, answer: &Answer) -> Error {
    let said = answer.stderr.trim();
    let error = Error::new(ErrorKind::Git, format!("{what} in `{}`: {said:.500}", cwd.display()));
    if said.contains("dubious ownership") {
        error.with_hint(
            "the repository belongs to another user: add it to git's `safe.directory`, or run as its owner",
        )
    } else {
        error
    }
}
