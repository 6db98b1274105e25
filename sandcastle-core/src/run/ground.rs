//! The ground that a run stands on: a work tree of its own, or one that a handle lends to it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::making::Making;
use super::site::Site;
use super::worktree::CloseResult;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::SandboxHandle;
use crate::worktree::{Fate, Place, Plan};

/// Who makes the work tree that a run works in, and puts it away.
#[derive(Clone, Debug)]
pub(super) enum Ground {
    /// The run itself.
    Own,
    /// The handle that lends it.
    Lent(Arc<Lot>),
}

impl Ground {
    /// Returns what is lent, if anything is.
    pub(super) fn lent(&self) -> Option<&Lot> {
        match self {
            Self::Own => None,
            Self::Lent(lot) => Some(lot),
        }
    }
}

/// A work tree that several runs use, and the sandbox around it if that is lent as well.
#[derive(Debug)]
pub(super) struct Lot {
    pub(super) plan: Arc<Plan>,
    /// How it was made; its variables and secrets are those of every run in it.
    pub(super) site: Site,
    /// Where runs work unless they name another folder.
    pub(super) cwd: PathBuf,
    /// What made it, for messages.
    pub(super) maker: &'static str,
    place: Mutex<Option<Arc<Place>>>,
    sandbox: Option<Arc<dyn SandboxHandle>>,
}

impl Lot {
    pub(super) fn new(making: Making, place: Arc<Place>, maker: &'static str) -> Self {
        let cwd = making.cwd_in(place.top());
        let Making { plan, site, .. } = making;
        Self { plan, site, cwd, maker, place: Mutex::new(Some(place)), sandbox: None }
    }

    /// Lends a sandbox around the work tree, too.
    #[must_use]
    pub(super) fn with_sandbox(mut self, sandbox: Arc<dyn SandboxHandle>) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Returns the work tree.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it was closed.
    pub(super) fn place(&self) -> Result<Arc<Place>> {
        self.lock().clone().ok_or_else(|| {
            Error::new(ErrorKind::InvalidOptions, format!("use the {}: it was closed", self.maker))
        })
    }

    /// Returns the sandbox, if it is lent as well.
    pub(super) fn sandbox(&self) -> Option<&Arc<dyn SandboxHandle>> {
        self.sandbox.as_ref()
    }

    /// Takes the work tree, so that nobody works in it any more. `None` when that was done already.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] while somebody works in it.
    pub(super) fn take(&self) -> Result<Option<Place>> {
        let mut held = self.lock();
        let Some(place) = held.take() else { return Ok(None) };
        Arc::try_unwrap(place).map(Some).map_err(|place| {
            *held = Some(place);
            self.busy()
        })
    }

    /// Puts a work tree away that was taken.
    pub(super) async fn put_away(&self, place: Place) -> CloseResult {
        // Whether everything has landed is looked at: a branch whose commits nothing else holds stays.
        place.close(Fate::Finished { landed: self.plan.merges() }).await.into()
    }

    /// Leaves the work tree to the one who has lent it to this lot. `None` when that was done already.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] while a run goes on in it.
    pub(super) fn give_back(&self) -> Result<Option<()>> {
        let mut held = self.lock();
        // This lot and the lender have it; anybody else is at work.
        if held.as_ref().is_some_and(|place| Arc::strong_count(place) > 2) {
            return Err(self.busy());
        }
        Ok(held.take().map(drop))
    }

    fn busy(&self) -> Error {
        Error::new(
            ErrorKind::InvalidOptions,
            format!("close the {}: something still goes on in it", self.maker),
        )
        .with_hint("wait for its runs, or cancel them, and close its sandboxes first")
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Place>>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
