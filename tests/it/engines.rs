//! The engines and hosts that tests of sandboxes run on, by their own programs alone: each does what those tests take
//! for granted.
//!
//! They need `.ci/engines up`; nothing of ours is at work here.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use crate::support::engines::{Engine, Ssh, bubblewrap, ordinary_user};
use crate::support::process::{Finished, Invocation};

/// Prints the user, then that git knows a repository which it makes, then what the first process is.
const IN_CONTAINER: &str =
    "id -u && cd && git init -q && git rev-parse --is-inside-work-tree && cat /proc/1/comm";

#[track_caller]
fn lines(finished: &Finished) -> Vec<&str> {
    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    finished.stdout.lines().collect()
}

/// A folder that the ordinary user owns, where that user may get to.
fn folder_of_ordinary_user() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (uid, gid) = ordinary_user();
    chown(folder.path(), Some(uid), Some(gid)).expect("engines are started by root");
    folder
}

#[test]
fn docker_runs_a_command() {
    let Some(docker) = Engine::docker() else { return };
    let ran = docker.invocation(["run", "--rm", "--init", &docker.image, "sh", "-c", IN_CONTAINER]).run();
    assert_eq!(lines(&ran), ["1000", "true", "docker-init"]);
}

#[test]
fn docker_sees_the_files_of_the_machine() {
    let Some(docker) = Engine::docker() else { return };
    assert_eq!(lines(&list_mounted(&docker)), ["from-the-machine"]);
}

#[test]
fn podman_runs_a_command() {
    let Some(podman) = Engine::podman() else { return };
    let ran = podman.invocation(["run", "--rm", "--init", &podman.image, "sh", "-c", IN_CONTAINER]).run();
    assert_eq!(lines(&ran), ["1000", "true", "podman-init"]);
}

#[test]
fn podman_without_root_writes_as_its_user() {
    let Some(podman) = Engine::podman_rootless() else { return };
    let folder = folder_of_ordinary_user();
    let (uid, gid) = ordinary_user();
    let (volume, user) = (format!("{}:/work", folder.path().display()), format!("{uid}:{gid}"));
    let options = ["run", "--rm", "--userns=keep-id", "--user", &user, "--volume", &volume];
    let command = ["sh", "-c", "echo written >/work/file && id -u"];
    let ran = podman.invocation(options.into_iter().chain([podman.image.as_str()]).chain(command)).run();
    assert_eq!(lines(&ran), [uid.to_string()]);
    let file = folder.path().join("file");
    assert_eq!(fs::metadata(&file).expect("the container wrote it").uid(), uid);
    assert_eq!(fs::read_to_string(file).expect("the container wrote it"), "written\n");
}

#[test]
fn remote_docker_is_another_machine() {
    let Some(docker) = Engine::remote_docker() else { return };
    let told = docker.invocation(["info", "--format", "{{.Name}}"]).run();
    assert_eq!(lines(&told), ["sandcastle-remote"]);
    // An engine makes the folder that it is to mount and does not find.
    assert_eq!(lines(&list_mounted(&docker)), [""; 0]);
}

/// Lists a folder of this machine that has a file, from inside a container of an engine that is asked to mount it.
fn list_mounted(docker: &Engine) -> Finished {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("from-the-machine"), "").expect("a file in a new folder");
    let volume = format!("{}:/work", folder.path().display());
    docker.invocation(["run", "--rm", "--user=0", "--volume", &volume, &docker.image, "ls", "/work"]).run()
}

#[test]
fn images_for_agents_have_claude_code() {
    for engine in [Engine::docker(), Engine::podman()].into_iter().flatten() {
        let Some(image) = engine.agent_image() else { continue };
        let ran = engine.invocation(["run", "--rm", "--network=none", &image, "claude", "--version"]).run();
        assert!(lines(&ran)[0].ends_with("(Claude Code)"), "{ran:#?}");
    }
}

#[test]
fn ssh_runs_a_command_as_root() {
    let Some(host) = Ssh::root() else { return };
    assert_eq!(lines(&host.run("id -u; git --version >/dev/null && echo git")), ["0", "git"]);
    assert_eq!(host.run("exit 3").code(), Some(3));
}

#[test]
fn ssh_runs_a_command_as_an_ordinary_user() {
    let Some(host) = Ssh::user() else { return };
    let (uid, _) = ordinary_user();
    assert_eq!(lines(&host.run("id -u; cd && test -w . && echo home")), [uid.to_string().as_str(), "home"]);
}

#[test]
fn ssh_leads_to_another_machine() {
    let Some(host) = Ssh::root() else { return };
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    for here in [&checkout.join("Cargo.toml"), folder.path()] {
        assert!(here.exists());
        let there = host.run(&format!("test -e '{}'", here.display()));
        assert_eq!(there.code(), Some(1), "{} is seen: {there:#?}", here.display());
    }
}

#[test]
fn ssh_hosts_have_claude_code() {
    let Some(host) = Ssh::user() else { return };
    let Some(folder) = host.agents_folder() else { return };
    let modules = folder.join("node_modules/@anthropic-ai");
    let ran = host.run(&format!("{}/claude-code-linux-*/claude --version </dev/null", modules.display()));
    assert!(lines(&ran)[0].ends_with("(Claude Code)"), "{ran:#?}");
}

#[test]
fn bubblewrap_keeps_writes_where_they_may_be() {
    let Some(program) = bubblewrap() else { return };
    let (open, shut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (open, shut) = (open.path().display().to_string(), shut.path().display().to_string());
    let script = format!("echo written >'{open}/file'; echo written >'{shut}/file'");
    let ran = Invocation::new(program, Path::new("/"))
        .arguments(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--bind", &open, &open])
        .arguments(["/bin/sh", "-c", &script])
        .run();
    assert_ne!(ran.code(), Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("Read-only file system"), "{ran:#?}");
    assert_eq!(fs::read_to_string(Path::new(&open).join("file")).unwrap(), "written\n");
    assert!(!Path::new(&shut).join("file").exists());
}
