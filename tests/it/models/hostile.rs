//! Servers that answer what no service should: it ends in a failure, soon and within bounds, never in an answer.

use std::time::Duration;

use sandcastle::event::FailureKind;
use sandcastle::model::ModelAnswer;

use super::{Service, question};
use crate::support::model_server::Reply;

/// A stream of events, as far as its name goes.
fn events(body: impl Into<Vec<u8>>) -> Reply {
    Reply::raw(200, "text/event-stream", body.into())
}

#[tokio::test]
async fn damaged_streams_are_failures() {
    for (what, body) in [
        ("nothing", b"".to_vec()),
        ("no events", b"hello\n\n".to_vec()),
        ("no JSON", b"data: {\n\n".to_vec()),
        ("half an event", b"data: {\"type\":\"message_stop\"}".to_vec()),
        ("no text", b"data: {\"a\": \"\xff\xfe\"}\n\n".to_vec()),
        ("no text behind a good line", b": \n\n\xff\n\n".to_vec()),
        ("deep JSON", [b"data: ".to_vec(), b"[".repeat(100_000), b"\n\n".to_vec()].concat()),
    ] {
        for service in Service::OF_EVENTS {
            let failure = service.failure(events(body.clone())).await;
            assert_eq!(failure.kind, FailureKind::Transport, "{service:?}, {what}: {failure}");
            assert!(failure.message.chars().count() < 700, "{service:?}, {what}");
        }
        let lines = Reply::raw(200, "application/x-ndjson", body);
        assert_eq!(Service::Ollama.failure(lines).await.kind, FailureKind::Transport, "{what}");
    }
}

#[tokio::test]
async fn other_documents_are_no_answers() {
    for (content_type, body) in [
        ("text/html; charset=utf-8", "<h1>Welcome to the hotel</h1>"),
        ("application/json", r#"{"choices":[{"message":{"content":"whole"}}]}"#),
        ("image/png", "\u{1b}[2J"),
    ] {
        for service in Service::OF_EVENTS {
            let failure = service.failure(Reply::raw(200, content_type, body)).await;
            assert_eq!((failure.kind, failure.status), (FailureKind::Other, Some(200)), "{service:?}");
            assert!(failure.message.contains("does not stream"), "{failure}");
        }
    }
    let failure = Service::Ollama.failure(Reply::raw(200, "text/html", "<h1>")).await;
    assert_eq!(failure.kind, FailureKind::Other);
}

#[tokio::test]
async fn endless_lines_and_events_end_at_a_bound() {
    let chunk = "x".repeat(1 << 20);
    let line = events("data: ").and_endless(chunk.clone());
    let one_event = events("").and_endless(format!("data: {chunk}\n"));
    for reply in [line, one_event] {
        let failure = Service::Anthropic.failure(reply).await;
        assert!(failure.message.contains("longer than"), "{failure}");
        assert_eq!(failure.kind, FailureKind::Other, "the next time it would be as long");
    }
    let error = Reply::raw(500, "text/plain", "").and_endless(chunk);
    let failure = Service::Anthropic.failure(error).await;
    assert_eq!((failure.status, failure.message.len()), (Some(500), 600));
}

/// Small lines by the million: what is read again with each of them must not grow.
#[tokio::test]
async fn many_small_lines_take_no_longer_each() {
    let comments = ":\n".repeat(1 << 20);
    let answer = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (request, reply) = (question(), events(format!("{comments}\n{answer}")));
    let asked = Service::OpenAi.told(reply, &request);
    let (read, _) = tokio::time::timeout(Duration::from_secs(60), asked).await.expect("it is soon read");
    assert_eq!(read.map(|answer: ModelAnswer| answer.text).ok().as_deref(), Some("x"));
}

/// Comments, other fields, line ends of every kind: server-sent events as the standard has them.
#[tokio::test]
async fn odd_but_good_events_are_read() {
    let odd = concat!(
        "\u{feff}: a comment\r\n\r\nid: 7\r\nretry: 10\r\nevent: x\r\n",
        "data:{\"choices\":[{\"delta\":\r\ndata: {\"content\":\"x\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    );
    let answer = Service::OpenAi.answer(events(odd)).await;
    assert_eq!(answer.text, "x");
}
