//! A pull request is read whole: on one page or on many, of this repository or of a fork.

use sandcastle::forge::{Forge, HeadOrigin, PullRequestState, ThreadState};
use serde_json::json;

use super::{BASE, HEAD, failure, read, scene, server};
use crate::support::github::{GitHubServer, NUMBER, Reply};

#[tokio::test]
async fn a_pull_request_is_read_with_all_that_was_said() {
    let read = read(&server()).await;
    assert_eq!((read.number, read.title.as_str(), read.author.as_str()), (12, "Add a tower", "octocat"));
    assert_eq!((read.base.branch.as_str(), read.base.commit.as_str()), ("release", BASE));
    assert_eq!((read.head.branch.as_str(), read.head.commit.as_str()), ("tower", HEAD));
    assert_eq!(
        (&read.head.origin, read.state, read.is_draft),
        (&HeadOrigin::Same, PullRequestState::Open, false)
    );
    assert_eq!(read.url, "https://github.com/octo/sand/pull/12");

    let comments: Vec<_> =
        read.comments.iter().map(|comment| (comment.author.as_str(), comment.body.as_str())).collect();
    assert_eq!(
        comments,
        [
            ("hubot", "Deployed a preview."),
            ("ghost", "Is the moat deep enough?"),
            ("octocat", "Deep as the sea 🌊")
        ]
    );
    let reviews: Vec<_> =
        read.reviews.iter().map(|review| (review.author.as_str(), review.verdict.as_str())).collect();
    assert_eq!(reviews, [("mona", "changes_requested"), ("hubot", "approved")]);
    let issues: Vec<_> = read.issues.iter().map(|issue| (issue.number, issue.body.as_str())).collect();
    assert_eq!(issues, [(34, "One cannot see the sea."), (35, "")]);
}

#[tokio::test]
async fn threads_are_read_with_their_state_and_their_line_and_without_drafts() {
    let read = read(&server()).await;
    let threads: Vec<_> =
        read.threads.iter().map(|thread| (thread.id.as_str(), thread.state, thread.line)).collect();
    assert_eq!(
        threads,
        [
            ("PRRT_walls", ThreadState::Unresolved, Some(2)),
            ("PRRT_done", ThreadState::Resolved, Some(7)),
            ("PRRT_moat", ThreadState::Unresolved, None),
        ]
    );
    let said: Vec<_> = read.threads[0]
        .comments
        .iter()
        .map(|comment| (comment.id.as_str(), comment.author.as_str(), comment.body.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("PRRC_walls_1", "mona", "Make this wall thicker."),
            ("PRRC_walls_2", "octocat", "How thick?"),
            ("PRRC_walls_3", "ghost", "Two hands."),
        ]
    );
    assert_eq!(read.unresolved().count(), 2);
}

#[tokio::test]
async fn every_page_is_read_of_every_list() {
    let whole = read(&server()).await;
    for size in [1, 2, 3] {
        let server = server().page_size(size);
        assert_eq!(read(&server).await, whole, "{size} on a page");
    }
}

#[tokio::test]
async fn every_request_is_made_once_and_says_who_asks() {
    let server = server();
    read(&server).await;
    let requests = server.requests();
    let mut asked: Vec<_> =
        requests.iter().map(|request| (request.target.as_str(), request.body.to_string())).collect();
    let count = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), count, "{asked:#?}");
    // Itself, two lists, an issue that is only named; threads and linked issues.
    assert_eq!(count, 6, "{asked:#?}");
    let agent = concat!("sandcastle/", env!("CARGO_PKG_VERSION"));
    assert!(requests.iter().all(|request| request.header("user-agent") == Some(agent)), "{requests:#?}");
}

#[tokio::test]
async fn the_head_may_be_in_a_fork_or_gone() {
    for (repository, origin) in [
        (Some("stranger/sand"), HeadOrigin::Fork("stranger/sand".to_owned())),
        (Some("OCTO/Sand"), HeadOrigin::Same),
        (None, HeadOrigin::Gone),
    ] {
        let server = GitHubServer::start(scene().head_in(repository).branches("a/b", "main"));
        let read = read(&server).await;
        assert_eq!((read.head.origin, read.base.branch.as_str()), (origin, "main"), "{repository:?}");
    }
}

#[tokio::test]
async fn a_merged_or_closed_pull_request_says_so() {
    let closed = scene().with("/pull/state", json!("closed"));
    let merged = closed.clone().with("/pull/merged_at", json!("2026-02-01T00:00:00Z"));
    let draft = scene()
        .with("/pull/draft", json!(true))
        .with("/pull/body", json!(null))
        .with("/pull/user", json!(null));
    assert_eq!(read(&GitHubServer::start(closed)).await.state, PullRequestState::Closed);
    assert_eq!(read(&GitHubServer::start(merged)).await.state, PullRequestState::Merged);
    let draft = read(&GitHubServer::start(draft)).await;
    assert!(draft.is_draft && draft.body.is_empty() && draft.author == "ghost", "{draft:?}");
}

#[tokio::test]
async fn an_issue_that_is_named_and_cannot_be_read_is_left_out() {
    for status in [301, 403, 404, 410] {
        let server = server();
        server.on("GET", "/issues/35", move |_| {
            Reply::refusal(status, "no").header("location", "/repositories/1/issues/9")
        });
        let issues = read(&server).await.issues;
        assert!(issues.len() == 1 && issues[0].number == 34, "{status}: {issues:?}");
    }
    let server = server();
    server.on("GET", "/issues/35", |_| Reply::refusal(502, "no"));
    assert!(failure(&server).await.to_string().contains("status 502"));
    // A pull request is none.
    let server = GitHubServer::start(scene().with("/pull/body", json!("fixes #12")));
    assert_eq!(read(&server).await.issues.len(), 1);
}

#[tokio::test]
async fn an_enterprise_server_has_graphql_beside_its_rest_interface() {
    let server = server();
    // The loopback server has no such path: it is where the question arrives that is looked at.
    let error =
        server.client().base_url(format!("{}/api/v3", server.url())).pull_request(NUMBER).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
    assert_eq!(server.requests()[0].target, "/api/v3/repos/octo/sand/pulls/12");
}

#[tokio::test]
async fn the_repository_is_named_in_any_case_and_clones_share_what_they_know() {
    let server = server();
    let github = sandcastle::forges::GitHub::new("Octo/SAND")
        .base_url(format!("{}/", server.url()))
        .token(crate::support::github::TOKEN);
    let (one, other) = (github.clone(), github);
    assert_eq!(one.pull_request(NUMBER).await.unwrap(), other.pull_request(NUMBER).await.unwrap());
    assert_eq!((one.name(), one.repository()), ("github", "Octo/SAND"));
}
