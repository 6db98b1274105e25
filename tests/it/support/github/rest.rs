//! GitHub's REST interface, as far as it is asked, with pages as
//! <https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api> describes them.

use serde_json::{Value, json};

use super::exchange::{Reply, Request};
use super::scene::Scene;

/// Answers a request, and gives what was posted by it.
pub(super) fn answer(
    scene: &Scene,
    base: &str,
    page_size: usize,
    request: &Request,
) -> (Reply, Option<Posted>) {
    let (name, number) = (scene.name(), scene.number().to_string());
    let path: Vec<&str> = request.path().trim_start_matches('/').split('/').collect();
    let (["repos", owner, repository, rest @ ..] | ["repositories", owner, repository, rest @ ..]) =
        &path[..]
    else {
        return (absent(), None);
    };
    if !format!("{owner}/{repository}").eq_ignore_ascii_case(name) {
        return (absent(), None);
    }
    let list = |name: &str| page(&scene.data[name], base, page_size, request);
    match (request.method.as_str(), rest) {
        ("GET", ["pulls", asked]) if *asked == number => (Reply::json(200, &scene.data["pull"]), None),
        ("GET", ["issues", asked, "comments"]) if *asked == number => (list("comments"), None),
        ("GET", ["pulls", asked, "reviews"]) if *asked == number => (list("reviews"), None),
        ("GET", ["issues", asked]) => {
            (scene.issue(asked).map_or_else(absent, |issue| Reply::json(200, issue)), None)
        }
        ("POST", ["pulls", asked, "reviews"]) if *asked == number => review(scene, &request.body),
        ("POST", ["issues", asked, "comments"]) if *asked == number => comment(scene, &request.body),
        _ => (absent(), None),
    }
}

/// What somebody said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Posted {
    /// In a thread, which is named, with its `body`.
    Reply(Value),
    /// The body of the request.
    Review(Value),
    /// The body of the request.
    Comment(Value),
}

/// <https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request>
fn review(scene: &Scene, body: &Value) -> (Reply, Option<Posted>) {
    let comments = body["comments"].as_array().cloned().unwrap_or_default();
    let is_whole = |comment: &Value| {
        comment["path"].is_string()
            && comment["body"].is_string()
            && comment["line"].is_u64()
            && comment["side"] == "RIGHT"
    };
    // The documentation requires it with this event, whatever comments there are.
    let has_words = body["body"].as_str().is_some_and(|body| !body.trim().is_empty());
    if body["event"] != "COMMENT"
        || !body["commit_id"].is_string()
        || !comments.iter().all(is_whole)
        || !has_words
    {
        return (invalid(&json!(["the review is not as the documentation has it"])), None);
    }
    let html_url =
        format!("https://github.com/{}/pull/{}#pullrequestreview-901", scene.name(), scene.number());
    let reply = json!({
        "id": 901, "node_id": "PRR_901", "state": "COMMENTED", "html_url": html_url,
        "body": body["body"], "commit_id": body["commit_id"],
    });
    (Reply::json(200, &reply), Some(Posted::Review(body.clone())))
}

/// <https://docs.github.com/en/rest/issues/comments#create-an-issue-comment>
fn comment(scene: &Scene, body: &Value) -> (Reply, Option<Posted>) {
    if body["body"].as_str().is_none_or(|body| body.trim().is_empty()) {
        return (
            invalid(&json!([{ "resource": "IssueComment", "code": "missing_field", "field": "body" }])),
            None,
        );
    }
    let html_url = format!("https://github.com/{}/pull/{}#issuecomment-902", scene.name(), scene.number());
    let reply = json!({ "id": 902, "node_id": "IC_902", "html_url": html_url, "body": body["body"] });
    (Reply::json(201, &reply), Some(Posted::Comment(body.clone())))
}

/// A page of a list, and the addresses of the others.
fn page(list: &Value, base: &str, page_size: usize, request: &Request) -> Reply {
    let number =
        |name, default| request.parameter(name).map_or(default, |text| text.parse().expect("a number"));
    let size = number("per_page", 30_usize).min(100).min(page_size);
    let page = number("page", 1_usize);
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let items: Vec<&Value> = list.iter().skip((page - 1) * size).take(size).collect();
    let reply = Reply::json(200, &json!(items));
    let last = list.len().div_ceil(size).max(1);
    // The addresses name the repository in another way than it was asked for.
    let path = request.path().replacen("/repos/", "/repositories/", 1);
    let link = |page: usize, rel: &str| format!("<{base}{path}?per_page={size}&page={page}>; rel=\"{rel}\"");
    let mut links = Vec::new();
    if page > 1 {
        links.extend([link(page - 1, "prev"), link(1, "first")]);
    }
    if page < last {
        links.extend([link(page + 1, "next"), link(last, "last")]);
    }
    if links.is_empty() { reply } else { reply.header("link", links.join(", ")) }
}

pub(super) fn absent() -> Reply {
    Reply::refusal(404, "Not Found")
}

fn invalid(errors: &Value) -> Reply {
    Reply::json(422, &json!({ "message": "Validation Failed", "errors": errors, "status": "422" }))
}
