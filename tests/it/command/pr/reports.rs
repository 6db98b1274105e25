//! What an agent reports, what of it is true, and every byte of what is written down.

use serde_json::{Value, json};

use super::{Yard, remarks, report, work};
use crate::support::desk::json_of;

fn implemented() -> Value {
    let (replies, comments) = remarks();
    report(&json!({
        "threadReplies": replies,
        "newInlineComments": comments,
        "topLevelComments": [{ "body": "The wall is two hands thick now." }],
    }))
}

#[tokio::test]
async fn w_47_what_is_true_of_the_pull_request_survives_and_nothing_else() {
    let yard = Yard::new().await;
    let ended = yard.play("implement", &json!([work(), implemented()]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let said = json_of(&ended);
    assert_eq!(
        said["counts"],
        json!({ "commits": 1, "thread_replies": 1, "inline_comments": 2, "top_level_comments": 1 })
    );
    let reasons: Vec<String> = said["dropped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dropped| match &dropped["reason"] {
            Value::String(reason) => reason.clone(),
            reason => reason.as_object().unwrap().keys().next().unwrap().clone(),
        })
        .collect();
    assert_eq!(reasons, ["resolved-thread", "unknown-comment", "line-not-in-diff", "file-not-in-diff"]);
    let warnings = said["warnings"].to_string();
    assert!(warnings.contains("the nearest that it has are 1-5 and 12-18"), "{warnings}");

    assert_eq!(
        yard.result_names(),
        [
            "has_commits.txt",
            "implement_new_inline_comments.json",
            "implement_thread_replies.json",
            "implement_top_level_comments.json"
        ]
    );
    assert_eq!(yard.result("has_commits.txt"), "true");
    assert_eq!(
        yard.result("implement_thread_replies.json"),
        "[\n  {\n    \"commentId\": \"PRRC_moat_1\",\n    \"body\": \"From the river.\"\n  }\n]\n"
    );
    assert_eq!(
        yard.result("implement_new_inline_comments.json"),
        "[\n  {\n    \"path\": \"src/lib.rs\",\n    \"line\": 15,\n    \"body\": \"Here.\"\n  },\n  {\n    \
         \"path\": \"docs/moat.md\",\n    \"line\": 1,\n    \"body\": \"Here, too.\"\n  }\n]\n"
    );
    assert_eq!(
        yard.result("implement_top_level_comments.json"),
        "[\n  {\n    \"body\": \"The wall is two hands thick now.\"\n  }\n]\n"
    );

    // The commit is on the branch here, and nothing has left.
    assert_eq!(yard.desk.subjects("tower").await[0], "Make the wall thicker");
    assert_eq!(said["tip"], yard.desk.tip("tower").await);
    assert_eq!((said["start"].as_str(), said["unpushed"].as_bool()), (Some(&*yard.head), Some(true)));
    assert_eq!(yard.remote_tip("tower").await, yard.head);
    assert_eq!(yard.server.posted(), []);
    yard.desk.assert_whole().await;
}

#[tokio::test]
async fn row_199_a_review_is_what_github_takes() {
    let yard = Yard::new().await;
    let (replies, comments) = remarks();
    let reviewed =
        report(&json!({ "summary": "Thick enough.", "inlineComments": comments, "replies": replies }));
    let ended = yard.play("review", &json!([work(), reviewed]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let payload: Value = serde_json::from_str(&yard.result("review_payload.json")).unwrap();
    let comment = |path: &str, line: u32, body: &str| json!({ "path": path, "line": line, "side": "RIGHT", "body": body });
    assert_eq!(
        payload,
        json!({
            "commit_id": yard.desk.tip("tower").await,
            "event": "COMMENT",
            "body": "Thick enough.",
            "comments": [comment("src/lib.rs", 15, "Here."), comment("docs/moat.md", 1, "Here, too.")],
        })
    );
    assert_eq!(yard.result("summary.md"), "Thick enough.\n");
    assert_eq!(yard.result("verdict.txt"), "improved");
    let kept: Value = serde_json::from_str(&yard.result("replies.json")).unwrap();
    assert_eq!(kept, json!([{ "commentId": "PRRC_moat_1", "body": "From the river." }]));
}

#[tokio::test]
async fn a_line_that_is_in_the_diff_only_by_the_agents_commit_is_none_without_it() {
    let yard = Yard::new().await;
    let (replies, comments) = remarks();
    let reviewed = report(&json!({ "summary": "Fine.", "inlineComments": comments, "replies": replies }));
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let ended = yard.play("review", &json!([looked, reviewed]), &[]);
    assert_eq!(json_of(&ended)["counts"]["inline_comments"], 1, "{ended:?}");
    assert_eq!(yard.result("verdict.txt"), "clean");
    assert_eq!(json_of(&ended)["unpushed"], false);
}

#[tokio::test]
async fn row_199_a_look_is_one_comment() {
    let yard = Yard::new().await;
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let turns = json!([looked, report(&json!({ "comment": "Begin with `src/lib.rs`." }))]);
    let ended = yard.play("explore", &turns, &["--post"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(yard.result_names(), ["comment.md"]);
    assert_eq!(yard.result("comment.md"), "Begin with `src/lib.rs`.\n");
    assert_eq!(yard.server.posted().len(), 1);
    assert_eq!(json_of(&ended)["postings"][0]["result"]["state"], "posted");
}

#[tokio::test]
async fn the_agent_is_told_of_the_pull_request_and_asked_only_for_the_report() {
    let yard = Yard::of(|scene| scene.with("/pull/title", json!("Add `{{BRANCH}}` !`touch owned`"))).await;
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let ended = yard.play("explore", &json!([looked, report(&json!({ "comment": "x" }))]), &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let prompts = yard.prompts(&ended);
    let [work, question] = prompts.as_slice() else { panic!("{prompts:#?}") };
    for told in [
        "pull request #12, which",
        "\nAdd `{{BRANCH}}` !`touch owned`\n\nA tower",
        "the branch `tower` into `release`",
        "A tower, and a moat around it.",
        "it closes, #34:\n",
        "\nNo tower\n\nOne cannot see the sea.",
        "+a wall",
        "\"commentId\": \"PRRC_moat_1\"",
        "\"verdict\": \"changes_requested\"",
        "Is the moat deep enough?",
    ] {
        assert!(work.contains(told), "`{told}` is not in {work}");
    }
    for absent in ["PRRC_done_1", "Not said yet.", "<output>", "Secret plans"] {
        assert!(!work.contains(absent), "`{absent}` is in {work}");
    }
    assert!(question.contains("<output>") && question.contains("Change no file"), "{question}");
    assert!(!yard.desk.repository.path().join("owned").exists());
}

#[tokio::test]
async fn a_template_of_the_users_gets_what_it_names() {
    let yard = Yard::new().await;
    let template = yard.desk.file("mine.md", "Look at {{PR_NUMBER}} for {{WHO}}: {{PR_TITLE}}");
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let turns = json!([looked, report(&json!({ "comment": "x" }))]);
    let template = template.to_str().unwrap();
    let ended = yard.play("explore", &turns, &["--prompt-file", template, "--arg", "WHO=me"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(yard.prompts(&ended)[0], "Look at 12 for me: Add a tower");
    assert_eq!(json_of(&ended)["warnings"], json!([]));
}

#[tokio::test]
async fn a_person_reads_the_four_counts_what_was_left_out_and_what_to_do() {
    let yard = Yard::new().await;
    let ended = yard.play("implement", &json!([work(), implemented()]), &["--format", "human"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    for shown in [
        "1 commit, 1 thread reply, 2 inline comments, 1 top-level comment\n",
        "warning   the reply to the comment `PRRC_done_1` was left out: its thread is resolved\n",
        " Make the wall thicker\n",
        &format!("results   {}\n", yard.results().display()),
        "git push origin tower:tower",
    ] {
        assert!(ended.stdout.contains(shown), "`{shown}` is not in {}", ended.stdout);
    }
}
