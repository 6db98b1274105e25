//! Whole runs in a sandbox of bubblewrap.

use std::path::Path;

use rustix::process::Signal;
use sandcastle::sandbox::Bubblewrap;
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{Logging, RunOptions};
use serde_json::json;

use super::{Room, listing};
use crate::support::desk::{Desk, json_of, one_turn, wait_for};
use crate::support::process::Invocation;
use crate::support::processes::UniqueSleep;
use crate::support::repository::Repository;

#[tokio::test]
async fn a_scripted_agent_answers_from_inside() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let repository = Repository::new();
    let script =
        Script::new().turn(Turn::new().shell("id -u >who; ls /proc | grep -c '^[0-9]' >seen").say("done"));
    let options = RunOptions::new(Scripted::new(script), Bubblewrap::new())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("go");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.text, "done");
    let seen = repository.read("seen").unwrap();
    assert!(seen.trim().parse::<u32>().unwrap() < 10, "{seen}");
}

#[tokio::test]
async fn case_162_bubblewrap_is_found_wherever_this_process_is() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let desk = Desk::new().await;
    let script = desk.file("script.json", one_turn(&json!([{ "say": "done" }])).to_string());
    let repository = desk.repository.path().to_str().unwrap();
    let play = ["--format", "json", "run", "--agent", "scripted", "--model", script.to_str().unwrap()];
    let args = [&play[..], &["--prompt", "go", "--sandbox", "bubblewrap", "--cwd", repository]].concat();
    for folder in ["/", "/usr"] {
        // A search path that is relative must not be what it is found by either.
        for path in ["/usr/bin:/bin", "usr/bin:bin:/usr/bin:/bin"] {
            let home = desk.home.path().display().to_string();
            let ended = Invocation::new(env!("CARGO_BIN_EXE_sandcastle"), Path::new(folder))
                .arguments(args.clone())
                .environment(
                    [("PATH", path.to_owned()), ("HOME", home)].map(|(key, value)| (key.to_owned(), value)),
                )
                .run();
            assert_eq!(ended.code(), Some(0), "{folder}, {path}: {}{}", ended.stdout, ended.stderr);
        }
    }
}

#[tokio::test]
async fn case_157_a_commit_from_inside_has_the_author_of_this_host() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let repository = Repository::new();
    repository.git(["config", "user.name", "Ada of the host"]);
    let script = Script::new().turn(Turn::new().write_file("made", "1").commit("Inside").say("done"));
    let options = RunOptions::new(Scripted::new(script), Bubblewrap::new())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("go");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.commits.len(), 1);
    assert_eq!(repository.git(["log", "-1", "--format=%an"]).trim(), "Ada of the host");
}

#[tokio::test]
async fn the_command_runs_an_agent_in_a_sandbox_whose_network_it_limits() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let desk = Desk::new().await;
    let turn = json!([{ "shell": "echo $HTTPS_PROXY $HOME >seen" }, { "say": "done" }]);
    let limited = ["--prompt", "go", "--sandbox", "bubblewrap", "--allow-host", "api.test"];
    let ended = desk.play(&one_turn(&turn), &limited).run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(json_of(&ended)["text"], "done");
    let seen = std::fs::read_to_string(desk.repository.path().join("seen")).unwrap();
    assert_eq!(seen, "http://127.0.0.1:3128 /home/agent\n");
    for wrong in
        [["--sandbox", "none", "--network", "off"], ["--sandbox", "bubblewrap", "--allow-host", "http://x/"]]
    {
        let ended = desk.play(&one_turn(&turn), &[&["--prompt", "go"], wrong.as_slice()].concat()).run();
        assert_eq!(ended.code(), Some(2), "{wrong:?}: {}{}", ended.stdout, ended.stderr);
    }
}

#[tokio::test]
async fn a_command_that_is_killed_leaves_no_process_of_its_sandbox() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let (desk, sleep) = (Desk::new().await, UniqueSleep::new());
    let marker = desk.repository.path().join("marker");
    // In a session of its own and with an empty environment it is found by no mark.
    let hidden = format!("setsid env -i sleep {0} & touch marker; sleep {0}", sleep.seconds());
    let limited = ["--prompt", "go", "--sandbox", "bubblewrap", "--allow-host", "api.test"];
    let running = desk.play(&one_turn(&json!([{ "shell": hidden }])), &limited).start();
    wait_for(&marker).await;
    sleep.wait_for(2).await;
    running.signal(Signal::KILL);
    assert_eq!(running.finish().signal(), Some(9));
    sleep.wait_for(0).await;
    let tree = listing(desk.repository.path());
    assert_eq!(tree, [".git", ".sandcastle", "README.md", "marker"], "no place of a mount is left");
}
