//! Why services give no answer: each kind told apart, in the service's own words, without the key.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use sandcastle::event::FailureKind;
use sandcastle::model::{Model, ModelRequest, ToolChoice, ToolSpec, WireSchema};
use sandcastle::models::{Anthropic, OpenAi};
use serde_json::{Value, json};

use super::{KEY, Service, question};
use crate::support::model_server::Reply;

#[tokio::test]
async fn a_status_tells_the_kind_and_the_service_says_why() {
    for (status, kind) in [
        (400, FailureKind::Request),
        (401, FailureKind::Authentication),
        (402, FailureKind::Limit),
        (403, FailureKind::Authentication),
        (404, FailureKind::Request),
        (408, FailureKind::Transport),
        (409, FailureKind::Transport),
        (413, FailureKind::Request),
        (422, FailureKind::Request),
        (429, FailureKind::Transport),
        (500, FailureKind::Transport),
        (503, FailureKind::Transport),
        (529, FailureKind::Transport),
    ] {
        for service in Service::ALL {
            let failure = service.failure(Reply::status(status).because("so it is").retry_after(2)).await;
            assert_eq!((failure.kind, failure.status), (kind, Some(status)), "{service:?}: {failure}");
            assert_eq!(failure.message, "so it is", "{service:?}");
            assert_eq!(failure.retry_after, Some(Duration::from_secs(2)), "{service:?}");
        }
    }
}

#[tokio::test]
async fn a_service_that_repeats_the_key_does_not_show_it() {
    for service in Service::ALL {
        for words in
            [format!("bad key {KEY}"), format!("{}{KEY}", "x".repeat(590)), format!("a\n{KEY}\u{1b}[2Jb")]
        {
            let failure = service.failure(Reply::status(401).because(words)).await;
            let shown = format!("{failure:?} {failure}");
            assert!(!shown.contains(&KEY[..8]) && shown.contains("***"), "{service:?}: {shown}");
            assert!(failure.message.chars().count() <= 600 && !failure.message.contains(char::is_control));
        }
    }
}

#[tokio::test]
async fn what_breaks_off_is_a_matter_of_transport() {
    for service in Service::ALL {
        for reply in [
            Reply::dropped(),
            Reply::text("half").cut_short(),
            Reply::text("half").severed(),
            Reply::error_event("overloaded_error"),
        ] {
            let failure = service.failure(reply.clone()).await;
            assert_eq!(failure.kind, FailureKind::Transport, "{service:?} {reply:?}: {failure}");
            assert_eq!(failure.retry_after, None);
        }
    }
    // What had been said of the usage is kept.
    let failure = Service::Anthropic.failure(Reply::text("half").usage(10, 7).cut_short()).await;
    assert_eq!((failure.usage.input_tokens, failure.usage.output_tokens), (10, 1));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_a_matter_of_transport() {
    let gone = Service::Anthropic.server([]).url();
    let failure = Service::Anthropic.model(&gone).answer(&question(), &mut |_| {}).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.starts_with("the service could not be reached"), "{failure}");
    assert!(!failure.message.contains("127.0.0.1:"), "{failure}");
}

#[tokio::test]
async fn silence_is_not_waited_out() {
    let within = Service::Anthropic.server([Reply::silence(Duration::from_secs(60))]);
    // Nobody accepts there: the connection stands, and not even a status comes.
    let before = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let before_url = format!("http://{}", before.local_addr().expect("an address"));
    for url in [within.url(), before_url] {
        let patience = Duration::from_millis(300);
        let model = Anthropic::new("claude-opus-5", KEY).base_url(url).silence_timeout(patience);
        assert_silent(&model).await;
    }
}

async fn assert_silent(model: &Anthropic) {
    let started = Instant::now();
    let failure = model.answer(&question(), &mut |_| {}).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Transport, "the service said nothing for 0.3 s")
    );
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    for service in [Service::Anthropic, Service::Ollama] {
        let long = "word ".repeat(40_000);
        let server = service.server([Reply::text(long).slowly(Duration::from_millis(20))]);
        let model = service.model(&server.url());
        let mut pieces = 0;
        let request = question();
        let mut listener = |_| pieces += 1;
        let call = model.answer(&request, &mut listener);
        tokio::time::timeout(Duration::from_millis(300), call).await.expect_err("the answer takes seconds");
        let deadline = Instant::now() + Duration::from_secs(20);
        while server.abandoned() == 0 {
            assert!(Instant::now() < deadline, "{service:?}: the connection stays open");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(pieces > 0, "{service:?}");
    }
}

/// Neither to another host nor to this one; which it is, is said, and nothing else of the address.
#[tokio::test]
async fn the_key_does_not_follow_a_redirect() {
    let other = Service::OpenAi.server([Reply::text("elsewhere").always()]);
    let elsewhere = format!("{}/v1/chat/completions?token=secret", other.url());
    for service in Service::ALL {
        for status in [301, 302, 303, 307, 308] {
            for (target, host) in [
                (elsewhere.as_str(), "the host `127.0.0.1`"),
                ("https://user:secret@login.example.com/?token=secret", "the host `login.example.com`"),
                ("/login?secret", "the host `127.0.0.1`"),
            ] {
                let reply = Reply::raw(status, "text/plain", "moved").header("location", target);
                let failure = service.failure(reply).await;
                assert_eq!((failure.kind, failure.status), (FailureKind::Request, Some(status)));
                assert!(
                    failure.message.contains(host) && failure.message.contains("not followed"),
                    "{failure}"
                );
                assert!(!failure.message.contains("secret"), "{failure}");
            }
        }
    }
    let nowhere = Service::OpenAi.failure(Reply::raw(302, "text/plain", "moved")).await;
    assert!(nowhere.message.ends_with("at another address, and redirects are not followed"), "{nowhere}");
    assert!(other.requests().is_empty());
}

/// An account without money has the status of a limited rate, and a wrong key that of a bad request.
#[tokio::test]
async fn some_services_say_it_in_the_body_alone() {
    let quota = json!({ "error": { "message": "no money", "code": "insufficient_quota" } });
    for service in [Service::OpenAi, Service::Responses, Service::LlamaCpp] {
        let failure = service.failure(Reply::raw(429, "application/json", quota.to_string())).await;
        assert_eq!(failure.kind, FailureKind::Limit, "{service:?}");
    }
    let details = json!([{ "reason": "API_KEY_INVALID" }, { "retryDelay": "3s" }]);
    let key = json!({ "error": { "code": 400, "message": "API key not valid.", "details": details } });
    let failure = Service::Gemini.failure(Reply::raw(400, "application/json", key.to_string())).await;
    assert_eq!(
        (failure.kind, failure.retry_after),
        (FailureKind::Authentication, Some(Duration::from_secs(3)))
    );
    // A router answers with success before it knows.
    let error = json!({ "error": { "code": 502, "message": "upstream is down" } });
    let failure = Service::LlamaCpp.failure(Reply::raw(200, "application/json", error.to_string())).await;
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Transport, "upstream is down"));
}

#[tokio::test]
async fn what_no_service_could_serve_is_never_sent() {
    let server = Service::OpenAi.server([]);
    let request = |change: &dyn Fn(&mut ModelRequest)| {
        let mut request = question();
        change(&mut request);
        request
    };
    let tool = || ToolSpec::new("count", "Counts.", json!({ "type": "object" }));
    for (asked, words) in [
        (
            request(&|asked| asked.schema = Some(WireSchema::new("result", Value::Null))),
            "`result` is no object",
        ),
        (request(&|asked| asked.tool_choice = ToolChoice::Any), "none is offered"),
        (
            request(&|asked| {
                asked.tools = vec![tool()];
                asked.tool_choice = ToolChoice::Named("result".to_owned());
            }),
            "the tool `result`",
        ),
    ] {
        for service in Service::ALL {
            let failure = service.ask(&server, &asked).await.unwrap_err();
            assert!(failure.kind == FailureKind::Request && failure.message.contains(words), "{failure}");
        }
    }
    for base in ["127.0.0.1:1", "ftp://127.0.0.1", "https://", "http://user:secret@[", ""] {
        let model = OpenAi::new("m", KEY).base_url(base);
        let failure = model.answer(&question(), &mut |_| {}).await.unwrap_err();
        assert!(
            failure.kind == FailureKind::Request && !failure.message.contains("secret"),
            "{base}: {failure}"
        );
    }
    assert!(server.requests().is_empty());
}
