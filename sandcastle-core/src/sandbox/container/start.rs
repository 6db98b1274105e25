//! How a container comes to be.
//!
//! One call of the client makes it, and its first process is the launcher that starts the first program: on the way of a run
//! to its agent stands nothing else but a look at the image, once in a process. Whatever ends the way before its end
//! removes the container, also one that the engine is just about to make.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use futures_util::future::join;

use super::account::{self, Account, Caller};
use super::arguments::Plan;
use super::gate::Gate;
use super::handle::Handle;
use super::image::Image;
use super::instance::Container;
use super::mounts::{self, Bind, Inside};
use super::orphans;
use super::probe::{self, Findings};
use super::refusal::refusal;
use super::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Afterwards, Line};
use crate::sandbox::proxy::forward;
use crate::sandbox::{SandboxHandle, SandboxRequest};

/// What is settled about a container before it is made.
pub(super) struct Site {
    pub(super) account: Account,
    /// Where programs begin, as they see it.
    pub(super) worktree: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) binds: Vec<Bind>,
    pub(super) gate: Option<Gate>,
}

/// Makes a container for what is asked for.
pub(super) async fn start(settings: &Settings, request: SandboxRequest) -> Result<Arc<dyn SandboxHandle>> {
    let image = Image::of(&settings.client, &settings.image).await?;
    let owner = account::owner_of(&request.worktree)?;
    let account = Account::choose(settings, &image, owner, Caller::own());
    // Whoever rebuilds the image is not to be told of the old one.
    account.check(settings, &image).inspect_err(|_| Image::forget(&settings.client, &settings.image))?;
    let home = settings.home.clone().or(image.home);
    let worktree = mounts::worktree_inside(&request);
    let mut binds = mounts::binds(settings, &request, Inside { worktree: &worktree, home: home.as_deref() })?;
    let gate = Gate::open(settings)?;
    binds.extend(gate.as_ref().map(|gate| gate.bind(settings.selinux)));
    let handle = make(settings, &request, Site { account, worktree, home, binds, gate }).await?;
    Ok(Arc::new(handle))
}

/// Makes a container for which everything is settled.
pub(super) async fn make(settings: &Settings, request: &SandboxRequest, site: Site) -> Result<Handle> {
    let Site { account, worktree, home, binds, gate } = site;
    let name = format!("sandcastle-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let plan = Plan {
        settings,
        request,
        name: &name,
        account: &account,
        worktree: &worktree,
        home: home.as_deref(),
        binds: &binds,
        gate: gate.as_ref(),
    };
    let container = Arc::new(Container::new(settings.client.clone(), name.clone(), plan.arguments()?));
    let parents = mounts::parents_of_files(&binds, home.as_deref());
    let mut making = Making::begin(settings, container, &probe::question(&parents))?;
    // Who was killed before us is cleaned up after meanwhile.
    let (ready, ()) = join(making.ready(settings), orphans::sweep(&settings.client)).await;
    let found = ready.and_then(|found| {
        let asked = Asked { settings, account: &account, request, parents: &parents };
        asked.check(&found).map(|()| found)
    });
    match found {
        Ok(found) => Ok(making.made(settings, worktree, found.home, &binds, gate)),
        Err(error) => {
            Image::forget(&settings.client, &settings.image);
            making.discard().await;
            Err(error)
        }
    }
}

/// A container that is being made. Dropping it removes the container.
struct Making {
    container: Arc<Container>,
    line: Option<Line>,
}

impl Making {
    fn begin(settings: &Settings, container: Arc<Container>, question: &str) -> Result<Self> {
        let shell = Arc::clone(&container);
        let line = Line::open(shell, Afterwards::Stay, question)
            .map_err(|error| settings.client.unusable(&error))?;
        Ok(Self { container, line: Some(line) })
    }

    /// Waits for the launcher, and returns what it found.
    async fn ready(&mut self, settings: &Settings) -> Result<Findings> {
        let what = format!("start a container from `{}`", settings.image);
        let engine = settings.client.engine();
        let Some(line) = &mut self.line else { return Err(refusal(engine, &what, "")) };
        match line.ready().await {
            Ok(said) => probe::answer(&said).ok_or_else(|| refusal(engine, &what, &said)),
            Err(error) => {
                let said = error.to_string();
                Err(refusal(engine, &what, said.split_once("): ").map_or(&said, |(_, said)| said)))
            }
        }
    }

    fn made(
        mut self,
        settings: &Settings,
        worktree: PathBuf,
        home: PathBuf,
        binds: &[Bind],
        gate: Option<Gate>,
    ) -> Handle {
        let home = settings.env.get("HOME").map_or(home, PathBuf::from);
        let bind = binds.iter().rev().find(|bind| bind.inside == home);
        Handle {
            container: Arc::clone(&self.container),
            line: Mutex::new(self.line.take()),
            worktree,
            home_here: bind.map(|bind| bind.host.clone()),
            home,
            env: gate.iter().flat_map(|_| forward::variables()).chain(settings.env.iter().cloned()).collect(),
            gate: Mutex::new(gate),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Removes what was made. Why it failed is told already.
    async fn discard(mut self) {
        let removed = self.container.remove().await;
        if let (Ok(()), Some(line)) = (removed, self.line.take()) {
            line.abandon();
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            self.container.discard_blocking(line);
        }
    }
}

/// What was asked for, to hold what was found against.
struct Asked<'a> {
    settings: &'a Settings,
    account: &'a Account,
    request: &'a SandboxRequest,
    parents: &'a [PathBuf],
}

impl Asked<'_> {
    /// Checks that an agent could work inside.
    fn check(&self, found: &Findings) -> Result<()> {
        let (image, uid) = (&self.settings.image, self.account.uid);
        let failed =
            |why: String| Error::new(ErrorKind::Sandbox, format!("start a container from `{image}`: {why}"));
        if !found.missing.is_empty() {
            let missing = found.missing.join("`, `");
            return Err(failed(format!("the image has no `{missing}`")).with_hint(format!(
                "install them in the image; `sandcastle {} build-image` makes one that has all",
                self.settings.client.engine()
            )));
        }
        if !found.writes_worktree {
            let tree = self.request.worktree.display();
            return Err(self.closed_worktree(failed(format!(
                "the user {uid} inside cannot write the work tree `{tree}`"
            ))));
        }
        if !found.writes_home {
            let home = found.home.display();
            let error = failed(format!("the user {uid} inside has no home that it can write: `{home}`"));
            let owner = account::owner_of(&self.request.worktree).map_or(uid, |(uid, _)| uid);
            return Err(self.account.with_remedies(error, self.settings, owner));
        }
        if let Some(parent) = found.closed.and_then(|number| self.parents.get(number)) {
            let (file, folder) = (parent.display(), parent.display());
            return Err(failed(format!(
                "a file is mounted into `{file}`, which is not in the image, so the folder is root's"
            ))
            .with_hint(format!(
                "mount the whole folder `{folder}`, or make it in the image as the agent's user"
            )));
        }
        Ok(())
    }

    /// Says what to do when the work tree is another's inside.
    fn closed_worktree(&self, error: Error) -> Error {
        let remedied = self.account.with_remedies(error, self.settings, 0);
        remedied.with_hint(
            "in an engine of an ordinary user (rootless Docker) that user is root inside: `.user(0, 0)`; and on a host with \
             SELinux the work tree needs a label, which `.selinux(Selinux::Off)` keeps it from getting",
        )
    }
}
