//! Hostile stores: what an agent may leave in a home folder, and what must come of it.

mod hostile;
mod transfers;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::{Agent, SessionPlace};
use sandcastle_core::session::{SessionTransfer, TransferOutcome};
use sandcastle_core::{Error, SessionId};
use tempfile::TempDir;

use crate::{ClaudeCode, Codex};

const ID: &str = "f6e43651-ba73-4658-903a-0b737afdf681";

/// A home folder and the folder of a repository, which has no dots or dashes that a slug would change.
struct Place {
    folder: TempDir,
    cwd: &'static str,
    env: Vec<(OsString, OsString)>,
}

impl Place {
    fn new(cwd: &'static str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cwd, env: Vec::new() }
    }

    fn home(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    fn place(&self) -> SessionPlace<'_> {
        SessionPlace::new(self.folder.path(), Path::new(self.cwd), &self.env)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.home().join(below)
    }

    /// Where Claude Code looks for the session.
    fn session(&self) -> PathBuf {
        self.path(&format!(".claude/projects/{}/{ID}.jsonl", self.cwd.replace('/', "-")))
    }

    fn write(&self, contents: impl AsRef<[u8]>) -> PathBuf {
        write(&self.session(), contents)
    }

    fn read(&self) -> String {
        fs::read_to_string(self.session()).unwrap()
    }
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
    path.to_owned()
}

fn bring(from: &Place, to: &Place) -> Result<Option<SessionTransfer>, Error> {
    bring_for(&ClaudeCode::new(""), from, to)
}

fn bring_for(agent: &dyn Agent, from: &Place, to: &Place) -> Result<Option<SessionTransfer>, Error> {
    agent.transfer_session(&SessionId::new(ID).unwrap(), &from.place(), &to.place())
}

/// A line as both programs write it, with the folder last.
fn line(n: u32, cwd: &str) -> String {
    format!("{{\"n\":{n}, \"cwd\":\"{cwd}\"}}\n")
}

fn lines(numbers: impl IntoIterator<Item = u32>, cwd: &str) -> String {
    numbers.into_iter().map(|n| line(n, cwd)).collect()
}

/// Everything below a folder, links not followed.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Fails unless nothing came of it, and returns what was said.
#[track_caller]
fn refused(result: Result<Option<SessionTransfer>, Error>) -> String {
    let error = result.expect_err("a refusal");
    assert_eq!(error.kind(), sandcastle_core::ErrorKind::Io);
    format!("{error:#}")
}

#[track_caller]
fn outcome(result: Result<Option<SessionTransfer>, Error>) -> TransferOutcome {
    result.unwrap().expect("a session").outcome
}
