//! The HTTP side: keeps what was asked, looks at the token and the headers, sends what is answered.

use std::io;
use std::sync::Arc;

use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;

use super::Hub;
use super::exchange::{Ending, Reply, Request};
use crate::support::loopback::Body;

/// Answers one request. An error closes the connection without an answer.
pub(super) async fn answer(request: hyper::Request<Incoming>, hub: Arc<Hub>) -> io::Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let headers = parts.headers.iter().filter(|(name, _)| *name != "authorization");
    let headers = headers.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let request = Request {
        method: parts.method.to_string(),
        target: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: headers.collect(),
        body: serde_json::from_slice::<Value>(&body).unwrap_or_default(),
    };
    let token = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
    send(hub.answer(token, &request)).await
}

async fn send(reply: Reply) -> io::Result<Response<Body>> {
    let body = match reply.ending {
        Ending::Dropped => return Err(io::Error::other("a reply that is to be dropped")),
        Ending::Silence(silence) => {
            tokio::time::sleep(silence).await;
            Either::Left(Full::from(reply.body))
        }
        Ending::Whole => Either::Left(Full::from(reply.body)),
        Ending::Endless => {
            let (sender, body) = Channel::new(1);
            tokio::spawn(repeat(reply.body, sender));
            Either::Right(body)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).expect("a status");
    for (name, value) in reply.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        response.headers_mut().append(name, HeaderValue::from_str(&value).expect("visible characters"));
    }
    Ok(response)
}

/// Sends the same for as long as somebody listens.
async fn repeat(body: Bytes, mut sender: Sender<Bytes, io::Error>) {
    while sender.send_data(body.clone()).await.is_ok() {}
}
