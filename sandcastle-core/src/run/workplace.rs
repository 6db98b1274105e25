//! A place to work: a work tree that is ready, and a sandbox around it, for one iteration of a run.
//!
//! Opening makes both; closing brings the commits home and puts both away. What fails on the way in leaves nothing behind;
//! what fails on the way out keeps everything of value, and says where it is.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::driver::Job;
use super::ground::Lodging;
use super::iteration::Stage;
use super::ledger::Ledger;
use super::setup::{Opened, Teller, check_nobody_is_left, joined};
use crate::error::Result;
use crate::git::{Repository, Wall};
use crate::id::BranchName;
use crate::sandbox::SandboxHandle;
use crate::worktree::{Fate, Gathered, Landing, Origin, Place, lagging};

/// A work tree and a sandbox, ready for an agent.
#[derive(Debug)]
pub(super) struct Workplace {
    tenure: Tenure,
    shelter: Shelter,
    origin: Origin,
    wall: Wall,
    /// How long collecting the commits may take.
    limit: Duration,
    /// Whether something was done inside that could not be brought back.
    is_cut_off: AtomicBool,
}

/// Whether the work tree is put away with the workplace.
#[derive(Debug)]
enum Tenure {
    Own(Box<Place>),
    Lent(Lodging),
}

/// Whether the sandbox is closed with the workplace.
#[derive(Debug)]
enum Shelter {
    Own(Arc<dyn SandboxHandle>),
    Lent(Arc<dyn SandboxHandle>),
}

/// How the work in a workplace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The agent was asked for nothing: what was made for it goes again.
    Unbegun,
    /// The agent came to its end: what it committed lands where it belongs.
    Finished,
    /// It did not; what it left stays on its branch.
    Failed,
    /// It did, and its answer was no good: everything stays as it is, so that it can be gone on with.
    Unanswered,
    /// It did, and there is no session in which it could be asked for its answer: as before.
    Unasked,
    /// As before, but something was given in the place of the answer: what it left stays on its branch, and the rest is put
    /// away.
    Replaced,
}

impl Workplace {
    /// Makes the work tree and the sandbox of iteration `number`.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the lock of the branch; a worktree that was made by then stays.
    pub(super) async fn open(job: &Job, number: u32, ledger: &mut Ledger) -> Result<Self> {
        let tenure = Tenure::take(job, number, ledger).await?;
        match Self::furnished(job, &tenure, ledger).await {
            Ok((shelter, origin, wall)) => {
                let limit = job.timeouts().commit_collection;
                Ok(Self { tenure, shelter, origin, wall, limit, is_cut_off: AtomicBool::new(false) })
            }
            Err(error) => {
                tenure.give_up(ledger).await;
                Err(error)
            }
        }
    }

    async fn furnished(job: &Job, tenure: &Tenure, ledger: &mut Ledger) -> Result<(Shelter, Origin, Wall)> {
        let shelter = Shelter::make(job, tenure, ledger).await?;
        if let Shelter::Lent(handle) = &shelter {
            let mut listener = |notice| ledger.notice(notice);
            job.setup().level(&**handle, &Teller::new(&mut listener)).await?;
        }
        // Hooks may commit, and may set the repository up; neither is the agent's doing.
        let begin = async {
            let wall = Wall::before(tenure.place().repository()).await?;
            let place = tenure.place();
            let is_new = matches!(tenure, Tenure::Own(_)) && !job.settings.site.hooks.has_any();
            let origin = if is_new { place.origin().clone() } else { place.origin_now().await? };
            Ok((origin, wall))
        };
        match begin.await {
            Ok((origin, wall)) => Ok((shelter, ledger.began(tenure.place(), origin), wall)),
            Err(error) => {
                shelter.close(job, ledger).await;
                Err(error)
            }
        }
    }

    pub(super) fn sandbox(&self) -> &Arc<dyn SandboxHandle> {
        match &self.shelter {
            Shelter::Own(handle) | Shelter::Lent(handle) => handle,
        }
    }

    /// Returns the branch that is worked on.
    pub(super) fn branch(&self) -> &BranchName {
        self.tenure.place().branch()
    }

    /// Returns the repository, aimed at the work tree.
    pub(super) fn repository(&self) -> &Repository {
        self.tenure.place().repository()
    }

    /// Returns the folder that the agent works in, as seen inside the sandbox.
    pub(super) fn cwd(&self, job: &Job) -> PathBuf {
        joined(self.sandbox().worktree(), &job.checked.below)
    }

    /// Has this host get what was done inside, and returns what is to be warned of.
    pub(super) async fn bring_back(&self) -> Result<Vec<String>> {
        let brought = self.sandbox().bring_back().await;
        self.is_cut_off.store(brought.is_err(), Ordering::Relaxed);
        brought
    }

    /// Finds the commits that the agent has made by now.
    ///
    /// What was done inside is brought back for that. Where a branch was moved here then, whoever goes on inside sees it.
    pub(super) async fn gather(&self) -> Result<Gathered> {
        let notes = self.bring_back().await?;
        let mut gathered = self.tenure.place().gather(&self.origin, self.limit).await?;
        if !gathered.notes.is_empty() {
            self.sandbox().bring_in().await?;
        }
        gathered.notes.splice(0..0, notes);
        Ok(gathered)
    }

    /// Brings the commits home and puts everything away.
    ///
    /// # Errors
    /// [`ErrorKind::RepositoryChanged`](crate::ErrorKind::RepositoryChanged) when the agent changed what git executes,
    /// [`ErrorKind::Merge`](crate::ErrorKind::Merge) when its commits cannot land,
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when they cannot be found. The work is kept then.
    pub(super) async fn close(self, job: &Job, work: Work, ledger: &mut Ledger) -> Result<()> {
        // Nothing lands and nothing is removed before this is known.
        let intact = self.wall.check().await;
        let gathered = ledger.collect(&self).await;
        capture(job, &self, ledger).await;
        self.shelter.close(job, ledger).await;
        // What comes out of a sandbox, repositories in the work tree for one, is there only now.
        let intact = if intact.is_ok() { self.wall.check().await } else { intact };
        match intact {
            Ok(changes) => changes.into_iter().for_each(|change| ledger.warn(change)),
            Err(error) => {
                self.tenure.keep("the agent changed the repository", ledger);
                return Err(error);
            }
        }
        if let Ok(gathered) = &gathered {
            let host = &job.checked.repository;
            match lagging(host, &gathered.moved, self.tenure.place().top()).await {
                Ok(lags) => lags.iter().for_each(|lag| ledger.warn_once(lag.says())),
                Err(error) => ledger.warn(format!("it was not possible to {error}")),
            }
        }
        if self.is_cut_off.into_inner() {
            self.tenure.keep("what was done inside could not be brought back", ledger);
            return gathered.map(drop);
        }
        if work == Work::Unbegun && self.wall.ignores_as_before() {
            self.tenure.give_up(ledger).await;
            return Ok(());
        }
        let unanswered = match work {
            Work::Unanswered => Some("the answer was not valid"),
            Work::Unasked => Some("there is no session to ask for the answer in"),
            _ => None,
        };
        if let Some(why) = unanswered {
            self.tenure.keep(why, ledger);
            return Ok(());
        }
        let landed = match work {
            Work::Finished if job.checked.plan.merges() => {
                land(job, self.tenure.place(), gathered, ledger).await
            }
            _ => Ok(()),
        };
        if self.wall.ignores_as_before() {
            let fate = Fate::Finished { landed: work == Work::Finished && landed.is_ok() };
            self.tenure.close(fate, ledger).await;
            if work == Work::Replaced {
                ledger.replaced(&job.checked.plan);
            }
        } else {
            self.tenure.keep("the agent changed what git ignores, so what is in it cannot be told", ledger);
        }
        landed
    }
}

/// Brings the sessions that were held here to the store. Whatever fails about it costs nothing that was done.
async fn capture(job: &Job, workplace: &Workplace, ledger: &mut Ledger) {
    let stage = Stage::new(job, workplace);
    if !stage.sessions.are_kept() {
        return;
    }
    let limit = job.timeouts().session_transfer;
    for id in ledger.sessions_to_capture() {
        let captured = tokio::time::timeout(limit, stage.sessions.bring_out(&id, &stage.inside())).await;
        match captured {
            Ok(Ok(captured)) => ledger.captured(&id, captured),
            Ok(Err(error)) => ledger.warn(format!("the session `{id}` was not captured: failed to {error}")),
            Err(_) => ledger.warn(format!("the session `{id}` was not captured within {limit:?}")),
        }
    }
}

/// Merges what was gathered into the target branch.
async fn land(job: &Job, place: &Place, gathered: Result<Gathered>, ledger: &mut Ledger) -> Result<()> {
    let gathered = gathered?;
    let Some(tip) = &gathered.tip else { return Ok(()) };
    let landing = Landing {
        repository: &job.checked.repository,
        source: place.branch(),
        tip,
        target: job.checked.plan.target_branch(),
        limit: job.timeouts().merge_to_host,
    };
    ledger.landing(&landing);
    let landed = landing.land().await?;
    ledger.landed(&landing, &landed, &gathered);
    Ok(())
}

impl Tenure {
    async fn take(job: &Job, number: u32, ledger: &mut Ledger) -> Result<Self> {
        let tenure = match job.settings.ground.lender()? {
            Some(lot) => Self::Lent(lot.lodge()?),
            None => {
                // Nothing is noted as this run's before it is.
                job.bounds().apply("reserve the branch", job.checked.plan.reserve()).await?;
                check_nobody_is_left(&job.checked.repository, &job.checked.plan, number)?;
                ledger.opening(&job.checked.plan, number);
                let opening = job.checked.plan.open(number, job.timeouts().worktree);
                let opened = job.bounds().apply("make the worktree", opening).await;
                let mut place = opened.inspect_err(|_| ledger.not_opened(&job.checked.plan, number))?;
                place.notes().into_iter().for_each(|note| ledger.warn(note));
                Self::Own(Box::new(place))
            }
        };
        ledger.opened(tenure.place());
        Ok(tenure)
    }

    fn place(&self) -> &Place {
        match self {
            Self::Own(place) => place,
            Self::Lent(lodging) => lodging.place(),
        }
    }

    /// Puts away a work tree in which no agent has worked.
    async fn give_up(self, ledger: &mut Ledger) {
        let was_made = matches!(&self, Self::Own(place) if place.is_fresh());
        self.close(Fate::Worthless, ledger).await;
        if was_made && ledger.work.preserved_worktree.is_none() {
            // The branch has gone with the worktree, or is as it was.
            ledger.work.branch = None;
        }
    }

    /// Puts the work tree away, if it is ours to put away.
    async fn close(self, fate: Fate, ledger: &mut Ledger) {
        if let Self::Own(place) = self
            && !place.is_in_place()
        {
            let top = place.top().to_path_buf();
            ledger.closed(&top, place.close(fate).await);
        }
    }

    /// Keeps the work tree as it is.
    fn keep(self, why: &str, ledger: &mut Ledger) {
        if let Self::Own(place) = self
            && !place.is_in_place()
        {
            let top = place.top().to_path_buf();
            ledger.closed(&top, place.keep(why));
        }
    }
}

impl Shelter {
    async fn make(job: &Job, tenure: &Tenure, ledger: &mut Ledger) -> Result<Self> {
        if let Some(lot) = job.settings.ground.lender()?
            && let Some(sandbox) = lot.sandbox()
        {
            return Ok(Self::Lent(Arc::clone(sandbox)));
        }
        let setup = job.setup();
        let mut listener = |notice| ledger.notice(notice);
        let teller = Teller::new(&mut listener);
        if let Tenure::Own(place) = tenure {
            setup.prepare(place, &teller).await?;
        }
        let opened = if matches!(tenure, Tenure::Own(_)) { Opened::Now } else { Opened::Earlier };
        let place = (tenure.place(), opened);
        let made = setup.make_sandbox(&*job.settings.sandbox, place, &teller).await?;
        ledger.note_sandbox(job.settings.sandbox.name(), &*made);
        Ok(Self::Own(made))
    }

    /// Closes the sandbox, if it is ours to close.
    async fn close(&self, job: &Job, ledger: &mut Ledger) {
        let Self::Own(handle) = self else { return };
        match job.setup().close(&*job.settings.sandbox, &**handle).await {
            None => ledger.note_sandbox_closed(&**handle),
            Some(trouble) => ledger.warn(trouble),
        }
    }
}
