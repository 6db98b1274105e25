//! The runs of a repository, for whoever wants to know what ran and what is left of it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::clean::{Cleaner, Unnamed};
use super::enclosures::{self, Brought};
use super::ground::{Force, Ground};
use super::note::Note;
use super::reader::{self, History};
use super::remains::{self, InUse};
use super::report::{Cleaned, CleanedItem, Recovery, RunReport};
use super::rescue::{self, Saved};
use super::shelf;
use super::workflow;
use super::writer::{self, JOURNAL};
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::RunId;
use crate::worktree::Lock;

/// How long somebody else who recovers or cleans is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How old the folder of a run without a journal is before it is taken for one that never began.
const UNBORN_FOR: Duration = Duration::from_secs(60);

/// The runs of one repository: those that go on, those that ended, and those that were killed.
///
/// Workflows without agents need no repository. Where there is none, these are the workflows that ran in the folder.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sandcastle_core::Result<()> {
/// use sandcastle_core::journal::Runs;
///
/// # let repository = sandcastle_core::testing::ScratchRepo::new().await?;
/// # let folder = repository.path();
/// for run in Runs::of(folder).await?.list().await? {
///     println!("{} {} {:?}", run.id, run.state.as_str(), run.left());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Runs {
    /// `None` outside of one, where nothing but workflows can have run.
    repository: Option<Repository>,
    config: ConfigDir,
    folder: PathBuf,
}

/// Says whether something is removed, or only named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removal {
    /// It is removed.
    Real,
    /// Only what would be removed is told.
    DryRun,
}

/// A run as it was read.
pub(super) type Read = (RunId, Result<History, String>);

impl Runs {
    /// Finds the runs of the repository that `cwd` is in; outside of one, those of workflows in this very folder.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when there is no such folder, [`ErrorKind::Git`] when it is in no repository and no
    /// workflow ran there.
    pub async fn of(cwd: impl AsRef<Path>) -> Result<Self> {
        let cwd = cwd.as_ref();
        // Every path that is found from here has to mean the same in every folder.
        let absolute = cwd.canonicalize().map_err(|error| {
            Error::new(ErrorKind::InvalidOptions, format!("look for runs in `{}`", cwd.display()))
                .with_source(error)
        })?;
        let (repository, config) = match Repository::discover(&absolute).await {
            Ok(repository) => {
                let config = ConfigDir::of(&repository);
                (Some(repository), config)
            }
            Err(error) => {
                let config = ConfigDir::in_folder(&absolute);
                if fs::symlink_metadata(config.place_of(Kept::Runs)).is_err() {
                    return Err(error);
                }
                (None, config)
            }
        };
        let folder = config.place_of(Kept::Runs);
        Ok(Self { repository, config, folder })
    }

    /// Returns the path of the folder `.sandcastle/` of the repository, which need not be there: that of the main work tree,
    /// also when `cwd` is in another. Outside of a repository it is the one in `cwd`.
    #[must_use]
    pub fn config_dir(&self) -> &Path {
        self.config.path()
    }

    /// Lists the runs, the newest first. What is left is looked up for those that ended and left something.
    ///
    /// A dropped future changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when their folder cannot be read, [`ErrorKind::Git`] when git fails.
    pub async fn list(&self) -> Result<Vec<RunReport>> {
        let all = self.of_agents()?;
        let in_use = in_use(&all);
        let mut ground = None;
        let mut reports = Vec::with_capacity(all.len());
        for (id, read) in all {
            reports.push(match read {
                Err(reason) => RunReport::unreadable(id, reason),
                Ok(history) if history.is_running() => remains::told(&history),
                Ok(history) if history.ended.is_some() && !history.keeps => remains::told(&history),
                Ok(history) => {
                    let ground = match &mut ground {
                        Some(ground) => ground,
                        none => none.insert(self.ground().await?),
                    };
                    remains::found(&history, ground, &in_use).await
                }
            });
        }
        reports.extend(self.workflows()?);
        reports.sort_unstable_by(|one, other| other.id.cmp(&one.id));
        Ok(reports)
    }

    /// Looks at one run.
    ///
    /// A dropped future changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when there is no such run, [`ErrorKind::Git`] when git fails.
    pub async fn show(&self, id: &RunId) -> Result<RunReport> {
        if let Some(report) = self.workflow(id) {
            return Ok(report);
        }
        let all = self.of_agents()?;
        let in_use = in_use(&all);
        match self.find(all, id)? {
            Err(reason) => Ok(RunReport::unreadable(id.clone(), reason)),
            Ok(history) => {
                let ground = self.ground().await?;
                Ok(remains::found(&history, &ground, &in_use).await)
            }
        }
    }

    /// Saves what a run left that is over: ends its processes, and makes a branch `sandcastle-rescue/<run>` of work that is
    /// in no other. Nothing is merged, and worktrees stay as they are. It can be repeated, also at the same time.
    ///
    /// A dropped future leaves what was done by then; repeat it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when there is no such run or it goes on, [`ErrorKind::Git`] when git fails,
    /// [`ErrorKind::Io`] when its journal cannot be read.
    pub async fn recover(&self, id: &RunId) -> Result<Recovery> {
        if self.workflow(id).is_some() {
            let message = format!("recover the run {id}: it is that of a workflow, which keeps what is done");
            return Err(Error::new(ErrorKind::InvalidOptions, message)
                .with_hint("resume it; the runs of its agents are recovered like any other"));
        }
        self.exists(&self.of_agents()?, id)?;
        let _lock = self.lock().await?;
        let all = self.read_all()?;
        let (in_use, alive) = (in_use(&all), alive(&all));
        let history = self.find(all, id)?.map_err(|reason| {
            Error::new(ErrorKind::Io, format!("recover the run {id}: {reason}"))
                .with_hint("look with `git worktree list` and `git branch` whether it left something")
        })?;
        if history.is_running() {
            return Err(goes_on("recover", &history));
        }
        let mut saved = Saved::default();
        rescue::end_processes(&history, &alive, &mut saved).await;
        for brought in enclosures::bring_back(&self.config, self.repository()?, Some(id), Removal::Real).await
        {
            saved.left_in_place.extend(match brought {
                Brought::Home(what, notes) => {
                    notes.into_iter().map(|note| format!("{what}: {note}")).collect()
                }
                Brought::Kept(what, why) => vec![format!("{what}: {why}")],
            });
        }
        let ground = self.ground().await?;
        rescue::save(&history, &ground, &in_use, &mut saved).await?;
        let mut run = remains::found(&history, &ground, &in_use).await;
        if !run.recovered {
            let tip = remains::in_place_tip(&history, &ground).map(|tip| tip.to_string());
            match writer::append(&self.folder.join(id.as_str()).join(JOURNAL), &Note::Recovered { tip }) {
                Ok(()) => run.recovered = true,
                Err(error) => run.warnings.push(format!("the recovery could not be noted: {error}")),
            }
        }
        let Saved { ended, rescued, left_in_place } = saved;
        Ok(Recovery { run, ended_processes: ended, rescued, left_in_place })
    }

    /// Removes what is provably worthless of all runs that are over, and says what it kept and why.
    ///
    /// A dropped future leaves what was done by then; repeat it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the journals cannot be read, [`ErrorKind::Git`] when git fails.
    pub async fn clean(&self, removal: Removal) -> Result<Cleaned> {
        self.sweep(None, removal, Force::No).await
    }

    /// As [`Runs::clean`], for one run.
    ///
    /// # Errors
    /// As there, and [`ErrorKind::InvalidOptions`] when there is no such run.
    pub async fn clean_one(&self, id: &RunId, removal: Removal) -> Result<Cleaned> {
        self.sweep(Some(id), removal, Force::No).await
    }

    /// Removes what a run left whether it is of value or not, and says what is lost. Branches that a person named stay.
    ///
    /// A dropped future leaves what was done by then; repeat it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when there is no such run or it goes on, otherwise as [`Runs::clean`].
    pub async fn remove(&self, id: &RunId, removal: Removal) -> Result<Cleaned> {
        self.sweep(Some(id), removal, Force::Yes).await
    }

    async fn sweep(&self, only: Option<&RunId>, removal: Removal, force: Force) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        let is_workflow = only.is_some_and(|id| self.workflow(id).is_some());
        if let Some(id) = only.filter(|_| !is_workflow) {
            self.exists(&self.of_agents()?, id)?;
        }
        let _lock = self.lock().await?;
        for report in self.workflows()?.filter(|report| only.is_none_or(|only| *only == report.id)) {
            let folder = self.folder.join(report.id.as_str());
            workflow::clean(&report, &folder, (removal, force), &mut cleaned)?;
        }
        if is_workflow || self.repository.is_none() {
            return Ok(cleaned);
        }
        let all = self.read_all()?;
        let (in_use, alive) = (in_use(&all), alive(&all));
        let unnamed = Unnamed::beside(&all, &self.folder);
        for brought in enclosures::bring_back(&self.config, self.repository()?, only, removal).await {
            let all_is_here = "all that was done in it is in the repository";
            let (list, what, why) = match brought {
                Brought::Home(what, _) => (&mut cleaned.removed, what, all_is_here.to_owned()),
                Brought::Kept(what, why) => (&mut cleaned.kept, what, why),
            };
            list.push(CleanedItem { run: only.cloned(), what, why });
        }
        for (id, read) in all {
            if only.is_some_and(|only| *only != id) {
                continue;
            }
            // Each run is looked at anew: what was removed for the one before is gone.
            let ground = self.ground().await?;
            let folder = self.folder.join(id.as_str());
            let mut cleaner =
                Cleaner { ground: &ground, removal, force, busy: HashMap::new(), cleaned: &mut cleaned };
            match read {
                Err(_) if is_unborn(&folder) => cleaner.forget(&id, &folder, "the run never began"),
                Err(reason) if force == Force::Yes => {
                    cleaner.forget(&id, &folder, &format!("it was named; it could not be read: {reason}"));
                }
                Err(reason) => cleaner.keep(&id, "the journal", &format!("it cannot be read: {reason}")),
                Ok(history) => {
                    if force == Force::Yes && history.is_running() {
                        return Err(goes_on("remove", &history));
                    }
                    if (force, removal) == (Force::Yes, Removal::Real) {
                        rescue::end_processes(&history, &alive, &mut Saved::default()).await;
                    }
                    let report = remains::found(&history, &ground, &in_use).await;
                    cleaner.clean(&history, &report, &folder).await?;
                }
            }
        }
        if only.is_none() {
            unnamed.clean(self.repository()?, removal, &mut cleaned).await?;
        }
        Ok(cleaned)
    }

    /// Returns the repository.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when there is none.
    fn repository(&self) -> Result<&Repository> {
        self.repository.as_ref().ok_or_else(|| {
            let folder = self.config.path().display();
            Error::new(
                ErrorKind::Git,
                format!("look after what agents left in `{folder}`: it is in no repository"),
            )
        })
    }

    async fn ground(&self) -> Result<Ground> {
        Ground::look(self.repository()?, &self.config).await
    }

    /// Reads all journals, the oldest first. Outside of a repository no agent ran, whatever lies there.
    fn of_agents(&self) -> Result<Vec<Read>> {
        if self.repository.is_some() { self.read_all() } else { Ok(Vec::new()) }
    }

    /// Looks at the run of a workflow; `None` if it is none of one.
    fn workflow(&self, id: &RunId) -> Option<RunReport> {
        let folder = self.folder.join(id.as_str());
        workflow::is_in(&folder).then(|| workflow::report(id, &folder))
    }

    /// Looks at the runs of all workflows, the oldest first.
    fn workflows(&self) -> Result<impl Iterator<Item = RunReport>> {
        Ok(self.ids()?.into_iter().filter_map(|id| self.workflow(&id)))
    }

    /// Reads all journals, the oldest first.
    fn read_all(&self) -> Result<Vec<Read>> {
        let ids = self.ids()?.into_iter().filter(|id| !workflow::is_in(&self.folder.join(id.as_str())));
        Ok(ids
            .map(|id| {
                let read = reader::read(&self.folder.join(id.as_str()), &id);
                (id, read)
            })
            // A run may be forgotten while its folder is read.
            .filter(|(id, read)| read.is_ok() || fs::symlink_metadata(self.folder.join(id.as_str())).is_ok())
            .collect())
    }

    /// Lists all runs, the oldest first.
    fn ids(&self) -> Result<Vec<RunId>> {
        let unreadable = |error: std::io::Error| {
            Error::new(ErrorKind::Io, format!("read the runs in `{}`: {error}", self.folder.display()))
                .with_source(error)
        };
        self.config.refuse_links(Kept::Runs).and_then(|()| shelf::ids(&self.folder)).map_err(unreadable)
    }

    fn find(&self, all: Vec<Read>, id: &RunId) -> Result<Result<History, String>> {
        self.exists(&all, id)?;
        all.into_iter().find(|(known, _)| known == id).map(|(_, read)| read).ok_or_else(|| self.unknown(id))
    }

    fn exists(&self, all: &[Read], id: &RunId) -> Result<()> {
        if all.iter().any(|(known, _)| known == id) { Ok(()) } else { Err(self.unknown(id)) }
    }

    fn unknown(&self, id: &RunId) -> Error {
        Error::new(
            ErrorKind::InvalidOptions,
            format!("find the run {id}: it has no journal in `{}`", self.folder.display()),
        )
        .with_hint("`sandcastle runs list` shows those that are there")
    }

    /// Waits until nobody else recovers or cleans.
    async fn lock(&self) -> Result<Lock> {
        Lock::of_care(&self.config, "look after runs", PATIENCE).await
    }
}

fn goes_on(what: &str, history: &History) -> Error {
    let (id, pid) = (&history.id, history.head.owner.pid);
    Error::new(
        ErrorKind::InvalidOptions,
        format!("{what} the run {id}: it goes on, driven by the process {pid}"),
    )
    .with_hint("wait for it, or end that process first")
}

/// Lists the worktrees of the runs that go on.
fn in_use(all: &[Read]) -> InUse {
    let running = all.iter().filter_map(|(_, read)| read.as_ref().ok()).filter(|run| run.is_running());
    let worktrees = running.flat_map(|run| run.worktrees.iter().map(|noted| (&noted.path, &run.id)));
    worktrees.map(|(path, id)| (remains::resolved(path), id.clone())).collect()
}

/// Lists the processes of the runs that go on.
fn alive(all: &[Read]) -> Vec<(u32, RunId)> {
    let running = all.iter().filter_map(|(_, read)| read.as_ref().ok()).filter(|run| run.is_running());
    running.map(|run| (run.head.owner.pid, run.id.clone())).collect()
}

/// Tells whether a run was killed before it had a journal, and so before it had anything.
pub(super) fn is_unborn(folder: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return false };
    let age = metadata.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
    metadata.is_dir()
        && fs::symlink_metadata(folder.join(JOURNAL)).is_err()
        && age.is_some_and(|age| age > UNBORN_FOR)
}
