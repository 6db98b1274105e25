//! The HTTP side: records requests, sends what the protocols made of the replies.

use std::io;
use std::sync::Arc;

use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::ledger::Ledger;
use super::reply::{Delivery, Raw};
use super::request::{Purpose, Request};
use super::wire::{Answer, Ending, Protocol, Stream};
use crate::support::loopback::Body;

/// Answers one request. An error closes the connection without an answer.
pub(super) async fn answer(
    request: hyper::Request<Incoming>,
    ledger: Arc<Ledger>,
) -> io::Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let request = Request::new(&parts, &body);
    let (purpose, protocol) = (request.purpose, Protocol::of(&request.path));
    let asked = request.body.clone();
    if let (Some(law), Some(protocol)) = (ledger.law(), protocol)
        && let Err(refusal) = law.judge(protocol, &parts, &asked)
    {
        ledger.note(request);
        return send(protocol.answer(&refusal.outcome, 0, &asked), &ledger);
    }
    let (number, outcome) = ledger.enter(request);
    match (purpose, protocol) {
        (Purpose::Turn | Purpose::Aside, Some(protocol)) => {
            send(protocol.answer(&outcome, number, &asked), &ledger)
        }
        (Purpose::Count, _) => Ok(whole(200, &[], &json!({ "input_tokens": body.len().div_ceil(4) }))),
        _ => Ok(courtesy(&parts)),
    }
}

/// What a client may ask besides answers: a sign of life, the list of models.
fn courtesy(parts: &hyper::http::request::Parts) -> Response<Body> {
    match (parts.method.as_str(), parts.uri.path()) {
        ("HEAD", _) => whole(200, &[], &Value::Null),
        ("GET", path) if path.ends_with("/models") => {
            whole(200, &[], &json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] }))
        }
        (method, path) => {
            let message = format!("the model server has nothing at {method} {path}");
            whole(404, &[], &json!({ "error": { "type": "not_found_error", "message": message } }))
        }
    }
}

fn send(answer: Answer, ledger: &Arc<Ledger>) -> io::Result<Response<Body>> {
    match answer {
        Answer::Whole { status, headers, body } => Ok(whole(status, &headers, &body)),
        Answer::Stream(stream) => {
            let (sender, body) = Channel::new(1);
            let mut response = Response::new(Either::Right(body));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(stream.framing.content_type()));
            tokio::spawn(play(stream, sender, Arc::clone(ledger)));
            Ok(response)
        }
        Answer::Raw(raw) => {
            let (sender, body) = Channel::new(1);
            let mut response = Response::new(Either::Right(body));
            set_head(&mut response, raw.status, &raw.headers);
            tokio::spawn(repeat(raw, sender, Arc::clone(ledger)));
            Ok(response)
        }
        Answer::Dropped => Err(io::Error::other("a reply that was scripted to be dropped")),
    }
}

fn whole(status: u16, headers: &[(&'static str, String)], body: &Value) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::from(body.to_string())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    set_head(&mut response, status, headers);
    response
}

fn set_head(response: &mut Response<Body>, status: u16, headers: &[(&'static str, String)]) {
    *response.status_mut() = StatusCode::from_u16(status).expect("a status between 100 and 999");
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).expect("a header of visible characters");
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}

/// Sends bytes as they are, and what comes behind them for as long as the client listens.
async fn repeat(raw: Raw, mut sender: Sender<Bytes, io::Error>, ledger: Arc<Ledger>) {
    let further = raw.endless.iter().cycle().cloned();
    for bytes in std::iter::once(raw.body).chain(further) {
        if sender.send_data(bytes).await.is_err() {
            return ledger.abandon();
        }
    }
}

/// Sends the events of a stream, then ends it as scripted. Stops early when the client is gone.
async fn play(stream: Stream, mut sender: Sender<Bytes, io::Error>, ledger: Arc<Ledger>) {
    for event in &stream.events {
        if let Some(pause) = stream.pause {
            tokio::time::sleep(pause).await;
        }
        let event = stream.framing.frame(event).into_bytes();
        let size = if stream.delivery == Delivery::Bytes { 1 } else { event.len() };
        for piece in event.chunks(size) {
            if sender.send_data(Bytes::copy_from_slice(piece)).await.is_err() {
                return ledger.abandon();
            }
        }
    }
    match stream.ending {
        Ending::Closed => {}
        Ending::Severed => sender.abort(io::Error::other("a stream that was scripted to be severed")),
        Ending::Silence(duration) => tokio::time::sleep(duration).await,
    }
}
