//! When GitHub does not do what it is asked: what it says, and what to do about it.

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use sandcastle::ErrorKind;
use sandcastle::forge::Forge;
use sandcastle::forges::GitHub;
use serde_json::json;

use super::{assert_hidden, failure, server};
use crate::support::github::{NUMBER, REPOSITORY, Reply, TOKEN};

#[tokio::test]
async fn each_refusal_has_its_words_and_its_hint() {
    let refused = |status| Reply::refusal(status, "Forbidden fruit");
    for (reply, hint) in [
        (refused(401), "wrong, has expired or was revoked"),
        (
            refused(403).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "1767225600"),
            "the rate limit is used up until 2026-01-01T00:00:00Z",
        ),
        (refused(429).header("retry-after", "60"), "left alone for 60 s"),
        (Reply::refusal(403, "You have exceeded a secondary rate limit."), "wait for some minutes"),
        (
            refused(403).header("x-accepted-github-permissions", "pull_requests=write"),
            "`pull_requests=write`",
        ),
        (refused(403).header("x-accepted-oauth-scopes", "repo"), "`repo`"),
        (refused(403).header("x-ratelimit-remaining", "4999"), "to read and write pull requests"),
        (refused(403).header("x-github-sso", "required; url=https://x"), "single sign-on"),
        (refused(404), "the same of what is not there and of what is hidden"),
        (refused(410), "has it no more"),
        (refused(500), "the trouble is GitHub's"),
        (refused(503), "the trouble is GitHub's"),
    ] {
        let server = server();
        let status = format!("status {}", reply.status());
        server.on("GET", "/pulls/12", move |_| reply.clone());
        let error = failure(&server).await;
        assert_eq!(error.kind(), ErrorKind::Forge);
        let message = error.to_string();
        assert!(
            message.starts_with("read pull request #12 of `octo/sand`: GitHub answers with "),
            "{message}"
        );
        assert!(message.contains(&status), "{message}");
        assert!(error.hints().len() == 1 && error.hints()[0].contains(hint), "{error:?}");
        assert_eq!(server.requests().len(), 1, "nothing is tried again");
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused_by_the_server_itself() {
    let server = server();
    let error = server.client().token("ghp_anotherOne").pull_request(NUMBER).await.unwrap_err();
    assert!(error.to_string().contains("status 401 and `Bad credentials`"), "{error}");
    let error = GitHub::new(REPOSITORY).base_url(server.url()).pull_request(NUMBER).await.unwrap_err();
    assert!(error.to_string().contains("status 401"), "{error}");
    assert!(error.hints().len() == 1 && error.hints()[0].starts_with("give a token:"), "{error:?}");
    let error =
        GitHub::new("octo/other").base_url(server.url()).token(TOKEN).pull_request(1).await.unwrap_err();
    assert!(
        error.to_string().contains("pull request #1 of `octo/other`: GitHub answers with status 404"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_of_graphql_are_errors_whatever_came_with_them() {
    let data = json!({ "repository": { "pullRequest": { "reviewThreads": {
        "nodes": [], "pageInfo": { "hasNextPage": false, "endCursor": null },
    } } } });
    for (kind, message, hint) in [
        ("RATE_LIMITED", "API rate limit exceeded", "used up until 2026-01-01T00:00:00Z"),
        ("FORBIDDEN", "Resource not accessible by integration", "to read and write pull requests"),
        ("NOT_FOUND", "Could not resolve to a Repository", "what is hidden"),
        ("INTERNAL", "Something went wrong", "the trouble is GitHub's"),
        ("NEW_KIND", "Nobody knows", ""),
    ] {
        let server = server();
        let errors = json!([{ "type": kind, "message": message, "path": ["repository"] }]);
        let answer = json!({ "data": data, "errors": errors });
        server.on("POST", "reviewThreads", move |_| {
            Reply::json(200, &answer).header("x-ratelimit-reset", "1767225600")
        });
        let error = failure(&server).await;
        assert!(error.to_string().contains(&format!("GitHub says: `{message}` ({kind})")), "{error}");
        assert_eq!(error.hints().is_empty(), hint.is_empty(), "{error:?}");
        assert!(error.hints().iter().all(|said| said.contains(hint)), "{error:?}");
    }
}

#[tokio::test]
async fn what_is_no_answer_of_github_is_told_apart() {
    let page = "<html>\n<body>Please log in to the Wi-Fi</body></html>";
    for (reply, words) in [
        (Reply::text(200, "text/html; charset=utf-8", page), "it is no JSON but `text/html; charset=utf-8`"),
        (Reply::text(502, "text/html", page), "status 502 and a page for people"),
        (Reply::text(200, "application/json", "{\"number\":"), "the answer cannot be used: "),
        (Reply::text(200, "application/json", &b"\"\xff\""[..]), "it is no text"),
        (Reply::json(200, &json!({ "number": 12 })), "missing field"),
        (
            Reply::json(302, &json!({})).header("location", "https://elsewhere.example/x?token=1"),
            "it wants the request at another address",
        ),
        (Reply::dropped(), "the connection to GitHub was lost"),
    ] {
        let server = server();
        server.on("GET", "/pulls/12", move |_| reply.clone());
        let error = failure(&server).await;
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(!format!("{error:?}").contains("token=1"), "{error:?}");
    }
}

#[tokio::test]
async fn who_does_not_answer_is_not_waited_for() {
    let server = server();
    server.on("GET", "/pulls/12", |_| Reply::json(200, &json!({})).after(Duration::from_secs(60)));
    let begun = Instant::now();
    let github = server.client().timeout(Duration::from_millis(300));
    let error = github.pull_request(NUMBER).await.unwrap_err();
    assert!(error.to_string().contains("GitHub has not answered within 0.3 s"), "{error}");
    assert!(error.hints()[0].contains("`timeout`") && begun.elapsed() < Duration::from_secs(20), "{error:?}");
}

#[tokio::test]
async fn where_nobody_listens_nobody_is_reached() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    for (base, words) in [
        (format!("http://{closed}"), "GitHub could not be reached: "),
        (format!("https://{closed}"), "GitHub could not be reached: "),
    ] {
        let github = GitHub::new(REPOSITORY).base_url(&base).token(TOKEN);
        let error = github.pull_request(NUMBER).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forge);
        assert!(
            error.to_string().contains(words) && !error.to_string().contains("may have arrived"),
            "{base}: {error}"
        );
        assert_hidden(&error);
    }
}

#[tokio::test]
async fn a_server_that_does_without_tls_is_told_apart() {
    let server = server();
    let base = server.url().replace("http:", "https:");
    let error = server.client().base_url(base).pull_request(NUMBER).await.unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
    assert!(error.hints()[0].contains("http://"), "{error:?}");
}

#[tokio::test]
async fn what_is_given_wrongly_is_said_before_anything_is_sent() {
    let server = server();
    let github = || server.client();
    for (github, words) in [
        (GitHub::new("sand").token(TOKEN), "use `sand` as a repository of GitHub"),
        (GitHub::new("octo/sand\u{1b}[31m").token(TOKEN), "octo/sand\\u{1b}[31m"),
        (github().base_url("api.github.com"), "does not begin with `https://` or `http://`"),
        (github().base_url("https://octocat:hunter2@git.example.com"), "holds a user or a password"),
        (github().base_url("http://git.example.com/api/v3"), "everybody on the way could read it"),
        (github().token(" "), "use the token for GitHub: it is empty"),
        (github().token("ghp_\u{7}bell"), "characters that no header can carry"),
        (github().root_certificate("no PEM"), "there is none in it"),
    ] {
        let error = github.pull_request(NUMBER).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error:?}");
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(!format!("{error:?} {github:?}").contains("hunter2"), "{error:?} {github:?}");
        assert_hidden(&error);
    }
    for number in [0, u64::from(u32::MAX)] {
        let error = github().pull_request(number).await.unwrap_err();
        assert!(error.to_string().ends_with("none has this number"), "{error}");
    }
    assert!(server.requests().is_empty());
}
