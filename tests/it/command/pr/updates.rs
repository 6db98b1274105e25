//! Branches that are brought up to date: by git alone, by an agent, and not at all.

use serde_json::{Value, json};

use super::{Yard, report};
use crate::support::desk::json_of;
use crate::support::tower::lines;

/// In `release`, the line that the pull request changes is another one.
const CONFLICT: [(usize, &str); 1] = [(2, "a fence")];
/// In `release`, another line has changed.
const BESIDE: [(usize, &str); 1] = [(18, "a gate")];

fn resolving(content: &str, message: &str) -> Value {
    json!({ "steps": [
        { "shell": "git merge --no-edit origin/release; true" },
        { "write-file": { "path": "src/lib.rs", "content": content } },
        { "shell": format!("git add -A && git commit -q -m '{message}'") },
        { "say": "Merged." },
    ] })
}

fn told() -> Value {
    report(&json!({ "comment": "Kept the wall and the fence." }))
}

#[tokio::test]
async fn a_branch_that_is_up_to_date_needs_nobody() {
    let yard = Yard::new().await;
    let ended = yard.play("update-branch", &json!([]), &["--push"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said = json_of(&ended);
    assert_eq!((said["run"].is_null(), &said["counts"]["commits"]), (true, &json!(0)), "{said}");
    assert_eq!(yard.result_names(), ["comment.md", "should_push.txt"]);
    assert_eq!(yard.result("should_push.txt"), "false");
    assert!(yard.result("comment.md").contains("has everything"));
    assert_eq!(yard.remote_tip("tower").await, yard.head);
}

#[tokio::test]
async fn what_merges_by_itself_is_merged_by_git_alone() {
    let yard = Yard::with_base(&BESIDE, |scene| scene).await;
    let ended = yard.play("update-branch", &json!([]), &[]);
    assert_eq!((ended.code(), &*yard.result("should_push.txt")), (Some(0), "true"), "{ended:?}");
    // What was merged before, and stayed here, is to be pushed as well.
    let ended = yard.play("update-branch", &json!([]), &[]);
    assert_eq!((ended.code(), &*yard.result("should_push.txt")), (Some(0), "true"), "{ended:?}");
    assert_eq!(json_of(&ended)["counts"]["commits"], 0);
    yard.desk.git(["branch", "-q", "-D", "tower"]).await;
    let ended = yard.play("update-branch", &json!([]), &["--push"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(yard.result("should_push.txt"), "true");
    assert_eq!(json_of(&ended)["counts"]["commits"], 1);
    let tip = yard.desk.tip("tower").await;
    assert_eq!(yard.remote_tip("tower").await, tip);
    let merged = yard.desk.git(["show", "tower:src/lib.rs"]).await;
    assert_eq!(merged + "\n", lines(&[(2, "a wall"), (18, "a gate")]));
    assert_eq!(yard.desk.tip("tower^1").await, yard.head);
    assert_eq!(yard.desk.tip("tower^2").await, yard.desk.tip("release").await);
}

#[tokio::test]
async fn a_branch_that_moved_on_since_the_host_was_asked_is_told_before_anything_is_done() {
    let yard = Yard::with_base(&BESIDE, |scene| scene).await;
    // The host has not noticed yet that somebody else was faster.
    let moved = yard.desk.tip("release").await;
    yard.desk
        .git([
            "--git-dir",
            yard.desk.home.path().join("remote.git").to_str().unwrap(),
            "update-ref",
            "refs/heads/tower",
            &moved,
        ])
        .await;
    let ended = yard.play("update-branch", &json!([]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(yard.result("failure_reason.txt").contains("moved on"), "{}", yard.result("failure_reason.txt"));
    assert_eq!((yard.remote_tip("tower").await, yard.server.posted()), (moved, Vec::new()));
}

#[tokio::test]
async fn row_199_conflicts_are_resolved_by_the_agent_in_one_merge() {
    let yard = Yard::with_base(&CONFLICT, |scene| scene).await;
    let both = lines(&[(2, "a wall and a fence")]);
    let ended = yard.play(
        "update-branch",
        &json!([resolving(&both, "Merge release"), told()]),
        &["--push", "--post"],
    );
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said = json_of(&ended);
    assert_eq!(said["counts"]["commits"], 1, "the commits of the base are not the agent's: {said}");
    assert_eq!(
        (yard.result("should_push.txt").as_str(), yard.result("comment.md").as_str()),
        ("true", "Kept the wall and the fence.\n")
    );
    assert_eq!(yard.remote_tip("tower").await, yard.desk.tip("tower").await);
    assert_eq!(yard.server.posted().len(), 1);
    let prompt = &yard.prompts(&ended)[0];
    let base = yard.desk.tip("release").await;
    for told in ["- `src/lib.rs`", &format!("`git merge --no-edit {base}`"), "`tower`", "`release`"] {
        assert!(prompt.contains(told), "`{told}` is not in {prompt}");
    }
}

#[tokio::test]
async fn half_a_merge_is_a_failure_that_says_which_half() {
    let marked = "<<<<<<< HEAD\na wall\n=======\na fence\n>>>>>>> release\n";
    let no_merge = json!({ "steps": [
        { "write-file": { "path": "notes", "content": "x" } }, { "commit": "No merge" }, { "say": "Merged." },
    ] });
    for (turn, named) in [
        (resolving(marked, "Merge release"), "marks of conflicts in `src/lib.rs`"),
        (no_merge, "none of them merges it"),
        (json!({ "steps": [{ "say": "I could not." }] }), "the agent made no commit"),
    ] {
        let yard = Yard::with_base(&CONFLICT, |scene| scene).await;
        let ended = yard.play("update-branch", &json!([turn, told()]), &["--push", "--post"]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        let error = &json_of(&ended)["error"];
        assert_eq!(error["kind"], "merge");
        assert!(error["message"].as_str().unwrap().contains(named), "{error}");
        assert!(error["session_id"].is_string(), "{error}");
        assert_eq!(yard.result_names(), ["failure_reason.txt"]);
        assert_eq!((yard.remote_tip("tower").await, yard.server.posted()), (yard.head.clone(), Vec::new()));
    }
}

#[tokio::test]
async fn a_branch_that_is_checked_out_is_worked_on_in_place() {
    let yard = Yard::with_base(&BESIDE, |scene| scene).await;
    yard.desk.git(["checkout", "-q", "-b", "tower", "origin/tower"]).await;
    let ended = yard.play("update-branch", &json!([]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    yard.desk.assert_whole().await;
    let here = std::fs::read_to_string(yard.desk.repository.path().join("src/lib.rs")).unwrap();
    assert_eq!(here, lines(&[(2, "a wall"), (18, "a gate")]));
    let seen = json!({ "steps": [{ "shell": "pwd >\"$HOME/where\"" }, { "say": "I looked." }] });
    let ended = yard.play("explore", &json!([seen, report(&json!({ "comment": "x" }))]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let folder = std::fs::read_to_string(yard.desk.home.path().join("where")).unwrap();
    assert_eq!(std::path::Path::new(folder.trim()), yard.desk.repository.path().canonicalize().unwrap());
}
