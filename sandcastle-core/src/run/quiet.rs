//! Sees to it that nothing changes while the agent may only speak.
//!
//! Before such a process begins the work tree and the repository are looked at, and again when it is gone. What has changed is kept on
//! a branch, undone outside and inside, and told. Whether the program was told to change nothing is its agent's affair; here it does
//! not matter. Where it cannot be looked, the run goes on, and says so: an answer is no reason to throw the work away.

use std::time::Duration;

use super::event::RunEvent;
use super::iteration::Stage;
use super::ledger::Ledger;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Memory, Undone, Witness};
use crate::journal::RESCUE_BRANCHES;
use crate::sandbox::Sharing;

/// How many names one event lists.
const MAX_LISTED: usize = 100;
/// How many of them one warning names.
const MAX_NAMED: usize = 5;

/// What was there before a process that may only speak.
pub(super) struct Quiet<'a> {
    stage: &'a Stage<'a>,
    memory: Memory,
}

impl<'a> Quiet<'a> {
    /// Looks at what is there; `None`, with a warning, where that cannot be.
    ///
    /// # Errors
    /// When the run is cut off meanwhile.
    pub(super) async fn begin(stage: &'a Stage<'a>, ledger: &mut Ledger) -> Result<Option<Self>> {
        let limit = limit(stage);
        let repository = stage.workplace.repository();
        let ours = ConfigDir::of(repository);
        let looking = Memory::of(repository, ours.path(), limit);
        match stage.bounds.step("look at the work tree before the agent speaks", limit, looking).await {
            Ok(memory) => Ok(Some(Self { stage, memory })),
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::TotalTimeout) => {
                Err(error)
            }
            Err(error) => {
                ledger.warn(format!(
                    "what changes while the agent may only speak is not undone: failed to {error}"
                ));
                Ok(None)
            }
        }
    }

    /// Looks again, undoes what has changed, and tells it. A run that is cut off waits for this, within its limit.
    pub(super) async fn end(mut self, ledger: &mut Ledger) {
        let limit = limit(self.stage);
        let undone = match tokio::time::timeout(limit, self.undo(ledger)).await {
            Ok(undone) => undone,
            Err(_) => {
                Err(Error::new(ErrorKind::StepTimeout, format!("look at the work tree within {limit:?}")))
            }
        };
        // Whatever was known of commits may be wrong by now.
        ledger.playing();
        match undone {
            Ok(undone) => tell(undone, ledger),
            Err(error) => ledger.warn(format!(
                "what the agent changed while it may only speak was not undone: failed to {error}"
            )),
        }
    }

    async fn undo(&mut self, ledger: &mut Ledger) -> Result<Undone> {
        let Stage { workplace, sharing, run, .. } = self.stage;
        let witness = match sharing {
            Sharing::Host => Witness::Nobody,
            _ => Witness::Outside(workplace.repository().refs().await?),
        };
        for note in workplace.bring_back().await? {
            ledger.warn_once(note);
        }
        let undone = self.memory.restore(&format!("{RESCUE_BRANCHES}{run}"), &witness).await?;
        if !undone.is_nothing() {
            workplace.sandbox().bring_in().await?;
        }
        Ok(undone)
    }
}

fn limit(stage: &Stage<'_>) -> Duration {
    stage.bounds.timeouts.commit_collection
}

fn tell(undone: Undone, ledger: &mut Ledger) {
    let Undone { mut paths, mut refs, rescue, left } = undone;
    if !paths.is_empty() || !refs.is_empty() {
        let names = paths.iter().map(|path| path.display().to_string()).chain(refs.iter().cloned());
        let mut named: Vec<String> = names.take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = (paths.len() + refs.len()).saturating_sub(MAX_NAMED);
        named.extend((more > 0).then(|| format!("{more} more")));
        let kept = rescue.as_ref().map(|branch| format!("; it is kept on `{branch}`")).unwrap_or_default();
        paths.truncate(MAX_LISTED);
        refs.truncate(MAX_LISTED);
        ledger.tell(&RunEvent::ChangeUndone { paths, refs, rescue });
        ledger.warn(format!(
            "what the agent changed while it may only speak was undone: {}{kept}",
            named.join(", ")
        ));
    }
    let more = left.len().saturating_sub(MAX_NAMED);
    for what in left.into_iter().take(MAX_NAMED).chain((more > 0).then(|| format!("and {more} more"))) {
        ledger.warn(format!("not all that the agent changed while it may only speak was undone: {what}"));
    }
}
