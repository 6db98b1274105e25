//! The file inside the sandbox that a program reads the schema of its answer from.
//!
//! It is written through the sandbox's own handle, so it is there wherever the agent runs; in a folder of its own that nobody
//! else may read, in the temporary folder and never in the work tree. It is removed when the run has its answer. Where this host
//! has it as well, the journal names it first, and whoever comes after a kill removes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::iteration::Stage;
use super::ledger::Ledger;
use super::shell::{Call, CommandFailure, Shell, Stdout};
use crate::error::{Error, ErrorKind, Result};
use crate::id::RunId;
use crate::journal::scratch;
use crate::output::one_line;
use crate::sandbox::Sharing;

/// How long writing it, or removing it, may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The longest path that is read back.
const MAX_PATH: usize = 4096;

/// Prints the temporary folder without links in it. The argument is the work tree, in which it must not be.
const FIND: &str = r#"w=$(cd -P -- "$1" && pwd) || w=$1
case ${TMPDIR:-} in /*) t=$(cd -P -- "$TMPDIR" && pwd) || t=/tmp ;; *) t=/tmp ;; esac
case $t/ in "$w"/*) t=/tmp ;; esac
printf %s "$t""#;

/// Writes its input to a file in a new folder.
const WRITE: &str = r#"umask 077
mkdir -- "$1" && { cat >"$1/schema.json" || { rm -rf -- "$1"; exit 1; }; }"#;

/// Removes the folder: a link that took its place goes, and not what it leads to.
const REMOVE: &str = r#"rm -rf -- "$1""#;

/// A file that was written.
#[derive(Debug)]
pub(super) struct SchemaFile {
    path: PathBuf,
    folder: PathBuf,
    /// Whether this host has it as well, so that it can be removed from here when a run is dropped.
    on_this_host: bool,
}

impl SchemaFile {
    /// Writes a schema to a new file of a run inside the sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when that is not possible.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing on this host.
    pub(super) async fn write(
        text: &str,
        (run, sharing): (&RunId, Sharing),
        stage: &Stage<'_>,
        ledger: &mut Ledger,
    ) -> Result<Self> {
        let worktree = stage.workplace.sandbox().worktree().to_string_lossy();
        let printed = in_time(stage, FIND, &worktree, b"").await?;
        let temporary = PathBuf::from(String::from_utf8_lossy(&printed).into_owned());
        if !temporary.is_absolute() {
            let shown = temporary.to_string_lossy();
            return Err(unwritten(&format!("`{:.200}` is no temporary folder", one_line(&shown))));
        }
        // `sh` is whatever the search path leads to, but the name that is removed later is ours.
        let folder = temporary.join(scratch::name(run));
        let file = Self { path: folder.join(scratch::FILE), folder, on_this_host: sharing == Sharing::Host };
        if file.on_this_host {
            ledger.note_scratch(&file.folder);
        }
        in_time(stage, WRITE, &file.folder.to_string_lossy(), text.as_bytes()).await?;
        Ok(file)
    }

    /// Returns where it is, as seen inside.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, also when the run was cut off. What stays is no reason to lose an answer.
    pub(super) async fn remove(mut self, stage: &Stage<'_>, ledger: &mut Ledger) {
        let folder = self.folder.to_string_lossy().into_owned();
        let removed = call(stage, REMOVE, &folder, b"").await;
        let is_gone = removed.is_ok() || (self.on_this_host && scratch::remove(&self.folder).is_ok());
        match removed {
            Err(failure) if !is_gone => ledger.warn(format!("the schema stays in `{folder}`: {failure}")),
            _ if self.on_this_host => ledger.note_scratch_removed(),
            _ => {}
        }
        self.on_this_host = false;
    }
}

impl Drop for SchemaFile {
    /// A run that is dropped cannot wait for a sandbox. Where the file is on this host, it is removed from here; elsewhere it
    /// goes with the sandbox.
    fn drop(&mut self) {
        if self.on_this_host {
            _ = scratch::remove(&self.folder);
        }
    }
}

/// Runs a script for the run, unless that is cut off.
async fn in_time(stage: &Stage<'_>, script: &str, argument: &str, stdin: &[u8]) -> Result<Vec<u8>> {
    let work = async {
        let called = call(stage, script, argument, stdin).await;
        called.map_err(|failure| unwritten(&failure).with_source(failure))
    };
    stage.bounds.apply("keep the schema in a file inside the sandbox", work).await
}

async fn call(
    stage: &Stage<'_>,
    script: &str,
    argument: &str,
    stdin: &[u8],
) -> Result<Vec<u8>, CommandFailure> {
    let argv = vec!["sh", "-c", script, "sandcastle", argument];
    let shell = Shell { sandbox: Some(&**stage.workplace.sandbox()), cwd: &stage.cwd, env: stage.env };
    let call = Call { argv, shown: "sh", limit: LIMIT, stdin, stdout: Stdout::Whole(MAX_PATH) };
    shell.run(call).await.map(|finished| finished.stdout)
}

fn unwritten(why: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Sandbox, format!("keep the schema in a file inside the sandbox: {why}"))
        .with_hint("`sh` and `mkdir` are needed inside, and a temporary folder that can be written to")
}
