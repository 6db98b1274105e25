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
use super::setup::{Notice, SetUp, Teller, check_nobody_is_left, joined};
use super::shell::Bounds;
use super::site::Site;
use crate::config::ConfigDir;
use crate::error::Result;
use crate::git::Repository;
use crate::id::RunId;
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
        let plan = Plan::new(&repository, &site.strategy(), &RunId::generate(), site.name.as_deref()).await?;
        Self::with(site, sandbox, &cwd, repository, Arc::new(plan)).await
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
        Self::with(site, sandbox, &cwd, repository, Arc::clone(&lot.plan)).await
    }

    async fn with(
        site: Site,
        sandbox: Option<&dyn SandboxProvider>,
        cwd: &Path,
        repository: Repository,
        plan: Arc<Plan>,
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
            limits: Limits::new(Duration::MAX, Duration::MAX, None),
            cancel: CancellationToken::new(),
        })
    }

    /// Returns the folder to work in.
    pub(super) fn cwd_in(&self, top: &Path) -> PathBuf {
        joined(top, &self.below)
    }

    /// Makes the worktree ready, and says what went wrong without failing that.
    pub(super) async fn worktree(&self) -> Result<(Place, Vec<String>)> {
        check_nobody_is_left(&self.repository, &self.plan, 1)?;
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
    pub(super) async fn worktree_and_sandbox(&self, provider: &dyn SandboxProvider) -> Result<Made> {
        let (place, mut warnings) = self.worktree().await?;
        let mut listener = |notice| self.warn(&mut warnings, notice);
        let made = self.setup().make_sandbox(provider, &place, &Teller::new(&mut listener)).await;
        match made {
            Ok(sandbox) => Ok(Made { place: Arc::new(place), sandbox, warnings }),
            Err(error) => {
                place.close(Fate::Worthless).await;
                Err(self.secrets.mask_error(error))
            }
        }
    }

    /// Makes the sandbox in a worktree that is there.
    pub(super) async fn sandbox_in(&self, place: Arc<Place>, provider: &dyn SandboxProvider) -> Result<Made> {
        let mut warnings = Vec::new();
        let mut listener = |notice| self.warn(&mut warnings, notice);
        let made = self.setup().make_sandbox(provider, &place, &Teller::new(&mut listener)).await;
        let sandbox = made.map_err(|error| self.secrets.mask_error(error))?;
        Ok(Made { place, sandbox, warnings })
    }

    fn setup(&self) -> SetUp<'_> {
        SetUp {
            site: &self.site,
            repository: &self.repository,
            below: &self.below,
            environment: &self.environment,
            bounds: Bounds { timeouts: &self.site.timeouts, limits: &self.limits, cancel: &self.cancel },
        }
    }

    fn warn(&self, warnings: &mut Vec<String>, notice: Notice) {
        if let Notice::Warning(message) = notice {
            warnings.push(self.secrets.mask(&message).into_owned());
        }
    }
}
