//! Whole runs in containers, and what limits their network.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;

use rustix::process::Signal;
use sandcastle::sandbox::{Network, Output, SandboxHandle};
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{Logging, RunOptions};
use serde_json::json;

use super::desk::{Desk, done, played, shell};
use crate::sandboxes::loopback::server;
use crate::support::desk as command;
use crate::support::repository::Repository;

pub(in crate::sandboxes) async fn a_container_does_what_every_sandbox_does(desk: &Desk) {
    // The repository is this test's user's.
    if desk.is_of_another_user() {
        return;
    }
    sandcastle::testing::sandbox_conformance(desk.provider()).await.unwrap();
    assert_eq!(desk.containers(), Vec::<String>::new());
}

pub(in crate::sandboxes) async fn case_157_and_164_an_agent_inside_is_told_its_folder_and_commits_as_the_host(
    desk: &Desk,
) {
    if desk.is_of_another_user() {
        return;
    }
    let repository = Repository::new();
    repository.git(["config", "user.name", "Ada of the host"]);
    let script = Script::new().turn(
        Turn::new()
            .shell("pwd >where; printf %s \"$HOME\" >home")
            .write_file("made", "1")
            .commit("Inside")
            .say("done"),
    );
    let options = RunOptions::new(Scripted::new(script), desk.provider())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("go");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.text.as_str(), result.commits.len()), ("done", 1));
    assert_eq!(repository.git(["log", "-1", "--format=%s by %an"]).trim(), "Inside by Ada of the host");
    assert_eq!(repository.read("where").unwrap().trim(), repository.path().display().to_string());
    assert_eq!(repository.read("home").unwrap(), "/home/sandcastle");
    assert_eq!(desk.containers(), Vec::<String>::new());
}

pub(in crate::sandboxes) async fn case_174_an_interrupt_removes_the_container(desk: &Desk) {
    // The command uses the client that is on its `PATH`.
    if desk.is_of_another_user() {
        return;
    }
    let user = command::Desk::new().await;
    let script = command::one_turn(&json!([{ "shell": "trap '' INT TERM; echo on >marker; sleep 100" }]));
    let flags = ["--sandbox", desk.name(), "--image", desk.image(), "--container-home", "/home/sandcastle"];
    let args =
        [&["--prompt", "Go.", "--network", "off", "--branch-strategy", "merge-to-head"], &flags[..]].concat();
    for signal in [Signal::INT, Signal::TERM] {
        let variables = desk.client().into_iter().filter(|(key, _)| key != "HOME");
        let running = user.play(&script, &args).environment(variables).start();
        let repository = user.repository.path().display().to_string();
        let filter = format!("label=sandcastle.repository={repository}");
        let listed = || desk.says(&["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"]);
        while listed().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        running.signal(signal);
        let ended = running.finish();
        assert_eq!(ended.code(), Some(130), "{ended:?}");
        assert_eq!(listed(), "");
    }
}

async fn asked(sandbox: &dyn SandboxHandle, at: SocketAddr) -> String {
    let ask = format!(
        "printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | timeout 5 socat -t5 - TCP4:{at},connect-timeout=2 2>/dev/null | tail -n1"
    );
    done(sandbox, &ask).await.trim().to_owned()
}

pub(in crate::sandboxes) async fn a_network_is_limited_to_the_hosts_that_are_named(desk: &Desk) {
    if desk.is_of_another_user() {
        return;
    }
    let (named, other) = (server(), server());
    let provider = desk.provider_in(Network::limited([named.to_string(), "api.test".to_owned()]));
    let sandbox = provider.create(desk.request(0)).await.unwrap();
    for _ in 0..2 {
        assert_eq!(asked(&*sandbox, named).await, "host");
        assert_eq!(asked(&*sandbox, other).await, "");
    }
    let proxied = done(&*sandbox, "echo $HTTPS_PROXY; printf 'CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n' | socat -t5 - TCP4:127.0.0.1:3128 | head -n1").await;
    assert!(proxied.starts_with("http://127.0.0.1:3128\nHTTP/1.1 403"), "{proxied}");
    let warned = sandbox.bring_back().await.unwrap().join("");
    assert!(warned.contains("example.com"), "{warned}");
    sandbox.close().await.unwrap();

    let off = desk.provider_in(Network::Off).create(desk.request(0)).await.unwrap();
    assert_eq!(asked(&*off, named).await, "");
    let both = desk.provider_in(Network::Off).join_network("host").create(desk.request(0)).await.unwrap_err();
    assert_eq!(both.kind(), sandcastle::ErrorKind::InvalidOptions);
}

pub(in crate::sandboxes) async fn a_container_that_is_removed_from_outside_is_a_lost_connection(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let mut running = sandbox.start(shell("echo on; sleep 100")).await.unwrap();
    assert!(matches!(running.next().await.unwrap(), Output::Stdout(b"on\n")));
    desk.says(&["rm", "--force", &sandbox.id().unwrap()]);
    match running.next().await {
        // The engine may say how its first process ended before it is gone.
        Ok(Output::Exited(status)) => assert!(status.signal().is_some() || !status.success(), "{status}"),
        Ok(Output::Stdout(bytes)) => panic!("{bytes:?}"),
        Err(error) => assert!(error.to_string().contains("lost"), "{error}"),
        Ok(_) => {}
    }
    drop(running);
    assert!(sandbox.start(shell("true")).await.is_err());
    sandbox.close().await.unwrap();
    let next = desk.sandbox().await;
    assert!(played(&*next, shell("true")).await.1.success());
}
