//! Branch strategies, hooks, copies, limits and secrets, as flags.

use super::*;

const MERGE: [&str; 2] = ["--branch-strategy", "merge-to-head"];

#[tokio::test]
async fn a_merge_to_head_lands_and_tells_where() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([
        { "write-file": { "path": "x", "content": "1" } },
        { "commit": "Work" },
        { "write-file": { "path": "scratch", "content": "2" } },
        { "say": "done" }
    ]));
    let ended = desk.play(&script, &[&["--prompt", "go"], &MERGE[..]].concat()).run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    let object = json_of(&ended);
    assert_eq!((object["branch"].as_str(), desk.subjects("main").await.len()), (Some("main"), 2));
    let kept = std::path::PathBuf::from(object["preserved_worktree"].as_str().expect("uncommitted work"));
    assert!(kept.join("scratch").exists());
    assert!(object["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{object}");
    let shown = desk.runs(&["show", object["run"].as_str().expect("an id")]);
    assert_eq!(shown["outcome"], "done");
    assert_eq!(shown["worktrees"][0]["changed"], json!(["scratch"]));
}

/// Whoever goes on must not do so without the sandbox by accident.
#[tokio::test]
async fn the_command_to_go_on_with_names_the_sandbox() {
    if crate::support::engines::bubblewrap().is_none() {
        return;
    }
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "no answer" }]));
    let asked = ["--prompt", "in <result>", "--tag", "result", "--sandbox", "bubblewrap", "--network", "off"];
    let ended = desk.play(&script, &asked).run();
    assert_eq!(ended.code(), Some(3), "{ended:?}");
    let object = json_of(&ended);
    let resume = object["error"]["resume_command"].as_str().expect("a command");
    assert!(resume.contains(" --sandbox bubblewrap --network off --resume scripted-"), "{resume}");
    let shown = desk.runs(&["show", object["error"]["run"].as_str().expect("an id")]);
    let resume = shown["resume_command"].as_str().expect("a command");
    assert!(resume.contains(" --sandbox bubblewrap ") && resume.contains(" --resume scripted-"), "{resume}");
}

#[tokio::test]
async fn paths_that_are_not_text_are_shown_all_the_same() {
    use std::os::unix::ffi::OsStrExt;

    let desk = Desk::new().await;
    let outer = tempfile::TempDir::new().expect("a folder");
    let folder = outer.path().join(std::ffi::OsStr::from_bytes(b"not utf-8 \xff"));
    desk.repository
        .git([std::ffi::OsStr::new("clone"), "-q".as_ref(), ".".as_ref(), folder.as_os_str()])
        .await
        .unwrap();
    let script = one_turn(&json!([{ "shell": "echo 1 >\"$(printf 'n\\377')\"" }, { "say": "done" }]));
    let there = [std::ffi::OsStr::new("--cwd"), folder.as_os_str()];
    let run = desk.play(&script, &["--prompt", "go", "--branch-strategy", "branch:agent/x"]);
    let ended = run.arguments(there).run();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let kept = json_of(&ended)["preserved_worktree"].as_str().expect("uncommitted work").to_owned();
    assert!(kept.contains("/not utf-8 \u{fffd}/.sandcastle/worktrees/"), "{kept}");
    let listed = desk.command(&["--format", "json", "runs", "list"]).arguments(there).run();
    assert_eq!(listed.code(), Some(0), "{}", listed.stderr);
    assert!(json_of(&listed).to_string().contains("n\u{fffd}"), "{}", listed.stdout);
}

#[tokio::test]
async fn a_named_branch_begins_at_its_base() {
    let desk = Desk::new().await;
    desk.git(["branch", "release"]).await;
    desk.git(["commit", "-q", "--allow-empty", "-m", "Later"]).await;
    let script = one_turn(&json!([
        { "write-file": { "path": "x", "content": "1" } }, { "commit": "Work" }, { "say": "done" }
    ]));
    let branch = ["--prompt", "go", "--branch-strategy", "branch:agent/fix", "--base", "release"];
    let ended = desk.play(&script, &branch).run();
    assert_eq!(json_of(&ended)["branch"], "agent/fix", "{}", ended.stderr);
    assert_eq!(desk.subjects("agent/fix").await, ["Work", "begin"]);
    assert_eq!(desk.worktrees().await.len(), 0);
}

#[tokio::test]
async fn flags_that_contradict_each_other_are_bad_usage() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "done" }]));
    let cases: [&[&str]; 9] = [
        &["--branch-strategy", "main"],
        &["--branch-strategy", "branch:"],
        &["--base", "main"],
        &["--base", "main", "--branch-strategy", "merge-to-head"],
        &["--copy", "x"],
        &["--timeout", "lunch=1"],
        &["--timeout", "hook=0"],
        &["--secret-env", "NOT_SET_ANYWHERE"],
        &["--host-worktree-ready", " "],
    ];
    for args in cases {
        let ended = desk.play(&script, &[&["--prompt", "go"], args].concat()).run();
        assert_eq!(ended.code(), Some(2), "{args:?}: {}", ended.stdout);
    }
    assert!(!desk.repository.path().join(".sandcastle/runs").exists(), "nothing was begun");
}

#[tokio::test]
async fn hooks_and_copies_make_the_worktree_ready() {
    let desk = Desk::new().await;
    desk.repository.write(".gitignore", "cache.bin\n").unwrap();
    desk.git(["add", "."]).await;
    desk.git(["commit", "-qm", "Ignore"]).await;
    desk.repository.write("cache.bin", "cached").unwrap();
    let script = one_turn(
        &json!([{ "shell": "cat cache.bin one two three > seen" }, { "commit": "Work" }, { "say": "ok" }]),
    );
    let args = [
        &MERGE[..],
        &["--prompt", "go", "--copy", "cache.bin"],
        &["--host-worktree-ready", "echo 1 >one", "--host-worktree-ready", "cp one two"],
        &["--host-sandbox-ready", "true", "--sandbox-ready", "echo 3 >three"],
    ];
    let ended = desk.play(&script, &args.concat()).run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(desk.git(["show", "main:seen"]).await, "cached1\n1\n3");
    assert!(ended.stderr.contains("  $ echo 1 >one\n"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_step_that_takes_too_long_says_which_flag_raises_its_limit() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "done" }]));
    let slow = ["--prompt", "go", "--host-sandbox-ready", "sleep 20", "--timeout", "hook=0.2"];
    let ended = desk.play(&script, &slow).run();
    assert_eq!(ended.code(), Some(1), "{}", ended.stdout);
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "step-timeout");
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("`--timeout hook=SECS`")), "{error}");
}

#[tokio::test]
async fn a_secret_of_the_environment_is_masked() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "ok" }]));
    let run = |hook: &str, args: &[&str]| {
        let environment = [("DATABASE".to_owned(), "vXy9zzQw".to_owned())];
        let all = [&["--prompt", "go", "--sandbox-ready", hook], args].concat();
        desk.play(&script, &all).environment(environment).run()
    };
    let shows = "echo at $DATABASE >&2; exit 3";
    let ended = run(shows, &[]);
    assert!(ended.stdout.contains("at vXy9zzQw"), "{}", ended.stdout);
    let ended = run(shows, &["--secret-env", "DATABASE"]);
    assert_eq!(ended.code(), Some(1), "{}", ended.stdout);
    assert!(ended.stdout.contains("at ***"), "{}", ended.stdout);
    assert!(!(ended.stdout + &ended.stderr).contains("vXy9zzQw"));
    let ended = run("true vXy9zzQw", &["--secret-env", "DATABASE"]);
    assert_eq!(ended.code(), Some(2), "every user of the host could read it: {}", ended.stderr);
    assert!(!ended.stdout.contains("vXy9zzQw"), "{}", ended.stdout);
    let ended = desk.play(&script, &["--prompt", "go", "--secret-env", "DATABASE=vXy9zzQw"]).run();
    assert_eq!(ended.code(), Some(2));
    assert!(!ended.stdout.contains("vXy9zzQw"), "{}", ended.stdout);
}

/// The host has another version of the file that the agent commits.
fn conflicting(desk: &Desk) -> serde_json::Value {
    let root = desk.repository.path().display();
    let host = format!("cd '{root}' && echo theirs >x && git add x && git commit -qm Host");
    one_turn(&json!([
        { "write-file": { "path": "x", "content": "ours" } },
        { "commit": "Work" },
        { "shell": host },
        { "say": "<result>{\"n\":5}</result>" }
    ]))
}

#[tokio::test]
async fn an_answer_whose_commits_cannot_land_is_not_lost() {
    let desk = Desk::new().await;
    let asked = [&["--prompt", "answer in <result>", "--tag", "result"], &MERGE[..]].concat();
    let ended = desk.play(&conflicting(&desk), &asked).run();
    assert_eq!(ended.code(), Some(1), "{}", ended.stdout);
    let error = &json_of(&ended)["error"];
    assert_eq!((error["kind"].as_str(), error["answer"].as_str()), (Some("merge"), Some("{\"n\":5}")));
    let branch = error["branch"].as_str().expect("a branch");
    assert_eq!(desk.subjects(branch).await, ["Work", "begin"]);
    let resume = error["resume_command"].as_str().expect("a command");
    assert!(resume.contains(&format!("--branch-strategy branch:{branch} --resume scripted-")), "{resume}");
    desk.assert_whole().await;
}

#[tokio::test]
async fn case_174_w_28_a_signal_ends_everything_and_says_how_to_go_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (desk, sleep) = (Desk::new().await, UniqueSleep::new());
        let script = desk.file(
            "script.json",
            one_turn(&json!([
                { "write-file": { "path": "x", "content": "1" } },
                { "commit": "Work" },
                { "write-file": { "path": "half", "content": "2" } },
                { "shell": format!("setsid sleep {}", sleep.seconds()) }
            ]))
            .to_string(),
        );
        let args = ["run", "--agent", "scripted", "--model", script.to_str().unwrap(), "--prompt", "go"];
        let running = desk.command(&[&args[..], &MERGE].concat()).start();
        sleep.wait_for(1).await;
        running.signal(signal);
        let ended = running.finish();
        assert_eq!((ended.code(), sleep.alive()), (Some(130), 0), "{signal:?}: {ended:?}");
        let (branches, worktrees) = (desk.branches().await, desk.worktrees().await);
        let [branch, worktree] = [&branches[0], &worktrees[0].display().to_string()];
        assert_eq!(desk.subjects(branch).await, ["Work", "begin"], "{signal:?}");
        assert!(worktrees[0].join("half").exists(), "{signal:?}");
        let told = [
            format!("  branch    {branch}\n"),
            format!("  worktree  {worktree}\n"),
            "  commit    ".to_owned(),
            "  show      sandcastle runs show ".to_owned(),
            format!(" --cwd {worktree} --resume scripted-"),
        ];
        for line in told {
            assert!(ended.stderr.contains(&line), "{line}: {}", ended.stderr);
        }
        desk.assert_whole().await;
    }
}

#[tokio::test]
async fn a_conversation_is_gone_on_with_on_its_branch() {
    let desk = Desk::new().await;
    let failing = one_turn(&json!([
        { "write-file": { "path": "x", "content": "1" } }, { "commit": "Work" }, { "exit": 4 }
    ]));
    for (strategy, prefix) in
        [("branch:agent/fix", "branch:agent/fix"), ("merge-to-head", "branch:sandcastle/")]
    {
        let ended = desk.play(&failing, &["--prompt", "go", "--branch-strategy", strategy]).run();
        assert_eq!(ended.code(), Some(1), "{}", ended.stdout);
        let error = &json_of(&ended)["error"];
        let shown = desk.runs(&["show", error["run"].as_str().expect("an id")]);
        for object in [error, &shown] {
            let resume = object["resume_command"].as_str().expect("a command");
            assert!(resume.contains(&format!(" --branch-strategy {prefix}")), "{resume}");
        }
    }
}

#[tokio::test]
async fn a_folder_without_a_repository_is_bad_usage() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "done" }]));
    let ended = desk.play(&script, &["--prompt", "go", "--cwd", desk.home.path().to_str().unwrap()]).run();
    assert_eq!((ended.code(), json_of(&ended)["error"]["kind"].as_str()), (Some(2), Some("git")));
}

#[tokio::test]
async fn row_096_a_container_is_made_from_the_image_of_the_repository() {
    let Some(engine) = crate::support::engines::Engine::docker() else { return };
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "never" }]));
    let asked = desk.play(&script, &["--prompt", "go", "--sandbox", "docker"]);
    let host = ("DOCKER_HOST".to_owned(), engine.environment["DOCKER_HOST"].clone());
    let ended = asked.environment([host]).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let folder = desk.repository.path().file_name().unwrap().to_str().unwrap().to_lowercase();
    let tag = folder.trim_start_matches('.');
    let error = json_of(&ended)["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("the image `sandcastle:{tag}`")), "{message}");
    assert!(error["hints"].to_string().contains("sandcastle docker build-image"), "{error}");
}
