//! Everything that was begun is ended, whatever it was and whoever is left to end it.

use std::time::{Duration, Instant};

use sandcastle::agent::StopRequest;

use serde_json::json;

use super::desk::{Desk, done, shell, unique};
use crate::support::desk as command;

const NOTHING: Vec<String> = Vec::new();

pub(in crate::sandboxes) async fn w_3_and_case_173_what_ignores_signals_is_ended_inside(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let deaf = "trap '' TERM INT HUP; setsid sh -c \"trap '' TERM INT HUP; while :; do sleep 1; done\" & echo on; while :; do sleep 1; done";
    let left =
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'while :; do sleep [1]; done' || true";
    for is_dropped in [false, true, false] {
        let mut running = sandbox.start(shell(deaf)).await.unwrap();
        running.next().await.unwrap();
        assert_ne!(done(&*sandbox, left).await.trim(), "0");
        if is_dropped {
            drop(running);
        } else {
            running.end(StopRequest::terminate()).await;
        }
        assert_eq!(done(&*sandbox, left).await.trim(), "0");
    }
}

pub(in crate::sandboxes) async fn w_24_a_closed_or_dropped_container_is_gone_at_once(desk: &Desk) {
    let provider = desk.provider_of_image();
    for is_dropped in [false, true] {
        let sandbox = provider.create(desk.request(0)).await.unwrap();
        let name = sandbox.id().unwrap();
        assert_eq!(desk.containers(), std::slice::from_ref(&name));
        let volume = "{{range .Mounts}}{{if eq .Type \"volume\"}}{{.Name}}{{end}}{{end}}";
        let volume = desk.says(&["inspect", "--format", volume, &name]).trim().to_owned();
        assert!(!volume.is_empty());
        // What the image has at home is there, and can be written.
        done(&*sandbox, "touch ~/written && ls -d ~").await;
        let begun = Instant::now();
        if is_dropped {
            drop(sandbox);
        } else {
            sandbox.close().await.unwrap();
        }
        // Ten seconds are what an engine waits for a process that ignores its request to stop.
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        assert_eq!(desk.containers(), NOTHING);
        assert!(!desk.does(&["volume", "inspect", &volume]), "its volume is left");
    }
}

pub(in crate::sandboxes) async fn w_57_a_start_that_is_given_up_leaves_nothing(desk: &Desk) {
    let provider = desk.provider();
    for wait in [0, 2, 10, 20, 30, 40, 55, 70, 90, 120, 160, 250] {
        let starting = provider.create(desk.request(0));
        if let Ok(made) = tokio::time::timeout(Duration::from_millis(wait), starting).await {
            drop(made);
        }
        assert_eq!(desk.containers(), NOTHING, "after {wait} ms");
    }
    // Whatever the engine still had to do is done by now.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(desk.containers(), NOTHING);
}

pub(in crate::sandboxes) async fn w_28_a_container_whose_owner_is_gone_is_removed_by_the_next_start(
    desk: &Desk,
) {
    let live = desk.sandbox().await;
    let of_live = |label: &str| {
        let format = format!("{{{{index .Config.Labels \"{label}\"}}}}");
        desk.says(&["inspect", "--format", &format, &live.id().unwrap()]).trim().to_owned()
    };
    let (owner, host) = (of_live("sandcastle.owner"), of_live("sandcastle.host"));
    let boot = owner.rsplit('/').next().unwrap();
    let dead = format!("{}/12345/{boot}", i32::MAX);
    let made = |name: &str, owner: &str, host: &str| desk.run_apart(name, owner, host);
    let name = |what: u8| format!("sandcastle-{:030x}{what:02x}", unique());
    let (orphan, elsewhere, unreadable) = (name(1), name(2), name(3));
    let stranger = format!("stranger-{:016x}", unique());
    made(&orphan, &dead, &host);
    made(&elsewhere, &dead, "another-machine");
    made(&unreadable, "nobody", &host);
    made(&stranger, &dead, &host);
    let next = desk.sandbox().await;
    let there = desk.containers();
    assert!(!there.contains(&orphan), "{there:?}");
    for kept in [&live.id().unwrap(), &next.id().unwrap(), &elsewhere, &unreadable, &stranger] {
        assert!(there.contains(kept), "{kept} is not in {there:?}");
    }
    assert_eq!(done(&*live, "echo lives").await, "lives\n");
}

pub(in crate::sandboxes) async fn w_28_runs_clean_removes_the_container_of_a_run_that_was_killed(
    desk: &Desk,
) {
    // The command uses the client that is on its `PATH`.
    if desk.is_of_another_user() {
        return;
    }
    let user = command::Desk::new().await;
    let script = command::one_turn(&json!([{ "say": "done" }]));
    let run =
        command::json_of(&user.play(&script, &["--prompt", "Go."]).run())["run"].as_str().unwrap().to_owned();
    let live = desk.sandbox().await;
    let host = desk.says(&[
        "inspect",
        "--format",
        "{{index .Config.Labels \"sandcastle.host\"}}",
        &live.id().unwrap(),
    ]);
    // What is left of a run that was killed: its first line, and what it came to own.
    let journal = user.repository.path().join(".sandcastle/runs").join(&run).join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let head = text.lines().next().unwrap();
    let clean = |args: &[&str]| {
        let variables = desk.client().into_iter().filter(|(key, _)| key != "HOME");
        let finished = user.command(args).environment(variables).run();
        assert!(finished.status.success(), "{finished:?}");
        finished.stdout
    };
    // The starts of other tests remove it, too.
    let mut is_removed_here = false;
    for _ in 0..20 {
        let orphan = format!("sandcastle-{:032x}", unique());
        let ids = [&orphan, &live.id().unwrap(), &format!("sandcastle-{:032x}", unique())];
        let notes = ids.map(|id| {
            json!({ "at": "2026-01-01T00:00:00Z", "note": "sandbox", "provider": desk.name(), "id": id })
                .to_string()
        });
        std::fs::write(&journal, format!("{head}\n{}\n", notes.join("\n"))).unwrap();
        desk.run_apart(&orphan, &format!("{}/1/another-boot", i32::MAX), host.trim());
        clean(&["--format", "json", "runs", "clean", "--dry-run"]);
        let is_there = desk.containers().contains(&orphan);
        let said = clean(&["--format", "json", "runs", "clean"]);
        assert!(said.contains("its owner lives"), "{said}");
        assert!(!desk.containers().contains(&orphan));
        let listed = clean(&["--format", "json", "runs", "list"]);
        assert!(!listed.contains(&orphan) && listed.contains(&live.id().unwrap()), "{listed}");
        is_removed_here = is_there && said.contains(&orphan);
        if is_removed_here {
            break;
        }
    }
    assert!(is_removed_here);
    assert_eq!(done(&*live, "echo lives").await, "lives\n");
    // The run is forgotten once nothing of it is left.
    live.close().await.unwrap();
    clean(&["--format", "json", "runs", "clean"]);
    assert!(!journal.exists());
}
