//! Sessions of a run: where they are looked for, and when they are brought from one place to another.
//!
//! A program finds its sessions in its home folder, some only those of the folder it works in. A run may have a store
//! besides, a home-shaped folder on this host that outlives the sandbox. Before an agent goes on with a session it is
//! brought to where the program looks for it; after a turn it is brought to the store. What a session's files are, and
//! what of them may be trusted, knows the agent alone.

mod staging;

use std::error::Error as _;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::JoinHandle;

use self::staging::Staging;
use crate::agent::{Agent, SessionPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::id::SessionId;
use crate::sandbox::SandboxHandle;
use crate::session::{SessionRequest, SessionTransfer, TransferOutcome};

/// Brings sessions to the agent of a run, and from it.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    agent: Arc<dyn Agent>,
    /// A home-shaped folder; without it sessions stay where the agent has put them.
    store: Option<PathBuf>,
    /// The folder of the run on this host, by which sessions in the store are kept.
    host_cwd: PathBuf,
}

/// Where the agent is.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    /// Its home folder, if that can be seen from this host.
    pub(super) home: Option<PathBuf>,
    /// That folder as the agent sees it.
    pub(super) home_inside: Option<PathBuf>,
    /// What it can be reached by.
    pub(super) sandbox: Arc<dyn SandboxHandle>,
    /// The folder it works in, as it sees it.
    pub(super) cwd: PathBuf,
    /// Every variable that is set for it, the one that counts last.
    pub(super) env: Vec<(OsString, OsString)>,
}

/// Says whether there is a session of some id.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// It is in this file.
    Yes(PathBuf),
    /// It is in none of these folders.
    No(Vec<PathBuf>),
    /// The agent keeps no files, or no folder of them can be seen yet.
    CannotTell,
}

/// A session after a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Captured {
    /// Its file: the one in the store, or else the agent's own, if it can be seen.
    pub(super) file: Option<PathBuf>,
    /// What could not be captured.
    pub(super) warnings: Vec<String>,
}

impl Sessions {
    pub(super) fn new(agent: Arc<dyn Agent>, store: Option<PathBuf>, host_cwd: PathBuf) -> Self {
        Self { agent, store, host_cwd }
    }

    /// Looks for a session before there is a sandbox: in the store, and in `home` if it is known already which home
    /// the agent will have. Nothing is brought. [`Known::No`] is final only where the agent will have no other home.
    fn known(&self, id: &SessionId, home: Option<&Path>, env: &[(OsString, OsString)]) -> Known {
        let home = home.map(|home| SessionPlace::new(home, &self.host_cwd, env));
        let mut searched = Vec::new();
        for place in home.into_iter().chain(self.stored()) {
            if let Some(file) = self.agent.session_file(id, &place) {
                return Known::Yes(file);
            }
            searched.extend(self.agent.session_folder(&place));
        }
        if searched.is_empty() { Known::CannotTell } else { Known::No(searched) }
    }

    /// Checks that the session that is asked for is where the agent will be able to go on with it, as far as that can be told
    /// before there is a sandbox. `home` is the home that the agent will have.
    ///
    /// # Errors
    /// [`ErrorKind::SessionNotFound`] when it is not there.
    pub(super) fn check(
        &self,
        request: &SessionRequest,
        home: &Path,
        env: &[(OsString, OsString)],
    ) -> Result<()> {
        let Some(id) = request.origin() else { return Ok(()) };
        match self.known(id, Some(home), env) {
            Known::No(searched) => Err(not_found(id, self.agent.name(), &searched)),
            Known::Yes(_) | Known::CannotTell => Ok(()),
        }
    }

    /// Brings the session that is asked for to where the agent will look for it, and returns what is to be warned of.
    ///
    /// It may be in the store, or in the agent's home as a session of another folder, such as a worktree that is gone.
    /// Where copies of it went on in different ways, the one that the agent finds by itself is left as it is.
    ///
    /// Call it once, before the first turn: a program that writes its sessions late may not have written the one of the
    /// turn before. An agent that keeps no files, or whose home cannot be seen, has to find the session by itself.
    ///
    /// # Errors
    /// [`ErrorKind::SessionNotFound`] when the session is nowhere; [`ErrorKind::Io`] when it can only be brought from a
    /// place that it cannot be brought from.
    ///
    /// # Cancel safety
    /// A copy that has begun comes to its end; it is bounded, and there is the old file or the new one.
    pub(super) async fn bring_in(&self, request: &SessionRequest, inside: &Inside) -> Result<Vec<String>> {
        let Some(id) = request.origin().cloned() else { return Ok(Vec::new()) };
        let (sessions, copy) = (self.clone(), inside.clone());
        if let Some(home) = inside.home.clone() {
            return blocking(move || sessions.bring_into(&id, &copy.place(&home))).await;
        }
        let Some(staging) = Staging::of(&*self.agent, inside).await? else { return Ok(Vec::new()) };
        let home = staging.home().to_path_buf();
        let warnings = blocking(move || sessions.bring_into(&id, &copy.place(&home))).await?;
        staging.bring_in(inside).await?;
        Ok(warnings)
    }

    fn bring_into(&self, id: &SessionId, inside: &SessionPlace<'_>) -> Result<Vec<String>> {
        let Some(folder) = self.agent.session_folder(inside) else { return Ok(Vec::new()) };
        let same_home = SessionPlace::new(inside.home, &self.host_cwd, inside.env);
        let (mut found, mut warnings, mut failure) = (false, Vec::new(), None);
        let mut searched = vec![folder];
        for from in [same_home].into_iter().chain(self.stored()) {
            searched.extend(self.agent.session_folder(&from));
            match self.agent.transfer_session(id, &from, inside) {
                Ok(transfer) => {
                    found |= transfer.is_some();
                    warnings.extend(transfer.into_iter().flat_map(|transfer| remarks(id, transfer)));
                }
                Err(error) => {
                    warnings.push(in_one_line(&error));
                    failure = Some(error);
                }
            }
        }
        if found || self.agent.session_file(id, inside).is_some() {
            return Ok(warnings);
        }
        searched.dedup();
        Err(failure.unwrap_or_else(|| not_found(id, self.agent.name(), &searched)))
    }

    /// Brings a session to the store after a turn, and returns its file.
    ///
    /// Call it when the commits are safe: whatever fails here is a warning, and costs nothing that the agent has done.
    ///
    /// # Errors
    /// When there is a store and the session does not get there.
    ///
    /// # Cancel safety
    /// As for [`Sessions::bring_in`].
    pub(super) async fn bring_out(&self, id: &SessionId, inside: &Inside) -> Result<Captured> {
        let (sessions, id, copy) = (self.clone(), id.clone(), inside.clone());
        if let Some(home) = inside.home.clone() {
            return blocking(move || sessions.bring_out_of(&id, &copy.place(&home))).await;
        }
        let Some(staging) = Staging::of(&*self.agent, inside).await? else { return Ok(Captured::default()) };
        blocking(move || {
            let captured = sessions.bring_out_of(&id, &staging.place(&copy))?;
            // What is only in the copy is gone with it.
            let file = captured.file.filter(|file| !file.starts_with(staging.home()));
            Ok(Captured { file, ..captured })
        })
        .await
    }

    fn bring_out_of(&self, id: &SessionId, inside: &SessionPlace<'_>) -> Result<Captured> {
        let own = self.agent.session_file(id, inside);
        let (Some(to), Some(folder)) = (self.stored(), self.agent.session_folder(inside)) else {
            return Ok(Captured { file: own, warnings: Vec::new() });
        };
        let store = to.home.display();
        DirBuilder::new().recursive(true).mode(0o700).create(to.home).map_err(|error| {
            Error::new(ErrorKind::Io, format!("make the session store `{store}`")).with_source(error)
        })?;
        let Some(transfer) = self.agent.transfer_session(id, inside, &to)? else {
            return Err(not_found(id, self.agent.name(), &[folder]));
        };
        let file = match transfer.outcome {
            TransferOutcome::Parted => own,
            _ => Some(transfer.file.clone()),
        };
        Ok(Captured { file, warnings: remarks(id, transfer).collect() })
    }

    /// Tells whether there is a store.
    pub(super) fn are_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the file of a session in the store, if it is there.
    pub(super) fn stored_file(&self, id: &SessionId) -> Option<PathBuf> {
        self.stored().and_then(|place| self.agent.session_file(id, &place))
    }

    fn stored(&self) -> Option<SessionPlace<'_>> {
        self.store.as_deref().map(|store| SessionPlace::new(store, &self.host_cwd, &[]))
    }
}

impl Inside {
    fn place<'a>(&'a self, home: &'a Path) -> SessionPlace<'a> {
        SessionPlace::new(home, &self.cwd, &self.env)
    }
}

fn remarks(id: &SessionId, transfer: SessionTransfer) -> impl Iterator<Item = String> {
    let parted = (transfer.outcome == TransferOutcome::Parted).then(|| {
        let file = transfer.file.display();
        format!("the session `{id}` went on in two places: `{file}` stays as it is, without what was said elsewhere")
    });
    let id = id.clone();
    parted.into_iter().chain(transfer.notes.into_iter().map(move |note| format!("session `{id}`: {note}")))
}

fn in_one_line(error: &Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("failed to {error}{cause}")
}

fn not_found(id: &SessionId, agent: &str, searched: &[PathBuf]) -> Error {
    let folders: Vec<String> = searched.iter().map(|folder| format!("`{}`", folder.display())).collect();
    let message =
        format!("find the session `{id}` of the agent `{agent}`: it is not in {}", folders.join(" or "));
    Error::new(ErrorKind::SessionNotFound, message).with_hint(
        "resume with the same home folder or the same session store as the run that the id is from",
    )
}

/// A task on another thread that does not begin any more once nobody waits for it.
struct Owned<T>(JoinHandle<T>);

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Does what blocks on a thread for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let mut task = Owned(tokio::task::spawn_blocking(work));
    (&mut task.0).await.unwrap_or_else(|error| {
        Err(Error::new(ErrorKind::Io, "bring a session from place to place").with_source(error))
    })
}

#[cfg(test)]
mod tests;
