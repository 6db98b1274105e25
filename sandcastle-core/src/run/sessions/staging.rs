//! Sessions of an agent whose home cannot be seen from this host.
//!
//! What the agent keeps of them is copied to a home-shaped folder of this host and, when something was added, back again;
//! between the two it is a place like any other. What comes out of a sandbox is hostile, and is copied as such.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Inside;
use crate::agent::{Agent, SessionPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{CopyLimits, Output, Program, copy_in, copy_out};

/// How much an agent may have kept.
const LIMITS: CopyLimits = CopyLimits { bytes: 512 << 20, entries: 20_000 };

/// A copy of an agent's sessions.
#[derive(Debug)]
pub(super) struct Staging {
    home: TempDir,
    /// The folder of the sessions, here and inside.
    here: PathBuf,
    inside: PathBuf,
}

impl Staging {
    /// Copies what there is; `None` if the agent keeps no files, or has no home, or keeps them elsewhere than in it.
    pub(super) async fn of(agent: &dyn Agent, inside: &Inside) -> Result<Option<Self>> {
        let Some(home_inside) = &inside.home_inside else { return Ok(None) };
        let failed =
            |error| Error::new(ErrorKind::Io, "make a temporary folder for sessions").with_source(error);
        let home = TempDir::new().map_err(failed)?;
        let Some(here) = agent.session_folder(&inside.place(home.path())) else { return Ok(None) };
        let Ok(below) = here.strip_prefix(home.path()).map(Path::to_path_buf) else { return Ok(None) };
        let staging = Self { inside: home_inside.join(below), here, home };
        if staging.is_there(inside).await? {
            if let Some(parent) = staging.here.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            copy_out(&*inside.sandbox, &staging.inside, &staging.here, LIMITS).await?;
        }
        Ok(Some(staging))
    }

    /// Returns the place that it is.
    pub(super) fn place<'a>(&'a self, inside: &'a Inside) -> SessionPlace<'a> {
        inside.place(self.home.path())
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Copies what was added into the sandbox.
    pub(super) async fn bring_in(&self, inside: &Inside) -> Result<()> {
        if self.here.exists() { copy_in(&*inside.sandbox, &self.here, &self.inside).await } else { Ok(()) }
    }

    async fn is_there(&self, inside: &Inside) -> Result<bool> {
        let failed =
            |error| Error::new(ErrorKind::Sandbox, "look for sessions in the sandbox").with_source(error);
        let look = Program::new("test").args(["-d".as_ref(), self.inside.as_os_str()]).cwd("/");
        let mut running = inside.sandbox.start(look).await.map_err(failed)?;
        let status = loop {
            if let Output::Exited(status) = running.next().await.map_err(failed)? {
                break status;
            }
        };
        running.sweep().await;
        Ok(status.success())
    }
}
