//! `sandcastle doctor`: it tells what is there from what is broken, hangs nowhere, and shows nothing of the user to anybody.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::desk::{Desk, json_of};
use crate::support::process::{Finished, Invocation};

/// A version that nothing has.
const VERSION: &str = "#!/bin/sh\necho 'a program 7.8.9'\n";

/// The command where only these programs are, and git.
fn alone(desk: &Desk, programs: &[(&str, &str)]) -> Invocation {
    for (name, script) in programs {
        desk.program(name, script);
    }
    let path = desk.home.path().join("programs");
    for tool in ["sh", "env", "sleep", "cat"] {
        let _ = std::os::unix::fs::symlink(format!("/bin/{tool}"), path.join(tool));
    }
    desk.command(&["--format", "json", "doctor"])
        .environment([("PATH".to_owned(), path.display().to_string())])
}

fn finding(ended: &Finished, name: &str) -> Value {
    let object = json_of(ended);
    let findings = object["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|found| found["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {object}"))
        .clone()
}

#[tokio::test]
async fn what_works_here_is_told_for_persons_and_for_programs() {
    let desk = Desk::new().await;
    let ended = desk.run(&["--format", "json", "doctor"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(finding(&ended, "git")["state"], "ok");
    for entry in sandcastle::registry::AGENTS.iter().filter(|entry| entry.name != "scripted") {
        finding(&ended, entry.name);
    }
    let ended = desk.run(&["doctor"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.stdout.starts_with("ok       git      git "), "{}", ended.stdout);
}

#[tokio::test]
async fn what_is_missing_or_broken_says_how_to_get_it() {
    let desk = Desk::new().await;
    let broken = "#!/bin/sh\necho 'it is \x1b[2Jbroken' >&2; exit 3\n";
    let programs =
        [("git", VERSION), ("codex", VERSION), ("claude", broken), ("bwrap", broken), ("podman", broken)];
    let ended = alone(&desk, &programs).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(finding(&ended, "codex")["version"], "7.8.9");
    for (name, state) in [
        ("codex", "ok"),
        ("claude-code", "broken"),
        ("bubblewrap", "broken"),
        ("podman", "broken"),
        ("docker", "missing"),
        ("pi", "missing"),
        ("gh", "missing"),
        ("socat", "missing"),
    ] {
        let found = finding(&ended, name);
        assert_eq!(found["state"], state, "{found}");
        assert_eq!(found["hint"].is_null(), state == "ok", "{found}");
    }
    let shown = alone(&desk, &[]).arguments(["--format", "human"]).run();
    assert!(!shown.stdout.contains('\x1b'), "{:?}", shown.stdout);
}

#[tokio::test]
async fn only_git_decides_how_it_ends() {
    for script in [None, Some("#!/bin/sh\nexit 1\n"), Some("#!/bin/sh\necho 'git version 2.17.1'\n")] {
        let desk = Desk::new().await;
        let git: Vec<_> = script.into_iter().map(|script| ("git", script)).collect();
        let ended = alone(&desk, &[&git[..], &[("codex", VERSION)]].concat()).run();
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        assert_eq!(json_of(&ended)["ok"], false);
        assert!(!finding(&ended, "git")["hint"].is_null());
    }
}

#[tokio::test]
async fn a_program_that_hangs_delays_nothing_but_itself() {
    let desk = Desk::new().await;
    let hangs = "#!/bin/sh\nexec sleep 1000\n";
    let programs =
        [("git", VERSION), ("docker", hangs), ("podman", hangs), ("bwrap", hangs), ("claude", hangs)];
    let begun = Instant::now();
    let ended = alone(&desk, &programs).run();
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    for name in ["docker", "podman", "bubblewrap", "claude-code"] {
        let found = finding(&ended, name);
        assert_eq!(found["state"], "broken", "{found}");
        assert!(found["detail"].as_str().unwrap().contains("did not answer"), "{found}");
    }
}

#[tokio::test]
async fn an_agent_sees_nothing_of_the_user() {
    let desk = Desk::new().await;
    let spy = format!(
        "#!/bin/sh\n{{ echo \"$@\"; pwd; env; }} >{}/spied\necho 1.2.3\n",
        desk.home.path().display()
    );
    let command = alone(&desk, &[("git", VERSION), ("claude", &spy)]);
    let secrets =
        [("ANTHROPIC_API_KEY".to_owned(), "very-secret".to_owned()), ("OTHER".to_owned(), "1".to_owned())];
    let ended = command.environment(secrets).run();
    assert_eq!(finding(&ended, "claude-code")["version"], "1.2.3", "{ended:?}");
    let spied = std::fs::read_to_string(desk.home.path().join("spied")).unwrap();
    assert!(spied.starts_with("--version\n"), "{spied}");
    assert!(!spied.contains("very-secret") && !spied.contains("OTHER="), "{spied}");
    let home = spied.lines().find_map(|line| line.strip_prefix("HOME=")).unwrap();
    assert_ne!(home, desk.home.path().to_str().unwrap());
    assert!(!std::path::Path::new(home).exists(), "its home is gone with it");
}

#[tokio::test]
async fn an_engine_on_another_machine_is_not_asked() {
    let desk = Desk::new().await;
    let docker =
        "#!/bin/sh\necho \"$1\" >>\"$HOME/asked\"\n[ \"$1\" = context ] && echo ssh://me@far.example\n";
    let ended = alone(&desk, &[("git", VERSION), ("docker", docker)]).run();
    let found = finding(&ended, "docker");
    assert!(found["detail"].as_str().unwrap().contains("ssh://me@far.example"), "{found}");
    assert_eq!(std::fs::read_to_string(desk.home.path().join("asked")).unwrap(), "context\n");
}

#[tokio::test]
async fn an_engine_is_described_by_what_it_says_of_itself() {
    let desk = Desk::new().await;
    let docker = concat!(
        "#!/bin/sh\n[ \"$1\" = context ] && { echo unix:///run/docker.sock; exit; }\n",
        "echo '{\"ServerVersion\":\"28.1\",\"InitBinary\":\"docker-init\",\"SecurityOptions\":[\"name=rootless\"]}'\n"
    );
    let ended = alone(&desk, &[("git", VERSION), ("docker", docker)]).run();
    let found = finding(&ended, "docker");
    assert_eq!((found["state"].as_str(), found["version"].as_str()), (Some("ok"), Some("28.1")));
    assert_eq!(found["detail"], "rootless, with an init program");
    let down = concat!(
        "#!/bin/sh\n[ \"$1\" = context ] && { echo unix:///run/docker.sock; exit; }\n",
        "echo '{\"ServerErrors\":[\"Cannot connect to the Docker daemon\"]}'; exit 1\n"
    );
    let ended = alone(&desk, &[("docker", down)]).run();
    let found = finding(&ended, "docker");
    assert_eq!(found["state"], "broken");
    assert!(found["detail"].as_str().unwrap().contains("Cannot connect"), "{found}");
}
