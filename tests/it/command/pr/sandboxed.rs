//! The same in a sandbox of bubblewrap: the agent works on a stand-in of the repository, and strangers' code may run.

use serde_json::{Value, json};

use super::{Yard, remarks, report, work};
use crate::support::desk::json_of;
use crate::support::github::TOKEN;
use crate::support::process::Finished;
use crate::support::requirement::absent;
use crate::support::tower::lines;

impl Yard {
    /// Plays in a sandbox; `None` where there can be none.
    fn play_inside(&self, kind: &str, turns: &Value, args: &[&str]) -> Option<Finished> {
        let ended = self.play(kind, turns, &[&["--sandbox", "bubblewrap"], args].concat());
        if ended.code() == Some(1) && ended.stdout.contains("bwrap") {
            absent("bubblewrap", &ended.stdout);
            return None;
        }
        Some(ended)
    }
}

#[tokio::test]
async fn the_code_of_strangers_runs_in_a_sandbox_and_stays_here() {
    let yard = Yard::of(|scene| scene.head_in(Some("mallory/sand"))).await;
    let (replies, comments) = remarks();
    let mut turn = work();
    turn["steps"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({ "shell": "env >environment; git config --list >>environment" }));
    let reviewed = report(&json!({ "summary": "Fine.", "inlineComments": comments, "replies": replies }));
    let Some(ended) = yard.play_inside("review", &json!([turn, reviewed]), &[]) else { return };
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said = json_of(&ended);
    assert_eq!(
        (said["branch"].as_str(), &said["counts"]["inline_comments"]),
        (Some("pull/12"), &json!(2)),
        "{said}"
    );
    assert_eq!(yard.desk.subjects("pull/12").await[0], "Make the wall thicker");
    let environment = yard.desk.git(["show", "pull/12:environment"]).await;
    assert!(environment.contains("HOME=") && !environment.contains(TOKEN), "{environment}");
    assert_eq!(yard.remote_tip("tower").await, yard.head);
}

#[tokio::test]
async fn a_merge_inside_is_one_outside() {
    let yard = Yard::with_base(&[(2, "a fence")], |scene| scene).await;
    let base = yard.desk.tip("release").await;
    let resolved = json!({ "steps": [
        { "shell": format!("git merge --no-edit {base}; true") },
        { "write-file": { "path": "src/lib.rs", "content": lines(&[(2, "a wall and a fence")]) } },
        { "shell": "git add -A && git commit -q -m 'Merge release'" },
        { "say": "Merged." },
    ] });
    let turns = json!([resolved, report(&json!({ "comment": "Both are kept." }))]);
    let Some(ended) = yard.play_inside("update-branch", &turns, &["--push"]) else { return };
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(json_of(&ended)["counts"]["commits"], 1, "{ended:?}");
    assert_eq!(yard.desk.tip("tower^2").await, base);
    assert_eq!(yard.remote_tip("tower").await, yard.desk.tip("tower").await);
}
