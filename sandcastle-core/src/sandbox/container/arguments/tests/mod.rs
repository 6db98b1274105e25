//! What options become.

use std::path::PathBuf;

use super::*;
use crate::sandbox::container::{Docker, Podman};
use crate::sandbox::{Mount, container::mounts};

/// Returns the arguments that a provider makes a container with.
fn of(settings: &Settings, change: impl FnOnce(&mut SandboxRequest)) -> Vec<String> {
    let mut request = SandboxRequest::new("/srv");
    change(&mut request);
    let account = Account { uid: 7, gid: 8, userns: None };
    let (worktree, home) =
        (PathBuf::from("/srv"), settings.home.clone().unwrap_or_else(|| "/home/agent".into()));
    let inside = mounts::Inside { worktree: &worktree, home: Some(&home) };
    let binds = mounts::binds(settings, &request, inside).unwrap();
    let plan = Plan {
        settings,
        request: &request,
        name: "sandcastle-1",
        account: &account,
        worktree: &worktree,
        home: Some(&home),
        binds: &binds,
        gate: None,
    };
    plan.arguments().unwrap().into_iter().map(|arg| arg.into_string().unwrap()).collect()
}

fn docker(provider: &Docker) -> Vec<String> {
    of(&provider.settings, |_| {})
}

fn podman(provider: &Podman) -> Vec<String> {
    of(&provider.settings, |_| {})
}

fn has(args: &[String], wanted: &[&str]) {
    for wanted in wanted {
        assert!(args.iter().any(|arg| arg == wanted), "no {wanted} in {args:#?}");
    }
}

fn lacks(args: &[String], unwanted: &[&str]) {
    for unwanted in unwanted {
        assert!(!args.iter().any(|arg| arg.starts_with(unwanted)), "{unwanted} is in {args:#?}");
    }
}

#[test]
fn w_24b_and_case_176_what_is_not_asked_for_is_safe() {
    for args in [docker(&Docker::new("a")), podman(&Podman::new("a"))] {
        has(
            &args,
            &[
                "--rm",
                "--init",
                "--read-only",
                "--cap-drop=ALL",
                "--security-opt=no-new-privileges",
                "--pids-limit=8192",
                "--log-driver=none",
                "--pull=never",
                "--user=7:8",
                "--volume=/home/agent",
                "--env=HOME=/home/agent",
                "--workdir=/srv",
                "--entrypoint=sh",
            ],
        );
        lacks(
            &args,
            &["--privileged", "--cap-add", "--network", "--device", "--memory", "--cpus", "--userns"],
        );
        assert_eq!(args.last().unwrap(), "a");
    }
    has(&podman(&Podman::new("a")), &["--http-proxy=false"]);
}

#[test]
fn every_option_is_one_word() {
    let rows: &[(Docker, &[&str], &[&str])] = &[
        (Docker::new("a").join_network("none").join_network("n"), &["--network=none", "--network=n"], &[]),
        (Docker::new("a").network(Network::Off), &["--network=none"], &[]),
        (Docker::new("a").network(Network::On), &[], &["--network"]),
        (Docker::new("a").group("video"), &["--group-add=video"], &[]),
        (Docker::new("a").device("/dev/kvm"), &["--device=/dev/kvm"], &[]),
        (Docker::new("a").add_host("model.test", "10.0.0.1"), &["--add-host=model.test:10.0.0.1"], &[]),
        (Docker::new("a").label("team", "a b"), &["--label=team=a b"], &[]),
        (Docker::new("a").cpus(1.5), &["--cpus=1.5"], &[]),
        (Docker::new("a").memory(1 << 30), &["--memory=1073741824b"], &[]),
        (Docker::new("a").pids(0), &["--pids-limit=-1"], &[]),
        (Docker::new("a").init(Init::None), &[], &["--init"]),
        (Docker::new("a").capability("NET_ADMIN"), &["--cap-drop=ALL", "--cap-add=NET_ADMIN"], &[]),
        (Docker::new("a").new_privileges(), &[], &["--security-opt"]),
        (Docker::new("a").writable_root(), &[], &["--read-only", "--tmpfs", "--volume=/home"]),
        (
            Docker::new("a").home("/h"),
            &["--env=HOME=/h", "--tmpfs=/h:rw,exec,nosuid,nodev,mode=0700,uid=7,gid=8"],
            &[],
        ),
        (Docker::new("a").join_network("--privileged"), &["--network=--privileged"], &["--privileged"]),
    ];
    for (provider, wanted, unwanted) in rows {
        let args = docker(provider);
        has(&args, wanted);
        lacks(&args, unwanted);
    }
    has(&podman(&Podman::new("a").home("/h")), &["--tmpfs=/h:rw,exec,nosuid,nodev,mode=1777,notmpcopyup"]);
}

#[test]
fn case_151_a_read_only_mount_is_labelled() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = folder.path().display();
    let mount = Mount::new(folder.path(), Access::ReadOnly).at("/data");
    has(&podman(&Podman::new("a").mount(mount.clone())), &[&format!("--volume={path}:/data:ro,z")]);
    let private = Docker::new("a").mount(mount.clone()).selinux(Selinux::Private);
    has(&docker(&private), &[&format!("--volume={path}:/data:ro,Z")]);
    let off = Docker::new("a").mount(mount).selinux(Selinux::Off);
    has(&docker(&off), &[&format!("--volume={path}:/data:ro")]);
    has(&docker(&Docker::new("a").mount(Mount::new("/etc", Access::ReadWrite))), &["--volume=/etc:/etc"]);
}

#[test]
fn a_path_with_a_colon_is_written_at_length() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let odd = folder.path().join("a:b,c\"d");
    fs::create_dir(&odd).unwrap();
    let mount = Mount::new(&odd, Access::ReadOnly).at("/data");
    let wanted = format!(
        "--mount=type=bind,\"source={}\",\"target=/data\",readonly",
        odd.display().to_string().replace('"', "\"\"")
    );
    has(&docker(&Docker::new("a").mount(mount.clone())), &[&wanted]);
    has(&podman(&Podman::new("a").mount(mount)), &[&format!("{wanted},relabel=shared")]);
}

#[test]
fn what_is_hidden_is_empty_if_it_is_there() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    let hidden = |request: &mut SandboxRequest| {
        request.mounts = vec![Mount::new(folder.path(), Access::ReadWrite).at("/w")];
        request.hidden = ["/w/dir", "/w/file", "/w/none", "/elsewhere"].map(PathBuf::from).to_vec();
    };
    let args = of(&Docker::new("a").settings, hidden);
    has(&args, &["--tmpfs=/w/dir:ro,noexec,nosuid,nodev,size=4k,mode=0555"]);
    has(&args, &["--mount=type=bind,\"source=/dev/null\",\"target=/w/file\",readonly"]);
    assert!(!args.iter().any(|arg| arg.contains("/w/none") || arg.contains("elsewhere")), "{args:#?}");
    let args = of(&Podman::new("a").settings, hidden);
    has(&args, &["--tmpfs=/w/dir:ro,noexec,nosuid,nodev,size=4k,mode=0555,notmpcopyup"]);
}

#[test]
fn case_179_no_value_of_a_variable_stands_in_an_argument() {
    let args = docker(&Docker::new("a").env("TOKEN", "s3cret").client_env("OTHER", "s3cret"));
    assert!(!args.iter().any(|arg| arg.contains("s3cret")), "{args:#?}");
    assert!(
        !format!("{:?}", Docker::new("a").env("TOKEN", "s3cret").client_env("K", "s3cret"))
            .contains("s3cret")
    );
}

#[test]
fn numbers_that_no_engine_takes_are_refused() {
    for provider in [Docker::new("a").cpus(0.0), Docker::new("a").cpus(f64::NAN), Docker::new("a").memory(0)]
    {
        let request = SandboxRequest::new("/srv");
        let account = Account { uid: 7, gid: 8, userns: None };
        let plan = Plan {
            settings: &provider.settings,
            request: &request,
            name: "n",
            account: &account,
            worktree: Path::new("/srv"),
            home: None,
            binds: &[],
            gate: None,
        };
        assert_eq!(plan.arguments().unwrap_err().kind(), ErrorKind::InvalidOptions);
    }
}
