//! The file inside the sandbox that a program reads the schema of its answer from.
//!
//! It is written through the sandbox's own handle, so it is there wherever the agent runs; in a folder of its own that nobody
//! else may read, in the temporary folder and never in the work tree. It is removed when the run has its answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::iteration::Stage;
use super::ledger::Ledger;
use super::shell::{Call, Shell, Stdout};
use crate::error::{Error, ErrorKind, Result};
use crate::output::one_line;
use crate::sandbox::Sharing;

/// How long writing it, or removing it, may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The longest path that is read back.
const MAX_PATH: usize = 4096;

/// How the name of its folder begins.
const FOLDER: &[u8] = b"sandcastle-schema-";

/// Writes its input to a new file and prints the path. Its argument is the work tree, in which it must not be.
const WRITE: &str = r#"umask 077
t=${TMPDIR:-/tmp}
case $t/ in "$1"/* | [!/]*) t=/tmp ;; esac
d=$(mktemp -d "$t/sandcastle-schema-XXXXXXXX") && cat >"$d/schema.json" && printf %s "$d/schema.json""#;

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
    /// Writes a schema to a new file inside the sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when that is not possible.
    pub(super) async fn write(text: &str, sharing: Sharing, stage: &Stage<'_>) -> Result<Self> {
        let worktree = stage.workplace.sandbox().worktree().to_string_lossy();
        let printed = run(stage, WRITE, &worktree, text.as_bytes()).await?;
        let path = PathBuf::from(String::from_utf8_lossy(&printed).into_owned());
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        // The folder will be removed, and `sh` and `mktemp` are whatever the search path leads to.
        let is_ours = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(FOLDER));
        if path.is_absolute() && is_ours {
            Ok(Self { path, folder, on_this_host: sharing == Sharing::Host })
        } else {
            let printed = path.to_string_lossy();
            Err(unwritten(&format!("`mktemp` made `{:.200}`", one_line(&printed))))
        }
    }

    /// Returns where it is, as seen inside.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it. What stays is no reason to lose an answer.
    pub(super) async fn remove(mut self, stage: &Stage<'_>, ledger: &mut Ledger) {
        let folder = self.folder.to_string_lossy().into_owned();
        match run(stage, REMOVE, &folder, &[]).await {
            Ok(_) => self.on_this_host = false,
            // A run that was cut off says so by itself.
            Err(error) if error.is_cancelled() || error.is_timeout() => {}
            Err(error) => ledger.warn(format!("the schema stays in `{folder}`: failed to {error}")),
        }
    }
}

impl Drop for SchemaFile {
    /// A run that is dropped cannot wait for a sandbox. Where the file is on this host, it is removed from here; elsewhere it
    /// goes with the sandbox.
    fn drop(&mut self) {
        if self.on_this_host {
            _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

async fn run(stage: &Stage<'_>, script: &str, argument: &str, stdin: &[u8]) -> Result<Vec<u8>> {
    let argv = vec!["sh", "-c", script, "sandcastle", argument];
    let shell = Shell { sandbox: Some(&**stage.workplace.sandbox()), cwd: &stage.cwd, env: stage.env };
    let call = Call { argv, shown: "sh", limit: LIMIT, stdin, stdout: Stdout::Whole(MAX_PATH) };
    let work = async { shell.run(call).await.map_err(|failure| unwritten(&failure).with_source(failure)) };
    let finished = stage.bounds.apply("keep the schema in a file inside the sandbox", work).await?;
    Ok(finished.stdout)
}

fn unwritten(why: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Sandbox, format!("keep the schema in a file inside the sandbox: {why}"))
        .with_hint("`sh` and `mktemp` are needed inside, and a temporary folder that can be written to")
}
