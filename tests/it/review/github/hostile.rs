//! A host that means ill, or is broken: it cannot fill the memory, keep anybody busy for ever, or get hold of the token.

use std::sync::atomic::{AtomicU64, Ordering};

use sandcastle::forge::Forge;
use serde_json::{Value, json};

use super::{assert_hidden, failure, read, scene, server};
use crate::support::github::{GitHubServer, NUMBER, Reply, Request, TOKEN};

/// A page of threads without any, which says that it goes on with `cursor`.
fn threads(cursor: &Value) -> Value {
    let info = json!({ "hasNextPage": true, "endCursor": cursor });
    json!({ "data": { "repository": { "pullRequest": { "reviewThreads": { "nodes": [], "pageInfo": info } } } } })
}

#[tokio::test]
async fn a_list_that_leads_elsewhere_is_not_followed() {
    let elsewhere = server();
    for target in [
        format!("{}/repos/octo/sand/issues/12/comments?page=2", elsewhere.url()),
        "https://evil.example.com/".to_owned(),
        "//evil.example.com/x".to_owned(),
        "http://127.0.0.1@evil.example.com/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let server = server();
        let link = format!("<{target}>; rel=\"next\"");
        server.on("GET", "/comments", move |_| Reply::json(200, &json!([])).header("link", link.clone()));
        let error = failure(&server).await;
        assert!(
            error.to_string().contains("a next page that is not at the base address"),
            "{target}: {error}"
        );
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_list_that_goes_in_circles_ends() {
    let server = server();
    let base = server.url();
    server.on("GET", "/comments", move |request: &Request| {
        let other = if request.parameter("page") == Some("2") { 3 } else { 2 };
        let link = format!("<{base}/repos/octo/sand/issues/12/comments?page={other}>; rel=\"next\"");
        Reply::json(200, &json!([])).header("link", link)
    });
    let error = failure(&server).await;
    assert!(error.to_string().contains("a page that it had before"), "{error}");
    for cursor in [json!("again"), json!(null), json!("")] {
        let server = GitHubServer::start(scene());
        server.on("POST", "reviewThreads", move |_| Reply::json(200, &threads(&cursor)));
        let error = failure(&server).await;
        assert!(error.to_string().contains("a page that it had before"), "{error}");
        assert!(server.requests().len() < 8);
    }
}

#[tokio::test]
async fn a_list_without_end_ends_at_a_bound_which_is_named() {
    let server = server();
    let count = AtomicU64::new(0);
    server.on("POST", "reviewThreads", move |_| {
        Reply::json(200, &threads(&json!(format!("c{}", count.fetch_add(1, Ordering::Relaxed)))))
    });
    assert!(failure(&server).await.to_string().contains("more than 200 pages of one list"));

    let server = GitHubServer::start(scene());
    let base = server.url();
    let page: Vec<_> = (0..100).map(|number| json!({ "user": null, "body": number.to_string() })).collect();
    server.on("GET", "/comments", move |request: &Request| {
        let next = request.parameter("page").map_or(1, |page| page.parse().unwrap()) + 1;
        let link = format!("<{base}/repos/octo/sand/issues/12/comments?page={next}>; rel=\"next\"");
        Reply::json(200, &json!(page)).header("link", link)
    });
    assert!(failure(&server).await.to_string().contains("more than 10000 comments, reviews and issues"));
    assert!(server.requests().len() < 110);
}

#[tokio::test]
async fn a_page_with_more_than_was_asked_for_is_refused() {
    let server = server();
    let page = vec![json!({ "user": null, "body": "" }); 101];
    server.on("GET", "/comments", move |_| Reply::json(200, &json!(page)));
    assert!(failure(&server).await.to_string().contains("a list of at most 100"));
}

#[tokio::test]
async fn an_answer_without_end_is_not_kept() {
    let server = server();
    let block = " ".repeat(1 << 20);
    let answer = Reply::text(200, "application/json", block.clone()).endless();
    server.on("GET", "/pulls/12", move |_| answer.clone());
    assert!(failure(&server).await.to_string().contains("an answer of more than 16777216 bytes"));

    let refusal = Reply::text(403, "text/plain", block.replace(' ', "no ")).endless();
    server.on("GET", "/pulls/12", move |_| refusal.clone());
    let message = failure(&server).await.to_string();
    assert!(message.contains("status 403") && message.len() < 1200, "{message}");
}

#[tokio::test]
async fn answers_are_bounded_together() {
    let server = server();
    let base = server.url();
    let answer = format!("[{}]", " ".repeat(15 << 20));
    server.on("GET", "/comments", move |request: &Request| {
        let next = request.parameter("page").map_or(1, |page| page.parse().unwrap()) + 1;
        let link = format!("<{base}/repos/octo/sand/issues/12/comments?page={next}>; rel=\"next\"");
        Reply::text(200, "application/json", answer.clone()).header("link", link)
    });
    assert!(failure(&server).await.to_string().contains("answers of more than 67108864 bytes in all"));
}

#[tokio::test]
async fn names_that_git_would_not_take_are_refused() {
    for (pointer, value) in [
        ("/pull/head/ref", json!("--upload-pack=touch /tmp/x")),
        ("/pull/base/ref", json!("a..b")),
        ("/pull/head/sha", json!("HEAD~1")),
        ("/pull/base/sha", json!("")),
        ("/pull/head/repo", json!({ "full_name": "../../etc" })),
        ("/pull/base/repo", json!(null)),
        ("/pull/html_url", json!("javascript:alert(1)")),
        ("/pull/number", json!(13)),
    ] {
        let server = GitHubServer::start(scene());
        let mut pull = scene().data["pull"].clone();
        *pull.pointer_mut(pointer.trim_start_matches("/pull")).unwrap() = value;
        server.on("GET", "/pulls/12", move |_| Reply::json(200, &pull));
        let error = failure(&server).await;
        assert!(error.to_string().contains("the answer cannot be used"), "{pointer}: {error}");
    }
}

#[tokio::test]
async fn the_token_is_nowhere_whatever_a_host_repeats() {
    let said = format!("you said Bearer {TOKEN} and {TOKEN}");
    for reply in [
        Reply::refusal(403, &said).header("x-accepted-github-permissions", said.clone()),
        Reply::json(422, &json!({ "message": said, "errors": [said, { "message": said }, { "x": said }] })),
        Reply::text(200, &format!("text/{TOKEN}"), "x"),
        Reply::json(200, &json!({ "number": said })),
        Reply::json(301, &json!({})).header("location", format!("https://{TOKEN}.example/")),
    ] {
        let server = server();
        server.on("GET", "/pulls/12", move |_| reply.clone());
        let error = failure(&server).await;
        assert!(!format!("{error:?}").to_lowercase().contains(&TOKEN.to_lowercase()), "{error:?}");
    }
    let server = GitHubServer::start(scene());
    let errors = json!({ "data": null, "errors": [{ "message": said, "type": said }] });
    server.on("POST", "reviewThreads", move |_| Reply::json(200, &errors));
    failure(&server).await;
    let github = server.client();
    assert!(!format!("{github:?} {github:#?}").contains(TOKEN));
}

#[tokio::test]
async fn words_of_a_host_cannot_command_a_terminal() {
    let server = server();
    server.on("GET", "/pulls/12", |_| Reply::refusal(403, "\u{1b}[2J\r\nok\u{7}"));
    let error = failure(&server).await;
    assert!(!format!("{error:#}").replace("\n  ", "").contains(|c: char| c.is_control()), "{error:?}");
}

#[tokio::test]
async fn requests_that_are_dropped_leave_the_next_ones_alone() {
    let server = server();
    server.on("GET", "/pulls/12", |_| Reply::json(200, &json!({})).after(std::time::Duration::from_secs(60)));
    let github = server.client();
    let slow = github.pull_request(NUMBER);
    tokio::time::timeout(std::time::Duration::from_millis(200), slow).await.unwrap_err();
    let pull = scene().data["pull"].clone();
    server.on("GET", "/pulls/12", move |_| Reply::json(200, &pull));
    assert_eq!(github.pull_request(NUMBER).await.unwrap(), read(&GitHubServer::start(scene())).await);
    assert_hidden(&github.pull_request(13).await.unwrap_err());
}
