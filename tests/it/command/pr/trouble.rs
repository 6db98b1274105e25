//! What is refused, what fails, and what is written down of it.

use rustix::process::Signal;
use sandcastle::testing::ScratchRepo;
use serde_json::{Value, json};

use super::{Yard, report, work};
use crate::support::desk::{json_of, wait_for};

fn looked() -> Value {
    json!({ "steps": [{ "say": "I looked." }] })
}

#[tokio::test]
async fn row_198_nothing_at_all_is_a_failure_with_its_reason_in_a_file() {
    let yard = Yard::new().await;
    let made_up = report(&json!({ "threadReplies": [{ "commentId": "PRRC_nobody", "body": "Done." }] }));
    let ended = yard.play("implement", &json!([looked(), made_up]), &[]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "nothing-produced");
    assert!(error["session_id"].is_string(), "{error}");
    assert_eq!(yard.result_names(), ["failure_reason.txt"]);
    let reason = yard.result("failure_reason.txt");
    assert!(
        reason.contains("neither a commit nor anything to say") && reason.contains("`PRRC_nobody`"),
        "{reason}"
    );
    // A commit alone is something, and the reason of before has gone.
    let ended = yard.play("implement", &json!([work(), report(&json!({}))]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(!yard.result_names().contains(&"failure_reason.txt".to_owned()), "{:?}", yard.result_names());
}

#[tokio::test]
async fn thousands_of_untrue_remarks_are_told_in_a_few_sentences() {
    let yard = Yard::new().await;
    let made_up = |number: u32| json!({ "commentId": format!("PRRC_made_up_{number}"), "body": "Done." });
    let replies: Vec<Value> = (0..3000).map(made_up).collect();
    let turns = json!([looked(), report(&json!({ "threadReplies": replies }))]);
    let ended = yard.play("implement", &turns, &[]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let reason = yard.result("failure_reason.txt");
    assert!(reason.contains("`PRRC_made_up_0`") && reason.contains("2980 more were left out"), "{reason}");
    assert!(reason.len() < 8000, "{}", reason.len());
    // What is said beside something true is as long.
    let turns = json!([work(), report(&json!({ "threadReplies": replies }))]);
    let said = json_of(&yard.play("implement", &turns, &[]));
    assert_eq!(said["dropped"].as_array().unwrap().len(), 3000);
    assert_eq!(said["warnings"].as_array().unwrap().len(), 21, "{}", said["warnings"]);
}

#[tokio::test]
async fn row_198_every_failure_is_written_down() {
    // What came of earlier work does not stay beside it.
    let earlier = Yard::new().await;
    let fine = json!([looked(), report(&json!({ "summary": "Fine." }))]);
    assert_eq!(earlier.play("review", &fine, &[]).code(), Some(0));
    assert!(earlier.result_names().contains(&"review_payload.json".to_owned()));
    assert_eq!(earlier.play("review", &json!([{ "steps": [{ "exit": 4 }] }]), &[]).code(), Some(1));
    assert_eq!(earlier.result_names(), ["failure_reason.txt"]);
    let fail = json!([{ "steps": [{ "exit": 4 }] }]);
    let mute = json!([work(), { "steps": [{ "say": "No." }] }, { "steps": [{ "say": "No." }] }, { "steps": [{ "say": "No." }] }]);
    for (turns, code, kind) in [(fail, 1, "agent-failed"), (mute, 3, "structured-output")] {
        let yard = Yard::new().await;
        let ended = yard.play("review", &turns, &[]);
        assert_eq!(ended.code(), Some(code), "{ended:?}");
        let said = json_of(&ended);
        assert_eq!((said["error"]["kind"].as_str().unwrap_or(kind)), kind, "{said}");
        assert_eq!(said["output_dir"], yard.results().to_str().unwrap());
        assert_eq!(yard.result_names(), ["failure_reason.txt"]);
        assert!(
            yard.result("failure_reason.txt").starts_with("failed to "),
            "{}",
            yard.result("failure_reason.txt")
        );
    }
    // What the agent had committed before it fell silent is on the branch.
    let yard = Yard::new().await;
    let mute = json!([work(), { "steps": [{ "say": "No." }] }, { "steps": [{ "say": "No." }] }, { "steps": [{ "say": "No." }] }]);
    let ended = yard.play("review", &mute, &[]);
    assert_eq!(json_of(&ended)["error"]["commits"][0]["subject"], "Make the wall thicker", "{ended:?}");
    assert_eq!(yard.desk.subjects("tower").await[0], "Make the wall thicker");
    // Whoever goes on from there is told of it, and a push takes it along.
    let turns = json!([looked(), report(&json!({ "summary": "Good." }))]);
    let ended = yard.play("review", &turns, &["--push"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said = json_of(&ended);
    assert_eq!(said["counts"]["commits"], 0, "{said}");
    assert!(said["warnings"].to_string().contains("`tower` had commits before"), "{said}");
    assert_eq!(yard.remote_tip("tower").await, yard.desk.tip("tower").await);
}

#[tokio::test]
async fn the_code_of_strangers_does_not_run_without_a_sandbox() {
    for (whose, named) in [(Some("mallory/sand"), "`mallory/sand`"), (None, "a fork that is gone")] {
        let yard = Yard::of(|scene| scene.head_in(whose)).await;
        let turns = json!([looked(), report(&json!({ "comment": "x" }))]);
        let ended = yard.play("explore", &turns, &[]);
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        let error = &json_of(&ended)["error"];
        assert!(error["message"].as_str().unwrap().contains(named), "{error}");
        assert!(error["hints"].to_string().contains("`--allow-untrusted`"), "{error}");
        assert!(yard.result("failure_reason.txt").contains(named));
        let ended = yard.play("explore", &turns, &["--allow-untrusted"]);
        assert_eq!(
            (ended.code(), json_of(&ended)["branch"].as_str()),
            (Some(0), Some("pull/12")),
            "{ended:?}"
        );
        // Nor is anything pushed to where others are at home.
        let ended = yard.play("review", &turns, &["--allow-untrusted", "--push"]);
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        assert!(json_of(&ended)["error"]["message"].as_str().unwrap().starts_with("push"), "{ended:?}");
    }
}

#[tokio::test]
async fn a_pull_request_that_is_over_is_only_looked_at() {
    for (state, merged) in [("closed", false), ("merged", true)] {
        let yard = Yard::of(|scene| {
            let scene = scene.with("/pull/state", json!("closed")).with("/pull/merged", json!(merged));
            if merged { scene.with("/pull/merged_at", json!("2026-01-28T00:00:00Z")) } else { scene }
        })
        .await;
        let turns = json!([looked(), report(&json!({ "comment": "x" }))]);
        for kind in ["review", "implement", "update-branch"] {
            let ended = yard.play(kind, &turns, &[]);
            assert_eq!(ended.code(), Some(2), "{kind}: {ended:?}");
            assert!(json_of(&ended)["error"]["message"].as_str().unwrap().ends_with(state), "{ended:?}");
        }
        assert_eq!(yard.play("explore", &turns, &[]).code(), Some(0));
    }
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_anybody_is_asked() {
    let yard = Yard::new().await;
    let blank = yard.desk.file("blank.md", "For {{NOBODY}} and {{PR_TITLE}}.");
    let blank = blank.to_str().unwrap();
    let turns = json!([looked(), report(&json!({ "comment": "x" }))]);
    for (args, named) in [
        (&["--prompt-file", blank][..], "`{{NOBODY}}`"),
        (&["--prompt-file", blank, "--arg", "PR_TITLE=mine"], "`PR_TITLE`"),
        (&["--prompt-file", "/no/such/file"], "/no/such/file"),
        (&["--branch=-x"], "`-x`"),
    ] {
        let ended = yard.play("explore", &turns, args);
        assert_eq!(ended.code(), Some(2), "{args:?}: {ended:?}");
        assert!(json_of(&ended)["error"]["message"].as_str().unwrap().contains(named), "{args:?}: {ended:?}");
    }
    // What is explored is not pushed, and a results folder is a folder.
    let file = yard.desk.file("taken", "");
    for (args, named) in [
        (&["--push-remote", "fork"][..], "--push-remote"),
        (&["--repo", "octo/sand", "--output-dir", file.to_str().unwrap()], "results go to a folder"),
    ] {
        let ended =
            yard.plain(&[&["pr", "explore", "12", "--agent", "claude-code"][..], args].concat()).run();
        assert_ne!(ended.code(), Some(0), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(named), "{args:?}: {ended:?}");
    }
    // The report is asked for in the session of the work.
    let ended = yard
        .plain(&[
            "--format",
            "json",
            "pr",
            "review",
            "12",
            "--repo",
            "octo/sand",
            "--api-url",
            &yard.server.url(),
            "--agent",
            "cursor",
            "--model",
            "m",
            "--output-dir",
            yard.results().to_str().unwrap(),
        ])
        .run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(json_of(&ended)["error"]["message"].as_str().unwrap().contains("`cursor`"), "{ended:?}");
    assert_eq!(yard.server.requests().len(), 0);
    // A remote that is no repository of GitHub is not asked for one, and another host gets no token by its own word.
    let desk = &yard.desk;
    let script = desk.file("script.json", json!({ "turns": turns }).to_string());
    let plain = [
        "--format",
        "json",
        "pr",
        "explore",
        "12",
        "--agent",
        "scripted",
        "--model",
        script.to_str().unwrap(),
    ];
    assert!(yard.plain(&plain).run().stdout.contains("`--repo OWNER/NAME`"));
    desk.git(["remote", "set-url", "origin", "https://git.example/octo/sand.git"]).await;
    let ended = yard.plain(&plain).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.contains("--api-url https://git.example/api/v3"), "{ended:?}");
}

#[tokio::test]
async fn a_report_that_cannot_be_written_down_is_not_lost_with_the_commits() {
    let yard = Yard::new().await;
    let mut answer = report(&json!({ "summary": "Fine." }));
    // An agent without a sandbox takes the folder away.
    answer["steps"].as_array_mut().unwrap().insert(0, json!({ "shell": "rm -r \"$HOME/results\"" }));
    let ended = yard.play("review", &json!([work(), answer]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let error = &json_of(&ended)["error"];
    assert_eq!((error["kind"].as_str(), &error["branch"]), (Some("io"), &json!("tower")), "{error}");
    assert_eq!(error["commits"][0]["subject"], "Make the wall thicker", "{error}");
    let show = yard.desk.runs(&["show", error["run"].as_str().unwrap()]);
    assert!(show.to_string().contains("Fine."), "{show}");
    assert_eq!((yard.remote_tip("tower").await, yard.server.posted()), (yard.head.clone(), Vec::new()));
}

#[tokio::test]
async fn a_branch_that_cannot_be_made_here_can_have_another_name() {
    let yard = Yard::of(|scene| scene.head_in(Some("mallory/sand"))).await;
    yard.desk.git(["branch", "pull"]).await;
    let turns = json!([looked(), report(&json!({ "comment": "x" }))]);
    let ended = yard.play("explore", &turns, &["--allow-untrusted"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(json_of(&ended)["error"]["hints"].to_string().contains("`--branch`"), "{ended:?}");
    let ended = yard.play("explore", &turns, &["--allow-untrusted", "--branch", "of-mallory"]);
    assert_eq!(json_of(&ended)["branch"], "of-mallory", "{ended:?}");
}

#[tokio::test]
async fn commits_on_another_branch_are_none_of_the_pull_request() {
    let yard = Yard::new().await;
    let strays = json!({ "steps": [
        { "shell": "git checkout -q -b elsewhere" },
        { "write-file": { "path": "src/lib.rs", "content": "a ruin\n" } },
        { "commit": "Tear it down" },
        { "say": "Done." },
    ] });
    let answered =
        report(&json!({ "threadReplies": [{ "commentId": "PRRC_moat_1", "body": "I tore it down." }] }));
    let ended = yard.play("implement", &json!([strays, answered]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let error = &json_of(&ended)["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("it is about commits that are not on `tower`"), "{error}");
    assert!(error["warnings"].to_string().contains("`elsewhere`"), "{error}");
    assert_eq!(error["commits"][0]["subject"], "Tear it down");
    assert_eq!((yard.remote_tip("tower").await, yard.server.posted()), (yard.head.clone(), Vec::new()));
    assert_eq!(yard.result("has_commits.txt"), "false");
}

#[tokio::test]
async fn a_pull_request_that_is_not_there_is_told() {
    let yard = Yard::of(|scene| scene.with("/pull/number", json!(13))).await;
    let ended = yard.play("explore", &json!([looked()]), &[]);
    assert_eq!(
        (ended.code(), json_of(&ended)["error"]["kind"].as_str()),
        (Some(1), Some("forge")),
        "{ended:?}"
    );
    assert!(yard.result("failure_reason.txt").contains("12"), "{}", yard.result("failure_reason.txt"));
    let elsewhere = ScratchRepo::new().await.unwrap();
    let ended = yard.play("explore", &json!([looked()]), &["--cwd", elsewhere.path().to_str().unwrap()]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
}

#[tokio::test]
async fn an_interrupt_ends_the_agent_keeps_what_it_did_and_says_130() {
    let yard = Yard::new().await;
    let marker = yard.desk.home.path().join("at-work");
    let mut turn = work();
    let steps = turn["steps"].as_array_mut().unwrap();
    steps.truncate(2);
    steps.push(json!({ "shell": format!("touch '{}'; sleep 600", marker.display()) }));
    let running = yard.command("review", &json!([turn]), &["--push", "--post"]).start();
    wait_for(&marker).await;
    running.signal(Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code(), Some(130), "{ended:?}");
    assert_eq!(json_of(&ended)["error"]["commits"][0]["subject"], "Make the wall thicker");
    assert_eq!(yard.desk.subjects("tower").await[0], "Make the wall thicker");
    assert_eq!((yard.remote_tip("tower").await, yard.server.posted()), (yard.head.clone(), Vec::new()));
    assert!(yard.result("failure_reason.txt").contains("cancelled"), "{}", yard.result("failure_reason.txt"));
}
