//! What a sandbox is made for: the work tree, what of this host is seen inside, and who owns it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::id::{CommitId, RunId};
use crate::process::ProcessIdentity;

/// The label that says which process a sandbox belongs to.
pub(crate) const OWNER_LABEL: &str = "sandcastle.owner";
/// The label that says on which machine, and in which view of its processes, that process is.
pub(crate) const HOST_LABEL: &str = "sandcastle.host";

/// What is known of the process that a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It lives.
    Alive,
    /// It is gone.
    Gone,
    /// It is on another machine, or where its number means another process.
    Unknown,
}

/// Looks for the process that two labels name; `None` if they name none.
pub(crate) fn life(owner: &str, host: &str) -> Option<Life> {
    let mut parts = owner.splitn(3, '/');
    let (pid, start, boot) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    let start = if start.is_empty() { None } else { Some(start.parse().ok()?) };
    let boot = Some(boot.to_owned()).filter(|boot| !boot.is_empty());
    let process = ProcessIdentity { pid, start, boot };
    Some(match own_host() {
        own if own != host => Life::Unknown,
        _ if process.is_alive() => Life::Alive,
        _ => Life::Gone,
    })
}

/// Names this machine and the view of its processes that this process has, in a way that tells nobody its number.
fn own_host() -> String {
    let machine = std::fs::read("/etc/machine-id").ok().filter(|id| !id.is_empty());
    let machine = machine.unwrap_or_else(|| rustix::system::uname().nodename().to_bytes().to_vec());
    let view = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (machine, view).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Says what a sandbox is made for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SandboxRequest {
    /// The work tree on this host that the agent works in.
    pub worktree: PathBuf,
    /// What of this host is to be seen inside, for providers whose [`sharing`](super::SandboxProvider::sharing) is
    /// [`Sharing::Mounts`]: the work tree, and what git needs. Later ones lie over earlier ones.
    pub mounts: Vec<Mount>,
    /// What must not be seen inside though it lies below a mount: a folder is to be empty there, and a file too. They lie
    /// over all mounts.
    pub hidden: Vec<PathBuf>,
    /// Files and folders of the work tree that git does not carry and that are wanted inside all the same, relative to it: what
    /// shares no files has to bring them in.
    pub copies: Vec<PathBuf>,
    /// Commits of the repository that are wanted inside besides those of the branch: what shares no files has to bring them in.
    pub commits: Vec<CommitId>,
    /// Whom the sandbox belongs to.
    pub owner: Owner,
}

/// A file or folder of this host that is seen inside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mount {
    /// Its absolute path on this host.
    pub host: PathBuf,
    /// Its absolute path inside.
    pub inside: PathBuf,
    /// What may be done with it inside.
    pub access: Access,
}

/// Says what may be done with a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can be read.
    ReadOnly,
    /// It can be changed.
    ReadWrite,
}

/// Says what the programs inside a sandbox see of this host's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharing {
    /// Everything, as it is.
    Host,
    /// The [mounts](SandboxRequest::mounts) of the request, at the paths that it says. Git works in a folder of the sandbox's
    /// own there, and what is committed is brought into the repository afterwards.
    Mounts,
    /// Nothing. The sandbox brings work in and out by itself, see [`SandboxHandle::bring_back`](super::SandboxHandle::bring_back).
    Nothing,
}

/// Says whom a sandbox belongs to, so that it can be found and removed when its owner was killed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Owner {
    /// The run, if the sandbox is made for one.
    pub run: Option<RunId>,
    /// The root of the repository that is worked on.
    pub repository: PathBuf,
    /// The process that drives it.
    pub(crate) process: ProcessIdentity,
}

impl SandboxRequest {
    /// Asks for a sandbox around `worktree`, which is seen inside at its own path.
    #[must_use]
    pub fn new(worktree: impl Into<PathBuf>) -> Self {
        let worktree = worktree.into();
        Self {
            mounts: vec![Mount::new(&worktree, Access::ReadWrite)],
            hidden: Vec::new(),
            copies: Vec::new(),
            commits: Vec::new(),
            owner: Owner::new(&worktree),
            worktree,
        }
    }
}

impl Mount {
    /// Shows `path` at the path that it has on this host.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        let host = path.into();
        Self { inside: host.clone(), host, access }
    }

    /// Shows it at another path inside.
    #[must_use]
    pub fn at(mut self, inside: impl Into<PathBuf>) -> Self {
        self.inside = inside.into();
        self
    }
}

impl Owner {
    /// Makes this process the owner.
    #[must_use]
    pub fn new(repository: impl AsRef<Path>) -> Self {
        Self { run: None, repository: repository.as_ref().to_path_buf(), process: ProcessIdentity::own() }
    }

    /// Returns what a sandbox that can outlive this process is to be labelled with, so that it is found and removed once this
    /// process is gone: names and values that are plain text.
    ///
    /// `sandcastle.owner` is there always and says which process it is, and `sandcastle.host` on which machine; the others are
    /// for people.
    #[must_use]
    pub fn labels(&self) -> Vec<(&'static str, String)> {
        let ProcessIdentity { pid, start, boot } = &self.process;
        let start = start.map(|ticks| ticks.to_string()).unwrap_or_default();
        let owner = format!("{pid}/{start}/{}", boot.as_deref().unwrap_or_default());
        let mut labels = vec![(OWNER_LABEL, owner), (HOST_LABEL, own_host())];
        labels.push(("sandcastle.repository", self.repository.display().to_string()));
        labels.extend(self.run.as_ref().map(|run| ("sandcastle.run", run.to_string())));
        labels
    }
}
