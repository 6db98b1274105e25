//! An engine, a repository with a linked worktree, and a provider that fits them.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use sandcastle::sandbox::{
    Access, BoxFuture, Docker, Mount, Network, Output, Podman, Program, Running, SandboxHandle,
    SandboxProvider, SandboxRequest, Sharing,
};

use crate::support::engines::{Engine, ordinary_user};
use crate::support::process::Invocation;
use crate::support::repository::Repository;

/// A provider of either engine, and the setters that tests use.
#[derive(Clone, Debug)]
pub(in crate::sandboxes) enum Provider {
    Docker(Docker),
    Podman(Podman),
}

macro_rules! with {
    ($self:ident, $provider:ident => $made:expr) => {
        match $self {
            Provider::Docker($provider) => Provider::Docker($made),
            Provider::Podman($provider) => Provider::Podman($made),
        }
    };
}

impl Provider {
    pub(super) fn env(self, key: &str, value: &str) -> Self {
        with!(self, provider => provider.env(key, value))
    }

    pub(super) fn client_env(self, key: &str, value: &str) -> Self {
        with!(self, provider => provider.client_env(key, value))
    }

    pub(super) fn program(self, path: impl Into<PathBuf>) -> Self {
        with!(self, provider => provider.program(path))
    }

    pub(super) fn user(self, uid: u32, gid: u32) -> Self {
        with!(self, provider => provider.user(uid, gid))
    }

    pub(super) fn userns(self, mode: &str) -> Self {
        with!(self, provider => provider.userns(mode))
    }

    pub(super) fn home(self, path: &str) -> Self {
        with!(self, provider => provider.home(path))
    }

    pub(super) fn mount(self, mount: Mount) -> Self {
        with!(self, provider => provider.mount(mount))
    }

    pub(super) fn join_network(self, name: &str) -> Self {
        with!(self, provider => provider.join_network(name))
    }

    pub(super) fn label(self, name: &str, value: &str) -> Self {
        with!(self, provider => provider.label(name, value))
    }

    fn network(self, network: Network) -> Self {
        with!(self, provider => provider.network(network))
    }

    fn inner(&self) -> &dyn SandboxProvider {
        match self {
            Self::Docker(provider) => provider,
            Self::Podman(provider) => provider,
        }
    }

    pub(super) async fn create(&self, request: SandboxRequest) -> sandcastle::Result<Arc<dyn SandboxHandle>> {
        self.inner().create(request).await
    }
}

impl SandboxProvider for Provider {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.inner().env()
    }

    fn sharing(&self) -> Sharing {
        self.inner().sharing()
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, sandcastle::Result<Arc<dyn SandboxHandle>>> {
        self.inner().create(request)
    }
}

/// Who the programs inside are, as this test's user makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// This test's user, for whom the image was not made.
    Own,
    /// The user of the image, for whom the engine's ordinary user stands.
    Mapped,
}

#[derive(Debug)]
pub(in crate::sandboxes) struct Desk {
    engine: Engine,
    provider: Provider,
    user: User,
    repository: Repository,
    /// The folder of the linked worktrees.
    trees: tempfile::TempDir,
    /// A label that only the containers of this test have.
    label: String,
}

impl Desk {
    #[track_caller]
    pub(in crate::sandboxes) fn docker() -> Option<Self> {
        let engine = Engine::docker()?;
        let provider = Provider::Docker(Docker::new(&engine.image));
        Some(Self::of(engine, provider, User::Own))
    }

    #[track_caller]
    pub(in crate::sandboxes) fn podman() -> Option<Self> {
        let engine = Engine::podman()?;
        let provider = Provider::Podman(Podman::new(&engine.image));
        Some(Self::of(engine, provider, User::Own))
    }

    #[track_caller]
    pub(in crate::sandboxes) fn podman_rootless() -> Option<Self> {
        let engine = Engine::podman_rootless()?;
        let provider = Provider::Podman(Podman::new(&engine.image));
        Some(Self::of(engine, provider, User::Mapped))
    }

    fn of(engine: Engine, provider: Provider, user: User) -> Self {
        let label = format!("{:016x}", unique());
        let (repository, trees) = (Repository::new(), tempfile::tempdir_in("/var/tmp").unwrap());
        let desk = Self { engine, provider, user, repository, trees, label };
        desk.tree(0);
        desk
    }

    /// A provider without a network whose programs are whom the work tree belongs to.
    pub(super) fn provider(&self) -> Provider {
        self.provider_on("none")
    }

    /// A provider with this image and network.
    pub(super) fn provider_from(&self, image: &str, network: Network) -> Provider {
        self.fitting(self.aimed_at(image)).network(network)
    }

    fn plain(&self) -> Provider {
        self.fitting(self.aimed_at(&self.engine.image))
    }

    fn fitting(&self, provider: Provider) -> Provider {
        match self.user {
            User::Own if rustix::process::geteuid().is_root() => provider.home("/home/sandcastle"),
            User::Own => provider,
            // This test is not the ordinary user whose engine it is.
            User::Mapped => provider.userns("keep-id:uid=1000,gid=1000").user(1000, 1000),
        }
    }

    fn aimed_at(&self, image: &str) -> Provider {
        let provider = match self.provider {
            Provider::Docker(_) => Provider::Docker(Docker::new(image)),
            Provider::Podman(_) => Provider::Podman(Podman::new(image)),
        };
        let provider = provider.label("sandcastle.test", &self.label).program(&self.engine.program);
        self.engine
            .environment
            .iter()
            .fold(provider, |provider, (key, value)| provider.client_env(key, value))
    }

    /// As [`Desk::provider`], in the home that the image has for them.
    pub(super) fn provider_of_image(&self) -> Provider {
        let provider = self.aimed_at(&self.engine.image).join_network("none");
        match self.user {
            User::Own => {
                self.give(self.trees.path(), (1000, 1000));
                provider.user(1000, 1000)
            }
            User::Mapped => provider.userns("keep-id:uid=1000,gid=1000").user(1000, 1000),
        }
    }

    /// Makes a linked worktree, on a branch of its own.
    pub(super) fn tree(&self, number: usize) -> PathBuf {
        let tree = self.trees.path().join(format!("tree{number}"));
        if !tree.exists() {
            self.take_back();
            let (path, branch) = (tree.to_str().unwrap(), format!("task{number}"));
            self.repository.git(["worktree", "add", "--quiet", "-b", &branch, path]);
        }
        if self.user == User::Mapped {
            self.give(self.repository.path(), ordinary_user());
            self.give(self.trees.path(), ordinary_user());
        }
        tree
    }

    fn give(&self, folder: &Path, (uid, gid): (u32, u32)) {
        let owner = format!("{uid}:{gid}");
        let given = Invocation::new("/bin/chown", folder).arguments(["-R", &owner, "."]).run();
        assert!(given.status.success(), "{given:?}");
    }

    /// Makes everything this test's user's again, so that git trusts it.
    fn take_back(&self) {
        let own = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        if self.user == User::Mapped {
            self.give(self.repository.path(), own);
            self.give(self.trees.path(), own);
        }
    }

    /// Asks for a sandbox around a worktree, with the repository's folder of git.
    pub(super) fn request(&self, number: usize) -> SandboxRequest {
        let mut request = SandboxRequest::new(self.tree(number));
        request.mounts.insert(0, Mount::new(self.repository.path().join(".git"), Access::ReadWrite));
        request
    }

    /// Makes a sandbox around the first worktree.
    pub(super) async fn sandbox(&self) -> Arc<dyn SandboxHandle> {
        self.provider().create(self.request(0)).await.unwrap()
    }

    /// Returns the subjects of the commits of a branch.
    pub(super) fn subjects(&self, number: usize) -> Vec<String> {
        self.take_back();
        let log = self.repository.git(["log", "--format=%s by %an", &format!("task{number}")]);
        log.lines().map(str::to_owned).collect()
    }

    /// Calls the engine and returns what it says.
    pub(super) fn says(&self, args: &[&str]) -> String {
        let finished = self.engine.invocation(args.iter().copied()).run();
        assert!(finished.status.success(), "{args:?}: {finished:?}");
        finished.stdout
    }

    /// Calls the engine and tells whether it went well.
    pub(super) fn does(&self, args: &[&str]) -> bool {
        self.engine.invocation(args.iter().copied()).run().status.success()
    }

    /// A provider that joins this network and no other.
    pub(super) fn provider_on(&self, network: &str) -> Provider {
        self.plain().join_network(network)
    }

    /// A provider with this network.
    pub(super) fn provider_in(&self, network: Network) -> Provider {
        self.plain().network(network)
    }

    /// Whether the engine is that of a user who is not this test's.
    pub(super) fn is_of_another_user(&self) -> bool {
        self.user == User::Mapped
    }

    /// The image that has an agent.
    pub(super) fn agent_image(&self) -> Option<String> {
        self.engine.agent_image()
    }

    pub(super) fn image(&self) -> &str {
        &self.engine.image
    }

    /// The variables of the engine's client.
    pub(super) fn client(&self) -> Vec<(String, String)> {
        self.engine.environment.clone().into_iter().collect()
    }

    /// The engine's client.
    pub(super) fn program(&self) -> &Path {
        &self.engine.program
    }

    /// The name of the provider.
    pub(super) fn name(&self) -> &'static str {
        match self.provider {
            Provider::Docker(_) => "docker",
            Provider::Podman(_) => "podman",
        }
    }

    /// Makes a container without the library, which says that it belongs to this owner.
    pub(super) fn run_apart(&self, name: &str, owner: &str, host: &str) {
        let labels = [("owner", owner), ("host", host), ("test", &self.label)];
        let labels = labels.map(|(key, value)| format!("--label=sandcastle.{key}={value}"));
        let mut args = vec!["run", "--detach", "--network=none", "--stop-timeout=0", "--name", name];
        args.extend(labels.iter().map(String::as_str));
        args.extend([&*self.engine.image, "sleep", "100"]);
        self.says(&args);
    }

    /// The containers of this test.
    pub(super) fn containers(&self) -> Vec<String> {
        let filter = format!("label=sandcastle.test={}", self.label);
        let said = self.says(&["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"]);
        said.lines().map(str::to_owned).collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for container in self.containers() {
            self.does(&["rm", "--force", "--volumes", &container]);
        }
    }
}

/// A number that no other test has.
pub(super) fn unique() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

pub(super) fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

/// Reads what a program prints until it ends.
pub(super) async fn read(running: &mut Running) -> (String, ExitStatus) {
    let mut all = Vec::new();
    loop {
        match running.next().await.unwrap() {
            Output::Stdout(bytes) => all.extend_from_slice(bytes),
            Output::Exited(status) => return (String::from_utf8(all).unwrap(), status),
            _ => unreachable!(),
        }
    }
}

/// Runs a program to its end and returns what it printed.
pub(super) async fn played(sandbox: &dyn SandboxHandle, program: Program) -> (String, ExitStatus) {
    let mut running = sandbox.start(program).await.unwrap();
    let read = read(&mut running).await;
    running.sweep().await;
    read
}

/// As [`played`], for one that has to end well.
pub(super) async fn done(sandbox: &dyn SandboxHandle, script: &str) -> String {
    let (said, status) = played(sandbox, shell(script)).await;
    assert!(status.success(), "{script}: {status} {said}");
    said
}
