//! The ground that a run stands on: a work tree of its own, or one that a handle lends to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::making::Making;
use super::site::Site;
use super::worktree::CloseResult;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{self, Journal, Note, Outcome};
use crate::sandbox::SandboxHandle;
use crate::worktree::{Closed, Fate, Place, Plan};

/// Who makes the work tree that a run works in, and puts it away.
#[derive(Clone, Debug)]
pub(super) enum Ground {
    /// The run itself.
    Own,
    /// The handle that lends it.
    Lent(Arc<Lot>),
    /// The handle that has lent it, as a result remembers it: a result keeps nobody from the branch.
    Remembered(Weak<Lot>),
}

impl Ground {
    /// Returns what a result keeps of it.
    pub(super) fn remembered(self) -> Self {
        match self {
            Self::Lent(lot) => Self::Remembered(Arc::downgrade(&lot)),
            other => other,
        }
    }

    /// Returns what a run has of it that goes on from a result: the handle, if it is still there.
    pub(super) fn found_again(self) -> Self {
        match self {
            Self::Remembered(lot) => lot.upgrade().map_or(Self::Remembered(lot), Self::Lent),
            other => other,
        }
    }

    /// Returns the handle that lends it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it was dropped.
    pub(super) fn lender(&self) -> Result<Option<&Arc<Lot>>> {
        match self {
            Self::Own => Ok(None),
            Self::Lent(lot) => Ok(Some(lot)),
            Self::Remembered(_) => Err(Error::new(
                ErrorKind::InvalidOptions,
                "go on where the first run was: its worktree or sandbox was dropped",
            )
            .with_hint("keep the handle for as long as its results are gone on with")),
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
    /// What is written down of the work tree; there is none where it belongs to somebody else.
    journal: Mutex<Option<Journal>>,
    sandbox: Option<Arc<dyn SandboxHandle>>,
}

/// One run's use of a work tree that is lent; no other run has it meanwhile.
#[derive(Debug)]
pub(super) struct Lodging(Arc<Place>);

impl Lodging {
    pub(super) fn place(&self) -> &Place {
        &self.0
    }
}

impl Drop for Lodging {
    fn drop(&mut self) {
        self.0.vacate();
    }
}

impl Lot {
    pub(super) fn new(making: Making, place: Arc<Place>, maker: &'static str) -> Self {
        let cwd = making.cwd_in(place.top());
        let Making { plan, site, journal, .. } = making;
        let (place, journal) = (Mutex::new(Some(place)), Mutex::new(journal));
        Self { plan, site, cwd, maker, place, journal, sandbox: None }
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

    /// Takes the work tree for one run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it was closed, [`ErrorKind::BranchBusy`] while another run is at work in it, also by
    /// way of a sandbox around it.
    pub(super) fn lodge(&self) -> Result<Lodging> {
        let place = self.place()?;
        if place.occupy() {
            return Ok(Lodging(place));
        }
        let what = format!("run in the {}: another run is at work there", self.maker);
        Err(Error::new(ErrorKind::BranchBusy, what)
            .with_hint("wait for that run, or give each run a branch of its own"))
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
        let path = place.top().to_path_buf();
        let closed = place.close(Fate::Finished { landed: self.plan.merges() }).await;
        self.end_journal(path, closed).into()
    }

    /// Returns the variable that everything in the work tree carries.
    pub(super) fn mark(&self) -> Option<(OsString, OsString)> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.as_ref().map(|journal| journal.mark().variable())
    }

    /// Notes something of the sandbox, where there is a journal.
    pub(super) fn note(&self, note: &Note) {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        // That it cannot be written is told with the end of the journal.
        let _ = journal.as_ref().map(|journal| journal.note(note));
    }

    /// Notes what became of the work tree.
    fn end_journal(&self, path: PathBuf, mut closed: Closed) -> Closed {
        let Some(journal) = self.journal.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return closed;
        };
        let fate = if closed.preserved.is_some() { journal::Fate::Preserved } else { journal::Fate::Removed };
        closed.notes.extend(journal.note(&Note::WorktreeClosed { path: path.into(), fate }));
        closed.notes.extend(journal.end(Outcome::Done, None));
        closed
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
