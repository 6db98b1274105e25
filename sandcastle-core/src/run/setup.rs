//! How a work tree and a sandbox are made ready, for runs and for the handles that lend them.
//!
//! The order is always: copies, hooks of the worktree, the sandbox, hooks of the sandbox.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::Instrument;

use super::environment::Environment;
use super::event::RunEvent;
use super::shell::{Bounds, Shell};
use super::site::Site;
use super::trace;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Original, Repository};
use crate::id::RunId;
use crate::journal::{Orphans, orphans_in};
use crate::sandbox::{Mounted, SandboxHandle, SandboxProvider, SandboxRequest, Sharing};
use crate::worktree::{self, Place, Plan};

/// What it takes to make a place ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetUp<'a> {
    pub(super) site: &'a Site,
    /// The paths that were copied into the work tree when it was made.
    pub(super) copied: &'a [PathBuf],
    /// The repository as the caller sees it.
    pub(super) repository: &'a Repository,
    /// The folder to work in, seen from the root of a work tree.
    pub(super) below: &'a Path,
    pub(super) environment: &'a Environment,
    pub(super) bounds: Bounds<'a>,
    /// The run that it is made for.
    pub(super) run: &'a RunId,
}

/// Says when a place was made ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// Just now: what was seen then is so still, unless a hook has changed it.
    Now,
    /// Some time ago; runs may have worked in it since.
    Earlier,
}

/// Something to tell of the making.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Notice {
    /// Something happened.
    Event(RunEvent),
    /// Something went wrong without failing the run.
    Warning(String),
}

/// Who is told; steps that go on at the same time tell it in turn.
pub(super) struct Teller<'a>(Mutex<&'a mut (dyn FnMut(Notice) + Send)>);

impl<'a> Teller<'a> {
    pub(super) fn new(listener: &'a mut (dyn FnMut(Notice) + Send)) -> Self {
        Self(Mutex::new(listener))
    }

    pub(super) fn tell(&self, event: RunEvent) {
        self.notice(Notice::Event(event));
    }

    pub(super) fn warn(&self, message: String) {
        self.notice(Notice::Warning(message));
    }

    fn notice(&self, notice: Notice) {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))(notice);
    }
}

impl SetUp<'_> {
    /// Puts into a work tree what has to be there before a sandbox is.
    pub(super) async fn prepare(&self, place: &Place, teller: &Teller<'_>) -> Result<()> {
        if !self.site.copy.is_empty() {
            let from = self.repository.top()?;
            let limit = self.bounds.timeouts.copy_to_worktree;
            let copying = worktree::copy_into(from, place.top(), &self.site.copy, limit);
            let notes = self.bounds.apply("copy files into the worktree", copying).await?;
            notes.into_iter().for_each(|note| teller.warn(note));
        }
        let cwd = joined(place.top(), self.below);
        if !cwd.is_dir() {
            let (below, branch) = (self.below.display(), place.branch());
            let message = format!("work in `{below}`: the branch `{branch}` has no such folder");
            return Err(Error::new(ErrorKind::Worktree, message)
                .with_hint("commit the folder, or begin in one that the branch has"));
        }
        let shell = Shell { sandbox: None, cwd: &cwd, env: self.environment.on_host() };
        self.site.hooks.run_worktree_ready(&shell, &self.bounds, teller).await
    }

    /// Makes a sandbox around a work tree that is ready, and runs the hooks for that.
    pub(super) async fn make_sandbox(
        &self,
        provider: &dyn SandboxProvider,
        (place, opened): (&Place, Opened),
        teller: &Teller<'_>,
    ) -> Result<Arc<dyn SandboxHandle>> {
        let sandbox = self.start(provider, place, opened).await?;
        let host_cwd = joined(place.top(), self.below);
        let inside = joined(sandbox.worktree(), self.below);
        let host = Shell { sandbox: None, cwd: &host_cwd, env: self.environment.on_host() };
        let shell = Shell { sandbox: Some(&*sandbox), cwd: &inside, env: self.environment.variables() };
        let hooks = async {
            self.site.hooks.run_sandbox_ready(&host, &shell, &self.bounds, teller).await?;
            if self.site.hooks.has_any() { self.level(&*sandbox, teller).await } else { Ok(()) }
        };
        match hooks.await {
            Ok(()) => Ok(sandbox),
            Err(error) => match self.close(provider, &*sandbox).await {
                None => Err(error),
                Some(trouble) => Err(error.with_hint(trouble)),
            },
        }
    }

    async fn start(
        &self,
        provider: &dyn SandboxProvider,
        place: &Place,
        opened: Opened,
    ) -> Result<Arc<dyn SandboxHandle>> {
        let what = format!("make the sandbox `{}`", provider.name());
        let limit = self.bounds.timeouts.sandbox_start;
        let mut request = SandboxRequest::new(place.top());
        request.owner.repository = self.repository.home().to_path_buf();
        request.owner.run = Some(self.run.clone());
        let copied = self.copied.iter().filter(|path| is_there(place.top(), path));
        request.copies = copied.cloned().collect();
        request.commits.clone_from(&self.site.commits);
        let making = async {
            match provider.sharing() {
                Sharing::Mounts => {
                    // A hook may have committed since the place was made.
                    let seen = (opened == Opened::Now && !self.site.hooks.has_any()).then(|| place.seen());
                    let original = Original { repository: place.repository(), seen, run: Some(self.run) };
                    Mounted::make(provider, original, request).await
                }
                _ => provider.create(request).await,
            }
        };
        self.bounds.step(&what, limit, making.instrument(trace::sandbox(provider.name()))).await
    }

    /// Has the host and the sandbox see the same: what was done inside is brought back, then what was done here is brought in.
    pub(super) async fn level(&self, sandbox: &dyn SandboxHandle, teller: &Teller<'_>) -> Result<()> {
        let limit = self.bounds.timeouts.sandbox_start;
        let levelling = async {
            sandbox.bring_back().await?.into_iter().for_each(|note| teller.warn(note));
            sandbox.bring_in().await
        };
        self.bounds.step("bring the sandbox up to date", limit, levelling).await
    }

    /// Closes a sandbox, and says what is wrong if it does not close: what was brought by then outweighs that.
    pub(super) async fn close(
        &self,
        provider: &dyn SandboxProvider,
        sandbox: &dyn SandboxHandle,
    ) -> Option<String> {
        let limit = self.bounds.timeouts.sandbox_close;
        let name = provider.name();
        match tokio::time::timeout(limit, sandbox.close()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("the sandbox `{name}` was not closed: {error}")),
            Err(_) => Some(format!("the sandbox `{name}` was not closed within {limit:?}")),
        }
    }
}

/// Checks that no program of a run that was killed is still at work in the worktree of an iteration.
///
/// # Errors
/// [`ErrorKind::BranchBusy`] when one is.
pub(super) fn check_nobody_is_left(repository: &Repository, plan: &Plan, number: u32) -> Result<()> {
    let there = plan.folder(number).filter(|folder| folder.exists());
    let Some(orphans) = there.and_then(|folder| orphans_in(&ConfigDir::of(repository), &folder)) else {
        return Ok(());
    };
    let Orphans { run, processes } = orphans;
    let branch = plan.source_branch(number);
    let pids: Vec<String> = processes.iter().map(ToString::to_string).collect();
    let message = format!(
        "work on `{branch}`: programs of the run {run}, which was killed, still do (process {})",
        pids.join(", ")
    );
    Err(Error::new(ErrorKind::BranchBusy, message)
        .with_hint(format!("`sandcastle runs recover {run}` ends them and says what they left")))
}

/// Tells whether a copy is still in a work tree that agents have worked in, and not where a link leads.
fn is_there(top: &Path, copy: &Path) -> bool {
    let mut folders = copy.ancestors().skip(1).map(|folder| top.join(folder));
    folders.all(|folder| folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()))
        && top.join(copy).symlink_metadata().is_ok()
}

/// Joins without a slash at the end where nothing is joined.
pub(super) fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_path_buf() } else { folder.join(below) }
}
