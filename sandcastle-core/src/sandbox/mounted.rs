//! A sandbox that sees what is mounted for it, together with the git folder that stands in for the repository's own.
//!
//! Providers mount; what is mounted, and what becomes of the work that is done there, is decided here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Access, BoxFuture, Mount, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest};
use crate::config::{ConfigDir, Kept};
use crate::error::Result;
use crate::git::{Inhabitant, Original, Seen, StandIn};
use crate::process::ProcessIdentity;

/// What is kept in the folder `.sandcastle/` and is nobody's business inside.
const PRIVATE: &[Kept] =
    &[Kept::Logs, Kept::Runs, Kept::Worktrees, Kept::Locks, Kept::Sandboxes, Kept::Sessions];

/// A sandbox, and the git folder that was made for it.
#[derive(Debug)]
pub(crate) struct Mounted {
    inner: Arc<dyn SandboxHandle>,
    stand_in: StandIn,
}

impl Mounted {
    /// Has `provider` make a sandbox around the work tree that `original` is aimed at.
    ///
    /// # Errors
    /// As those of the provider; also when the git folder cannot be made. Nothing is left behind then.
    ///
    /// # Cancel safety
    /// A dropped future leaves nothing behind but what the provider leaves.
    pub(crate) async fn make(
        provider: &dyn SandboxProvider,
        original: Original<'_>,
        mut request: SandboxRequest,
    ) -> Result<Arc<dyn SandboxHandle>> {
        let config = ConfigDir::of(original.repository);
        let ProcessIdentity { pid, .. } = request.owner.process;
        let name = format!("{pid}-{:08x}", fastrand::u32(..));
        let folder = config.make(Kept::Sandboxes)?.join(name);
        let mut unborn = Unborn(Some(&folder));
        let stand_in = StandIn::make(&folder, original).await?;
        request.mounts.extend(stand_in.seen().into_iter().map(mount));
        request.hidden = hidden(&config, &request.worktree)?;
        let inner = provider.create(request).await?;
        if let Some(id) = inner.id() {
            stand_in.give_to(Inhabitant { provider: provider.name().to_owned(), id }).await?;
        }
        unborn.0 = None;
        Ok(Arc::new(Self { inner, stand_in }))
    }
}

/// A git folder that goes unless a sandbox gets it.
struct Unborn<'a>(Option<&'a Path>);

impl Drop for Unborn<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.0 {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn mount(Seen { host, inside, writable }: Seen) -> Mount {
    let access = if writable { Access::ReadWrite } else { Access::ReadOnly };
    Mount::new(host, access).at(inside)
}

/// Lists what is of other runs, or secret, in a work tree that holds the configuration folder: the user's own.
///
/// Folders that are not there yet are made: runs that begin later will use them.
fn hidden(config: &ConfigDir, worktree: &Path) -> Result<Vec<PathBuf>> {
    if !config.path().starts_with(worktree) {
        return Ok(Vec::new());
    }
    for kept in PRIVATE {
        config.make(*kept)?;
    }
    let folders = PRIVATE.iter().map(|kept| config.place_of(*kept));
    let all = folders.chain([config.path().join(".env")]);
    Ok(all.filter(|path| path.exists() && !path.is_symlink()).collect())
}

impl SandboxHandle for Mounted {
    fn worktree(&self) -> &Path {
        self.inner.worktree()
    }

    fn home(&self) -> Option<PathBuf> {
        self.inner.home()
    }

    fn home_inside(&self) -> Option<PathBuf> {
        self.inner.home_inside()
    }

    fn id(&self) -> Option<String> {
        self.inner.id()
    }

    fn bring_in(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.stand_in.follow())
    }

    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        Box::pin(async {
            let mut notes = self.inner.bring_back().await?;
            notes.extend(self.stand_in.bring_back().await?);
            Ok(notes)
        })
    }

    fn start(&self, program: Program) -> BoxFuture<'_, std::io::Result<Running>> {
        self.inner.start(program)
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            self.inner.close().await?;
            // Nobody is inside any more; whoever was may have committed to the last.
            self.stand_in.bring_back().await?;
            self.stand_in.remove()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_runs_will_write_is_hidden_before_they_do() {
        let tree = tempfile::tempdir().unwrap();
        let config = ConfigDir::in_folder(tree.path());
        let hidden_now = hidden(&config, tree.path()).unwrap();
        let expected: Vec<PathBuf> = PRIVATE.iter().map(|kept| config.place_of(*kept)).collect();
        assert_eq!(hidden_now, expected);
        std::fs::write(config.path().join(".env"), "KEY=1\n").unwrap();
        assert!(hidden(&config, tree.path()).unwrap().contains(&config.path().join(".env")));
        // A worktree elsewhere does not hold the folder, and nothing is made for it.
        let other = tempfile::tempdir().unwrap();
        assert_eq!(hidden(&ConfigDir::in_folder(other.path()), tree.path()).unwrap(), Vec::<PathBuf>::new());
        assert!(!other.path().join(".sandcastle").exists());
    }
}
