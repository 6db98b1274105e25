//! A scratch repository and a scripted model, for tests of programs that run agents and ask models, and what every sandbox
//! has to do.
//!
//! The scripted agent that goes with it lives with the other agents.

mod conformance;
mod scripted_model;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use self::conformance::{sandbox_conformance, sandbox_conformance_in};
pub use self::scripted_model::ScriptedModel;
use crate::error::{Error, ErrorKind, Result};
use crate::git;

/// A git repository in a temporary folder, with one commit on the branch `main`.
///
/// It is removed when it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sandcastle_core::Result<()> {
/// let repository = sandcastle_core::testing::ScratchRepo::new().await?;
/// assert_eq!(repository.git(["branch", "--show-current"]).await?, "main");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ScratchRepo {
    folder: tempfile::TempDir,
}

impl ScratchRepo {
    /// Makes a repository whose one commit holds a `README.md`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the folder cannot be made, [`ErrorKind::Git`] when git fails.
    pub async fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("sandcastle-").tempdir().map_err(|error| {
            Error::new(ErrorKind::Io, "make a temporary folder for a scratch repository").with_source(error)
        })?;
        let repository = Self { folder };
        repository.git(["init", "--quiet", "--initial-branch=main"]).await?;
        for (key, value) in [("user.name", "Scratch"), ("user.email", "scratch@example.invalid")] {
            repository.git(["config", key, value]).await?;
        }
        repository.git(["config", "commit.gpgSign", "false"]).await?;
        repository.write("README.md", "# A scratch repository\n")?;
        repository.git(["add", "--all"]).await?;
        repository.git(["commit", "--quiet", "--message", "begin"]).await?;
        Ok(repository)
    }

    /// Returns the root of the work tree.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file; missing folders are made.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path().join(path);
        let write = || {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, content)
        };
        write().map_err(|error| {
            Error::new(ErrorKind::Io, format!("write `{}`", path.display())).with_source(error)
        })?;
        Ok(path)
    }

    /// Runs git in the work tree and returns what it printed, without the last line feed.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] with what git said, when it fails.
    pub async fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<String> {
        git::print(self.path(), args).await
    }
}
