//! What leaves this machine: nothing without being asked for, commits with a lease, and everything that is said once.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Yard, remarks, report, work};
use crate::support::desk::json_of;
use crate::support::github::{Posted, Reply};

fn reviewed() -> Value {
    let (replies, comments) = remarks();
    report(&json!({ "summary": "Thick enough.", "inlineComments": comments, "replies": replies }))
}

fn answered() -> Value {
    let (replies, comments) = remarks();
    report(&json!({
        "threadReplies": replies,
        "newInlineComments": comments,
        "topLevelComments": [{ "body": "One." }, { "body": "Two." }],
    }))
}

#[tokio::test]
async fn commits_are_pushed_and_what_is_said_is_posted_once_in_order() {
    let yard = Yard::new().await;
    let ended = yard.play("implement", &json!([work(), answered()]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let tip = yard.desk.tip("tower").await;
    assert_eq!(yard.remote_tip("tower").await, tip);
    let posted = yard.server.posted();
    let [Posted::Reply(reply), Posted::Review(review), Posted::Comment(one), Posted::Comment(two)] =
        posted.as_slice()
    else {
        panic!("{posted:#?}")
    };
    assert!(reply.to_string().contains("From the river."), "{reply}");
    assert_eq!((&review["commit_id"], review["comments"].as_array().unwrap().len()), (&json!(tip), 2));
    assert_eq!((&one["body"], &two["body"]), (&json!("One."), &json!("Two.")));
    let said = json_of(&ended);
    assert_eq!(said["unpushed"], false);
    let states: Vec<_> =
        said["postings"].as_array().unwrap().iter().map(|it| it["result"]["state"].clone()).collect();
    assert_eq!(states, ["posted"; 4]);
    assert!(said["postings"][1]["result"]["url"].as_str().unwrap().contains("#pullrequestreview-"));
}

#[tokio::test]
async fn row_199_a_branch_that_has_moved_on_is_not_pushed_over() {
    let yard = Yard::new().await;
    let marker = yard.desk.home.path().join("pushed");
    // Somebody is faster while the agent works.
    let there = yard.desk.home.path().join("remote.git");
    let git = format!("git --git-dir='{}' -c user.name=x -c user.email=x@x", there.display());
    let faster = format!(
        "new=$({git} commit-tree -p {head} -m Elsewhere '{head}^{{tree}}') \
         && {git} update-ref refs/heads/tower $new && touch '{}'",
        marker.display(),
        head = yard.head,
    );
    let mut turn = work();
    turn["steps"].as_array_mut().unwrap().insert(0, json!({ "shell": faster }));
    let ended = yard.play("review", &json!([turn, reviewed()]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(marker.exists());
    let theirs = yard.remote_tip("tower").await;
    assert!(theirs != yard.head && theirs != yard.desk.tip("tower").await);
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "git");
    assert!(error["message"].as_str().unwrap().contains("moved on"), "{error}");
    // What was done is not lost: the commit is here, the results are written, and nothing was said.
    assert_eq!(error["commits"][0]["subject"], "Make the wall thicker");
    assert_eq!(yard.desk.subjects("tower").await[0], "Make the wall thicker");
    assert!(yard.result("failure_reason.txt").contains("moved on"));
    assert_eq!(yard.result("summary.md"), "Thick enough.\n");
    assert_eq!(yard.server.posted(), []);
}

#[tokio::test]
async fn what_is_about_commits_is_not_posted_without_them() {
    let yard = Yard::new().await;
    let ended = yard.play("review", &json!([work(), reviewed()]), &["--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let error = &json_of(&ended)["error"];
    assert!(error["hints"].to_string().contains("`--push`"), "{error}");
    assert_eq!(yard.server.posted(), []);
    assert!(yard.result("failure_reason.txt").contains("not pushed"));
    assert_eq!(yard.result("verdict.txt"), "improved");
    // Without commits there is nothing to wait for.
    let yard = Yard::new().await;
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let ended = yard.play("review", &json!([looked, reviewed()]), &["--post"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(yard.server.posted().len(), 2);
}

#[tokio::test]
async fn a_host_that_says_nothing_can_be_given_up() {
    let yard = Yard::new().await;
    yard.server
        .on("POST", "/reviews", |_| Reply::refusal(502, "Bad Gateway").after(Duration::from_secs(600)));
    let looked = json!({ "steps": [{ "say": "I looked." }] });
    let reply = json!({ "commentId": "PRRC_moat_1", "body": "From the river." });
    let report = report(&json!({ "summary": "Fine.", "replies": [reply] }));
    let running = yard.command("review", &json!([looked, report]), &["--post"]).start();
    let begun = Instant::now();
    while !yard.server.requests().iter().any(|it| it.method == "POST" && it.target.ends_with("/reviews")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing was posted");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.signal(Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code(), Some(130), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it was waited for");
    let error = &json_of(&ended)["error"];
    assert_eq!(
        (error["kind"].as_str(), error["branch"].as_str()),
        (Some("cancelled"), Some("tower")),
        "{error}"
    );
    let (said, hints) = (yard.result("failure_reason.txt"), error["hints"].to_string());
    assert!(said.contains("may have arrived") && said.contains("runs show"), "{said}");
    assert!(hints.contains("posted before: a reply to the comment `PRRC_moat_1`"), "{hints}");
    assert!(hints.contains("see whether it arrived before you post it by hand: a review"), "{hints}");
    assert_eq!(yard.result("summary.md"), "Fine.\n");
}

#[tokio::test]
async fn a_failure_in_the_middle_says_what_was_posted_and_what_was_not() {
    let yard = Yard::new().await;
    yard.server.on("POST", "/reviews", |_| Reply::refusal(502, "Bad Gateway"));
    let ended = yard.play("implement", &json!([work(), answered()]), &["--push", "--post"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "forge");
    let hints = error["hints"].to_string();
    assert!(error["message"].as_str().unwrap().contains("a review with 2 comments on lines"), "{error}");
    assert!(hints.contains("posted before: a reply to the comment `PRRC_moat_1`"), "{hints}");
    assert_eq!(hints.matches("not posted: a comment on the pull request").count(), 2, "{hints}");
    assert_eq!(yard.server.posted().len(), 1, "{:?}", yard.server.posted());
    let reviews = yard
        .server
        .requests()
        .into_iter()
        .filter(|it| it.target.ends_with("/reviews") && it.method == "POST");
    assert_eq!(reviews.count(), 1, "what may have arrived is not sent again");
    assert!(
        yard.result("failure_reason.txt").contains("not posted"),
        "{}",
        yard.result("failure_reason.txt")
    );
}
