//! What an engine says when it does not do what it was asked to, in one line and with what to do about it.

use super::engine::Engine;
use crate::error::{Error, ErrorKind};

/// The most of what an engine said that is repeated.
const MAX_SAID: usize = 400;

/// Says what to do, in the words of an engine.
type Hint = fn(Engine) -> String;

/// What to do about common refusals: all the words are in what was said, in lower case.
const HINTS: &[(&[&str], Hint)] = &[
    (&["permission denied", "docker.sock"], |_| not_allowed()),
    (&["permission denied", "daemon socket"], |_| not_allowed()),
    (&["permission denied", "docker daemon"], |_| not_allowed()),
    (&["cannot connect to the docker daemon"], |_| {
        "start Docker (`systemctl start docker`, or Docker Desktop), or aim at another one with `.host(url)`"
            .to_owned()
    }),
    (&["cannot connect to podman"], |_| {
        "start it: `podman machine init` once and `podman machine start`, or aim at another one with `.context(name)`"
            .to_owned()
    }),
    (&["no such image"], missing_image),
    (&["image not known"], missing_image),
    (&["docker-init", "not found"], |_| without_init()),
    (&["catatonit"], |_| without_init()),
    (&["container-init"], |_| without_init()),
    (&["cannot be connected to network endpoints"], |_| {
        "several networks at once need Docker 25 or newer".to_owned()
    }),
    (&["network", "not found"], |engine| format!("`{engine} network ls` shows the networks that are there")),
    (&["port is already allocated"], |_| "another container has that port".to_owned()),
    (&["mounts denied"], |_| sharing()),
    (&["is not shared from the host"], |_| sharing()),
    (&["selinux relabeling"], |_| {
        "a folder of the system gets no label: mount it with `.selinux(Selinux::Off)`, or mount a folder below it".to_owned()
    }),
    (&["no subuid ranges"], |_| rootless()),
    (&["subuid"], |_| rootless()),
    (&["newuidmap"], |_| rootless()),
    (&["keep-id", "unrecognized"], |_| old_podman()),
    (&["invalid user namespace mode"], |_| old_podman()),
    (&["socat does not listen"], |_| {
        "install `socat` in the image: it brings programs to the proxy that limits the network".to_owned()
    }),
    (&["slirp4netns"], |_| network_program()),
    (&["pasta"], |_| network_program()),
    (&["setrlimit"], |_| "lower `default_ulimits` in containers.conf to what this host allows".to_owned()),
    (&["cgroup"], |_| {
        "this host lets nobody limit resources: leave out `.cpus(..)` and `.memory(..)`, and set `.pids(0)`"
            .to_owned()
    }),
    (&["chdir to cwd"], |_| {
        "the user inside may not enter the work tree: name the one that owns it with `.user(uid, gid)`"
            .to_owned()
    }),
    (&["\"sh\"", "not found"], |_| "the image needs a POSIX `sh` in its `PATH`".to_owned()),
    (&["`sh`", "not found"], |_| "the image needs a POSIX `sh` in its `PATH`".to_owned()),
    (&["no space left on device"], |engine| format!("`{engine} system df` shows what takes the space")),
    (&["unknown flag"], |_| "the client is too old: Docker 20.10 or Podman 4.3 is needed".to_owned()),
];

/// Describes a refusal; `what` completes "failed to ...".
pub(super) fn refusal(engine: Engine, what: &str, said: &str) -> Error {
    let line = line(said);
    let lower = said.to_lowercase();
    let error = Error::new(ErrorKind::Sandbox, format!("{what}: {engine} says: {line}"));
    let applies = |words: &&[&str]| words.iter().all(|word| lower.contains(word));
    match HINTS.iter().find(|(words, _)| applies(words)) {
        Some((_, hint)) => error.with_hint(hint(engine)),
        None => error,
    }
}

/// Returns what matters of what an engine said, in one line.
pub(super) fn line(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_noise =
        |line: &&str| line.starts_with("time=") || line.starts_with("Run '") || line.starts_with("See '");
    // What comes first is told first: it is what the others follow from.
    let told = lines().filter(|line| !is_noise(line)).find(|line| line.contains("rror"));
    let told = told.or_else(|| lines().find(|line| !is_noise(line))).or_else(|| lines().next_back());
    let told = told.unwrap_or("nothing");
    let clean = told.chars().filter(|c| !c.is_control()).collect::<String>();
    match clean.char_indices().nth(MAX_SAID) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean,
    }
}

/// Tells whether an engine says that there is no such container.
pub(super) fn is_no_container(said: &str) -> bool {
    let lower = said.to_lowercase();
    lower.contains("no such container") || lower.contains("no container with name or id")
}

/// Tells whether an engine says that a container is being removed already.
pub(super) fn is_going(said: &str) -> bool {
    let lower = said.to_lowercase();
    lower.contains("already in progress") || lower.contains("marked for removal")
}

fn missing_image(engine: Engine) -> String {
    format!("build it with `sandcastle {engine} build-image`, or fetch it with `{engine} pull`")
}

fn not_allowed() -> String {
    "this user may not use the socket of Docker: join the group `docker` (it can do whatever root can), or use Podman".to_owned()
}

fn without_init() -> String {
    "the engine has no init program: install it (`tini` or `catatonit`), or do without by `.init(Init::None)`"
        .to_owned()
}

fn sharing() -> String {
    "share the folder with the virtual machine of the engine, in its settings (Resources, File sharing)"
        .to_owned()
}

fn rootless() -> String {
    "an ordinary user needs entries in /etc/subuid and /etc/subgid (`usermod --add-subuids 100000-165535 --add-subgids \
     100000-165535 USER`) and the package `uidmap`"
        .to_owned()
}

fn network_program() -> String {
    "install `passt` or `slirp4netns` for the network of an ordinary user, or do without by `.join_network(\"none\")`".to_owned()
}

fn old_podman() -> String {
    "Podman 4.3 or newer can choose the user inside; with an older one say `.userns(\"keep-id\")`".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(engine: Engine, said: &str) -> String {
        refusal(engine, "start a container", said).hints().join("|")
    }

    #[test]
    fn w_44_what_is_wrong_is_told_apart() {
        let said = "permission denied while trying to connect to the Docker daemon socket at unix:///x/docker.sock: Get ...";
        assert!(hints(Engine::Docker, said).contains("group `docker`"));
        let said = "Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?";
        assert!(hints(Engine::Docker, said).contains("start Docker"));
        let said = "Error response from daemon: no such image: a:b: No such image: a:b";
        assert!(hints(Engine::Docker, said).contains("sandcastle docker build-image"));
        let said = "Error: a:b: image not known";
        assert!(hints(Engine::Podman, said).contains("sandcastle podman build-image"));
        let said = "docker: Error response from daemon: network nonet not found\n\nRun 'docker run --help'";
        assert!(hints(Engine::Docker, said).contains("docker network ls"));
        let said =
            "docker: Error response from daemon: exec: \"docker-init\": executable file not found in $PATH";
        assert!(hints(Engine::Docker, said).contains("Init::None"));
        assert_eq!(hints(Engine::Docker, "the moon is full"), "");
    }

    #[test]
    fn what_was_said_is_one_bounded_line_without_noise() {
        let said = "time=\"x\" level=warning msg=\"/ is not shared\"\nError: one\nError: two\n";
        assert_eq!(line(said), "Error: one");
        assert_eq!(line("docker: \x1b[31mbad\n\nRun 'docker run --help'\n"), "docker: [31mbad");
        assert_eq!(line(""), "nothing");
        assert_eq!(line(&"ä".repeat(1000)).chars().count(), MAX_SAID + 3);
    }
}
