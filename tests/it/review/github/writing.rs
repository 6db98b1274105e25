//! What is said on a pull request, and what is said of it when it does not arrive.

use std::time::Duration;

use sandcastle::CommitId;
use sandcastle::ErrorKind;
use sandcastle::forge::{CommentId, Forge, LineComment, NewReview};
use serde_json::json;

use super::{HEAD, assert_hidden, read, scene, server};
use crate::support::github::{GitHubServer, Posted, Reply};

fn review(body: &str, comments: &[(&str, u64)]) -> NewReview {
    let comment =
        |&(path, line): &(&str, u64)| LineComment { path: path.to_owned(), line, body: "why?".to_owned() };
    NewReview {
        commit: CommitId::new(HEAD).unwrap(),
        body: body.to_owned(),
        comments: comments.iter().map(comment).collect(),
    }
}

#[tokio::test]
async fn what_is_said_arrives_as_it_is_and_has_an_address() {
    let server = server();
    let (github, pull_request) = (server.client(), read(&server).await);
    let walls = CommentId::new("PRRC_walls_2");
    let reply = github.reply(&pull_request, &walls, "Two \"hands\", ${as} said\n🏰").await.unwrap();
    let posted = review("Nearly.", &[("src/lib.rs", 2), ("a b/ü.rs", 9)]);
    let review = github.review(&pull_request, &posted).await.unwrap();
    let comment = github.comment(&pull_request, "Done.").await.unwrap();
    let url = "https://github.com/octo/sand/pull/12";
    assert_eq!(
        [reply, review, comment],
        [
            format!("{url}#discussion_r900"),
            format!("{url}#pullrequestreview-901"),
            format!("{url}#issuecomment-902")
        ]
    );
    let lines = json!([
        { "path": "src/lib.rs", "line": 2, "side": "RIGHT", "body": "why?" },
        { "path": "a b/ü.rs", "line": 9, "side": "RIGHT", "body": "why?" },
    ]);
    assert_eq!(
        server.posted(),
        [
            Posted::Reply(json!({ "thread": "PRRT_walls", "body": "Two \"hands\", ${as} said\n🏰" })),
            Posted::Review(
                json!({ "commit_id": HEAD, "event": "COMMENT", "body": "Nearly.", "comments": lines })
            ),
            Posted::Comment(json!({ "body": "Done." })),
        ]
    );
}

#[tokio::test]
async fn a_review_may_have_words_or_lines_and_has_something() {
    let server = server();
    let (github, pull_request) = (server.client(), read(&server).await);
    github.review(&pull_request, &review("", &[("src/lib.rs", 2)])).await.unwrap();
    github.review(&pull_request, &review("Fine.", &[])).await.unwrap();
    let error = github.review(&pull_request, &review(" \n", &[])).await.unwrap_err();
    assert!(error.to_string().contains("a review that says nothing"), "{error}");
    let two = [("src/lib.rs", 2), ("src/lib.rs", 3)];
    github.review(&pull_request, &review(" ", &two)).await.unwrap();
    let body = |posted: Posted| match posted {
        Posted::Review(review) => review["body"].clone(),
        other => panic!("{other:?}"),
    };
    let bodies: Vec<_> = server.posted().into_iter().map(body).collect();
    assert_eq!(bodies, ["1 comment on a line.", "Fine.", "2 comments on lines."]);
}

#[tokio::test]
async fn a_reply_to_a_comment_that_is_in_no_thread_is_not_sent() {
    let server = server();
    let pull_request = read(&server).await;
    let before = server.requests().len();
    // The second is a draft of whom the token belongs to.
    for made_up in ["PRRC_made_up", "PRRC_draft_1", ""] {
        let error =
            server.client().reply(&pull_request, &CommentId::new(made_up), "Hello?").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forge);
        assert!(
            error.to_string().contains(&format!("no thread of it has the comment `{made_up}`")),
            "{error}"
        );
        assert!(error.hints().is_empty(), "{error:?}");
    }
    assert_eq!(server.requests().len(), before);
}

#[tokio::test]
async fn a_line_that_is_not_in_the_diff_is_refused_with_what_to_do() {
    let server = server();
    let pull_request = read(&server).await;
    server.on("POST", "/reviews", |_| {
        let errors = json!(["Pull request review thread line must be part of the diff"]);
        Reply::json(422, &json!({ "message": "Unprocessable Entity", "errors": errors, "status": "422" }))
    });
    let error = server.client().review(&pull_request, &review("", &[("src/lib.rs", 999)])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "post a review of pull request #12 of `octo/sand`: GitHub answers with status 422 and `Unprocessable Entity`; \
         Pull request review thread line must be part of the diff"
    );
    assert!(error.hints().len() == 1 && error.hints()[0].contains("push the commits before"), "{error:?}");
}

#[tokio::test]
async fn what_is_invalid_in_another_way_is_told_by_its_field() {
    let server = server();
    let pull_request = read(&server).await;
    let error = server.client().comment(&pull_request, " ").await.unwrap_err();
    assert!(
        error.to_string().ends_with("status 422 and `Validation Failed`; body: missing_field"),
        "{error}"
    );
    assert!(error.hints().is_empty(), "{error:?}");
}

#[tokio::test]
async fn a_reply_that_waits_in_a_review_was_not_said() {
    let mut scene = scene();
    scene.data["replyState"] = json!("PENDING");
    let server = GitHubServer::start(scene);
    let pull_request = read(&server).await;
    let error = server
        .client()
        .reply(&pull_request, &CommentId::new("PRRC_moat_1"), "From the sea.")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("a review that the owner of the token has begun"), "{error}");
    assert!(error.hints().iter().any(|hint| hint.contains("submit that review")), "{error:?}");
}

#[tokio::test]
async fn what_may_have_arrived_is_not_said_again_and_that_is_told() {
    let server = server();
    let pull_request = read(&server).await;
    for reply in [
        Reply::dropped(),
        Reply::json(201, &json!({})).after(Duration::from_secs(5)),
        Reply::refusal(502, "Server Error"),
        Reply::text(201, "text/html", "<html>"),
        Reply::json(201, &json!({ "id": 1 })),
    ] {
        let shown = format!("{reply:?}");
        server.on("POST", "/comments", move |_| reply.clone());
        let before = server.requests().len();
        let github = server.client().timeout(Duration::from_millis(500));
        let error = github.comment(&pull_request, "Once.").await.unwrap_err();
        assert_eq!(server.requests().len(), before + 1, "{shown}");
        assert!(error.hints().iter().any(|hint| hint.contains("it may have arrived")), "{shown}: {error:?}");
        assert_hidden(&error);
    }
    for status in [401, 403, 404, 422] {
        server.on("POST", "/comments", move |_| Reply::refusal(status, "no"));
        let error = server.client().comment(&pull_request, "Once.").await.unwrap_err();
        assert!(!error.hints().iter().any(|hint| hint.contains("may have arrived")), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_one_is_not_shown() {
    let server = server();
    let pull_request = read(&server).await;
    for bad in ["javascript:alert(1)", "\u{1b}[31m", "", "https://"] {
        server.on("POST", "/comments", move |_| Reply::json(201, &json!({ "html_url": bad })));
        let address = server.client().comment(&pull_request, "Done.").await.unwrap();
        assert_eq!(address, "https://github.com/octo/sand/pull/12", "{bad:?}");
    }
}
