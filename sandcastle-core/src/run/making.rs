//! The making of a worktree, and of a sandbox, that several runs will use.
//!
//! It passes the checks that a run passes, as far as they are about the place, and makes it ready in the same way.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::deadline::Limits;
use super::entry;
use super::environment::Environment;
use super::ground::Lot;
use super::setup::{Notice, Opened, SetUp, Teller, check_nobody_is_left, joined};
use super::shell::Bounds;
use super::site::Site;
use crate::config::ConfigDir;
use crate::error::{Error, Result};
use crate::git::Repository;
use crate::id::RunId;
use crate::journal::{self, Begun, Journal, Note, Origin, Outcome};
use crate::sandbox::{SandboxHandle, SandboxProvider};
use crate::secret::Secrets;
use crate::worktree::{Fate, Place, Plan};

/// A place that has passed the checks and is to be made.
#[derive(Debug)]
pub(super) struct Making {
    pub(super) site: Site,
    repository: Repository,
    below: PathBuf,
    pub(super) environment: Environment,
    secrets: Secrets,
    pub(super) plan: Arc<Plan>,
    run: RunId,
    /// What is made is written down here; there is none where nothing is made, or where it belongs to somebody else.
    pub(super) journal: Option<Journal>,
    limits: Limits,
    cancel: CancellationToken,
}

/// A place that was made, with its sandbox.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) place: Arc<Place>,
    pub(super) sandbox: Arc<dyn SandboxHandle>,
    pub(super) warnings: Vec<String>,
}

impl Making {
    /// Checks what is asked for.
    pub(super) async fn new(site: Site, sandbox: Option<&dyn SandboxProvider>) -> Result<Self> {
        entry::check_own_site(&site)?;
        let cwd = entry::check_folder(site.cwd.as_deref())?;
        let repository = Repository::discover(&cwd).await?;
        let run = RunId::generate();
        let plan = Plan::new(&repository, &site.strategy(), &run, site.name.as_deref()).await?;
        let mut making = Self::with(site, sandbox, &cwd, repository, Arc::new(plan), run.clone()).await?;
        making.plan.reserve().await?;
        check_nobody_is_left(&making.repository, &making.plan, 1)?;
        if let Some(worktree) = making.plan.folder(1) {
            making.begin_journal(&run, &cwd, sandbox, worktree)?;
        }
        Ok(making)
    }

    /// Writes down what is about to be made, so that it is found when this process is killed.
    fn begin_journal(
        &mut self,
        run: &RunId,
        cwd: &Path,
        sandbox: Option<&dyn SandboxProvider>,
        worktree: PathBuf,
    ) -> Result<()> {
        let begun = Begun {
            name: self.site.name.as_deref().map(|name| self.secrets.mask(name).into_owned()),
            agent: "none".to_owned(),
            model: None,
            sandbox: sandbox.map_or("none", SandboxProvider::name).to_owned(),
            strategy: self.plan.strategy().to_owned(),
            cwd: cwd.into(),
            repository: self.repository.top().unwrap_or(self.repository.home()).into(),
            source_branch: Some(self.plan.source_branch(1).to_string()),
            target_branch: self.plan.merges().then(|| self.plan.target_branch().to_string()),
        };
        let journal = Journal::begin(&ConfigDir::of(&self.repository), run, &begun)?;
        self.environment.mark(journal.mark().variable());
        let origin = if worktree.exists() { Origin::Reused } else { Origin::Fresh };
        let branch = self.plan.source_branch(1).to_string();
        let base = self.plan.base().map(ToString::to_string);
        // That it cannot be written is told with the next note of a run.
        let _ = journal.note(&Note::Worktree { path: worktree.into(), branch, base, origin });
        self.journal = Some(journal);
        Ok(())
    }

    /// Ends the journal of something that could not be made.
    fn not_made(&mut self, error: &Error) {
        let Some(journal) = self.journal.take() else { return };
        if let Some(path) = self.plan.folder(1).filter(|path| !path.exists()) {
            let _ = journal.note(&Note::WorktreeClosed { path: path.into(), fate: journal::Fate::Removed });
        }
        let _ = journal.end(Outcome::Failed, Some(error.to_string()));
    }

    /// Checks what is asked for in a worktree that is there.
    pub(super) async fn in_lot(
        mut site: Site,
        sandbox: Option<&dyn SandboxProvider>,
        lot: &Lot,
    ) -> Result<Self> {
        entry::check_lent_site(&site, lot)?;
        site.inherit(&lot.site);
        lot.place()?;
        let cwd = entry::check_folder(site.cwd.as_deref().or(Some(&lot.cwd)))?;
        entry::check_lot(lot, &cwd)?;
        let repository = Repository::discover(&cwd).await?;
        Self::with(site, sandbox, &cwd, repository, Arc::clone(&lot.plan), RunId::generate()).await
    }

    async fn with(
        site: Site,
        sandbox: Option<&dyn SandboxProvider>,
        cwd: &Path,
        repository: Repository,
        plan: Arc<Plan>,
        run: RunId,
    ) -> Result<Self> {
        let mut environment = Environment::of(&ConfigDir::of(&repository), sandbox, None, &site.env)?;
        if sandbox.is_some() && !environment.knows_the_author() {
            environment.identify(&repository.identity().await?);
        }
        let secrets = environment.secrets(&site.secrets)?;
        site.hooks.check_secrets(&secrets)?;
        Ok(Self {
            below: entry::below(&repository, cwd),
            site,
            repository,
            environment,
            secrets,
            plan,
            run,
            journal: None,
            limits: Limits::new(Duration::MAX, Duration::MAX, None),
            cancel: CancellationToken::new(),
        })
    }

    /// Returns the folder to work in.
    pub(super) fn cwd_in(&self, top: &Path) -> PathBuf {
        joined(top, &self.below)
    }

    /// Makes the worktree ready, and says what went wrong without failing that.
    pub(super) async fn worktree(&mut self) -> Result<(Place, Vec<String>)> {
        match self.make_worktree().await {
            Ok(made) => Ok(made),
            Err(error) => {
                self.not_made(&error);
                Err(error)
            }
        }
    }

    async fn make_worktree(&self) -> Result<(Place, Vec<String>)> {
        let mut place = self.plan.open(1, self.site.timeouts.worktree).await?;
        let mut warnings = place.notes();
        let mut listener = |notice| self.warn(&mut warnings, notice);
        let prepared = self.setup().prepare(&place, &Teller::new(&mut listener)).await;
        match prepared {
            Ok(()) => Ok((place, warnings)),
            Err(error) => {
                place.close(Fate::Worthless).await;
                Err(self.secrets.mask_error(error))
            }
        }
    }

    /// Makes both.
    pub(super) async fn worktree_and_sandbox(&mut self, provider: &dyn SandboxProvider) -> Result<Made> {
        let (place, mut warnings) = self.worktree().await?;
        let mut listener = |notice| self.warn(&mut warnings, notice);
        let made =
            self.setup().make_sandbox(provider, (&place, Opened::Now), &Teller::new(&mut listener)).await;
        match made {
            Ok(sandbox) => Ok(Made { place: Arc::new(place), sandbox, warnings }),
            Err(error) => {
                place.close(Fate::Worthless).await;
                let error = self.secrets.mask_error(error);
                self.not_made(&error);
                Err(error)
            }
        }
    }

    /// Makes the sandbox in a worktree that is there.
    pub(super) async fn sandbox_in(&self, place: Arc<Place>, provider: &dyn SandboxProvider) -> Result<Made> {
        let mut warnings = Vec::new();
        let mut listener = |notice| self.warn(&mut warnings, notice);
        let made =
            self.setup().make_sandbox(provider, (&place, Opened::Earlier), &Teller::new(&mut listener)).await;
        let sandbox = made.map_err(|error| self.secrets.mask_error(error))?;
        Ok(Made { place, sandbox, warnings })
    }

    fn setup(&self) -> SetUp<'_> {
        SetUp {
            site: &self.site,
            copied: &self.site.copy,
            repository: &self.repository,
            below: &self.below,
            environment: &self.environment,
            bounds: Bounds { timeouts: &self.site.timeouts, limits: &self.limits, cancel: &self.cancel },
            run: &self.run,
        }
    }

    fn warn(&self, warnings: &mut Vec<String>, notice: Notice) {
        if let Notice::Warning(message) = notice {
            warnings.push(self.secrets.mask(&message).into_owned());
        }
    }
}
