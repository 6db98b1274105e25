//! The container engines, the SSH hosts and bubblewrap that tests of sandboxes run on, as plain programs with the
//! variables that they need.
//!
//! `.ci/engines up` starts them and `.ci/engines env` prints where they are, as variables that begin with
//! `SANDCASTLE_TEST_`. What is not there is spoken of, and skipped or required, as [`requirement`](super::requirement)
//! has it. Nothing is started here, and the user's own engines, contexts and hosts are not looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::process::{Finished, Invocation};
use super::requirement::{absent, variable};

const DEFAULT_IMAGE: &str = "sandcastle-test:local";
const DEFAULT_AGENT_IMAGE: &str = "sandcastle-agent:local";

/// Beside the folder of a program: what engines start is in those of the system's administrator, too.
const SYSTEM_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// A container engine that answers and has the test image.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    /// The path of its command-line program.
    pub(crate) program: PathBuf,
    /// The whole environment of that program.
    pub(crate) environment: BTreeMap<String, String>,
    /// An image with a shell, git and a user `agent`, and no entrypoint.
    pub(crate) image: String,
    /// How `SANDCASTLE_REQUIRE` calls the engine.
    requirement: &'static str,
}

impl Engine {
    /// Finds a Docker engine of this machine, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn docker() -> Option<Self> {
        available("docker", Self::of_docker("docker", "SANDCASTLE_TEST_DOCKER_HOST"))
    }

    /// Finds a Docker engine that shares neither network nor files with this machine, or says that the test is
    /// skipped.
    #[track_caller]
    pub(crate) fn remote_docker() -> Option<Self> {
        available("remote", Self::of_docker("remote", "SANDCASTLE_TEST_REMOTE_DOCKER_HOST"))
    }

    /// Finds Podman with this user's own rights, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn podman() -> Option<Self> {
        available("podman", Self::of_podman())
    }

    /// Finds the Podman of an ordinary user, [`ordinary_user`], or says that the test is skipped.
    ///
    /// The program changes to that user and to that user's home, so it has rights to those files alone.
    #[track_caller]
    pub(crate) fn podman_rootless() -> Option<Self> {
        available("podman-rootless", Self::of_rootless_podman())
    }

    /// The image that has Claude Code, too; without it the test is skipped.
    #[track_caller]
    pub(crate) fn agent_image(&self) -> Option<String> {
        let image = variable("SANDCASTLE_TEST_AGENT_IMAGE").unwrap_or_else(|| DEFAULT_AGENT_IMAGE.to_owned());
        available(self.requirement, self.has(&image).map(|()| image))
    }

    /// The program with these arguments, in a folder that says nothing.
    pub(crate) fn invocation<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Invocation {
        Invocation::new(&self.program, Path::new("/"))
            .environment(self.environment.clone())
            .arguments(arguments)
    }

    fn of_docker(requirement: &'static str, variable: &str) -> Result<Self, String> {
        let host = told(variable)?;
        Self::checked(requirement, on_path("docker")?, [("DOCKER_HOST", host)])
    }

    fn of_podman() -> Result<Self, String> {
        let own = ["CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"];
        let variables: Vec<_> = own
            .into_iter()
            .map(|name| told(&format!("SANDCASTLE_TEST_{name}")).map(|value| (name, value)))
            .collect::<Result<_, _>>()?;
        Self::checked("podman", on_path("podman")?, variables)
    }

    fn of_rootless_podman() -> Result<Self, String> {
        Self::checked("podman-rootless", told("SANDCASTLE_TEST_PODMAN_ROOTLESS")?.into(), [])
    }

    fn checked(
        requirement: &'static str,
        program: PathBuf,
        variables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Self, String> {
        // Clients look for contexts and credentials at home.
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home-of-engines");
        let mut environment = BTreeMap::from([
            ("HOME".to_owned(), home.display().to_string()),
            ("PATH".to_owned(), path_beside(&program)),
        ]);
        environment.extend(variables.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let image = variable("SANDCASTLE_TEST_IMAGE").unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
        let engine = Self { program, environment, image, requirement };
        engine.has(&engine.image)?;
        Ok(engine)
    }

    /// Whether the engine answers, and has that image.
    fn has(&self, image: &str) -> Result<(), String> {
        let answer = self.invocation(["image", "inspect", "--format", "{{.Id}}", image]).run();
        match answer.code() {
            Some(0) => Ok(()),
            _ => Err(format!(
                "it has no image `{image}`: {}; `.ci/engines up` starts and fills it",
                answer.stderr.trim()
            )),
        }
    }
}

/// A user of an SSH server on the loopback address, which sees neither this checkout nor the machine's `/tmp`.
#[derive(Clone, Debug)]
pub(crate) struct Ssh {
    /// The path of the client.
    pub(crate) program: PathBuf,
    /// The client's configuration, in place of the user's: `ssh -F CONFIG HOST`.
    pub(crate) config: PathBuf,
    /// The name of the host, with the user, in that configuration.
    pub(crate) host: &'static str,
}

impl Ssh {
    /// Finds the server for its root, or says that the test is skipped.
    #[track_caller]
    pub(crate) fn root() -> Option<Self> {
        available("ssh", Self::of("sandcastle-root"))
    }

    /// Finds the server for an ordinary user, [`ordinary_user`], or says that the test is skipped.
    #[track_caller]
    pub(crate) fn user() -> Option<Self> {
        available("ssh", Self::of("sandcastle-user"))
    }

    /// Runs a command line of the server's shell.
    pub(crate) fn run(&self, command: &str) -> Finished {
        let config = self.config.display().to_string();
        Invocation::new(&self.program, Path::new("/"))
            .environment([("PATH".to_owned(), path_beside(&self.program))])
            .arguments(["-F", config.as_str(), self.host, command])
            .run()
    }

    /// The folder on the server that holds the agent programs, as `.ci/install-agents` lays them out; without it the
    /// test is skipped.
    #[track_caller]
    pub(crate) fn agents_folder(&self) -> Option<PathBuf> {
        available(
            "ssh",
            told("SANDCASTLE_TEST_SSH_AGENTS").and_then(|folder| self.holds_agents(folder.into())),
        )
    }

    fn holds_agents(&self, folder: PathBuf) -> Result<PathBuf, String> {
        let modules = folder.join("node_modules");
        match self.run(&format!("test -d '{}'", modules.display())).code() {
            Some(0) => Ok(folder),
            _ => Err(format!("the server has no `{}`; `.ci/install-agents` installs it", modules.display())),
        }
    }

    fn of(host: &'static str) -> Result<Self, String> {
        let config = told("SANDCASTLE_TEST_SSH_CONFIG")?.into();
        let server = Self { program: on_path("ssh")?, config, host };
        let answer = server.run("true");
        match answer.code() {
            Some(0) => Ok(server),
            _ => {
                Err(format!("`{host}` does not answer: {}; `.ci/engines up` starts it", answer.stderr.trim()))
            }
        }
    }
}

/// Finds bubblewrap where it may make namespaces, or says that the test is skipped.
#[track_caller]
pub(crate) fn bubblewrap() -> Option<PathBuf> {
    available("bubblewrap", on_path("bwrap").and_then(works_as_bubblewrap))
}

/// The user and group numbers of the ordinary user whom [`Engine::podman_rootless`] and [`Ssh::user`] are about.
pub(crate) fn ordinary_user() -> (u32, u32) {
    let owner = told("SANDCASTLE_TEST_OWNER").expect("told together with the engines");
    let numbers = owner.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
    numbers.unwrap_or_else(|| panic!("`SANDCASTLE_TEST_OWNER={owner}` is not `UID:GID`"))
}

fn works_as_bubblewrap(program: PathBuf) -> Result<PathBuf, String> {
    let tried = Invocation::new(&program, Path::new("/"))
        .arguments(["--unshare-all", "--ro-bind", "/", "/", "/bin/true"])
        .run();
    match tried.code() {
        Some(0) => Ok(program),
        _ => Err(format!("it makes no sandbox here: {}", tried.stderr.trim())),
    }
}

#[track_caller]
fn available<T>(name: &str, found: Result<T, String>) -> Option<T> {
    found.map_err(|why| absent(name, &why)).ok()
}

fn told(name: &str) -> Result<String, String> {
    variable(name).ok_or_else(|| format!("`{name}` is not set; see `.ci/engines`"))
}

fn on_path(program: &str) -> Result<PathBuf, String> {
    let path = variable("PATH").unwrap_or_default();
    let found = path.split(':').chain(SYSTEM_PATH.split(':')).map(|folder| Path::new(folder).join(program));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| format!("there is no program `{program}`"))
}

fn path_beside(program: &Path) -> String {
    let folder = program.parent().expect("a path from the root");
    format!("{}:{SYSTEM_PATH}", folder.display())
}
