//! The way between the client of GitHub's interface and the network.
//!
//! Requests pass only to the address that was given, with the token; answers pass only when they are bounded, are JSON and
//! lead nowhere else. Each request is sent once. What an answer means is not known here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use octocrab::OctoBody;
use reqwest::Url;
use sandcastle_core::secret::Token;
use sandcastle_core::{Error, ErrorKind, Result};

use super::address::Address;
use super::failure::Failure;
use crate::transport::{self, objection_of};

/// The most bytes of one answer.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The most bytes of all answers to what is asked for one purpose.
const MAX_ANSWERS: usize = 64 * 1024 * 1024;

/// The most bytes of a refusal; what is behind them is not read.
const MAX_REFUSAL: usize = 64 * 1024;

/// Lets requests and answers through, for one purpose.
#[derive(Clone)]
pub(super) struct Gate {
    client: reqwest::Client,
    address: Address,
    headers: HeaderMap,
    timeout: Duration,
    /// How many bytes may still come.
    left: Arc<AtomicUsize>,
}

impl Gate {
    pub(super) fn new(
        client: reqwest::Client,
        address: Address,
        token: Option<&Token>,
        timeout: Duration,
    ) -> Result<Self> {
        let headers = headers(token)?;
        Ok(Self { client, address, headers, timeout, left: Arc::new(AtomicUsize::new(MAX_ANSWERS)) })
    }

    /// Sends one request and reads its answer.
    pub(super) async fn pass(self, request: Request<OctoBody>) -> Result<Response<String>, Failure> {
        let response = self.send(request).await?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Failure::moved());
        }
        let headers = response.headers().clone();
        let body = if status.is_success() {
            is_json(&headers)?;
            let body = self.whole(response).await?;
            String::from_utf8(body).map_err(|_| Failure::strange("it is no text"))?
        } else {
            String::from_utf8_lossy(&self.beginning(response).await).into_owned()
        };
        let mut passed = Response::new(body);
        (*passed.status_mut(), *passed.headers_mut()) = (status, headers);
        Ok(passed)
    }

    async fn send(&self, request: Request<OctoBody>) -> Result<reqwest::Response, Failure> {
        let (mut parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string()).ok().filter(|url| self.address.holds(url));
        let url = url.ok_or_else(|| Failure::unsent("the request would go to another place than GitHub"))?;
        parts.headers.extend(self.headers.clone());
        let body = body.collect().await?.to_bytes();
        let request = self.client.request(parts.method, url).headers(parts.headers).body(body);
        request.send().await.map_err(|error| self.failure_of(&error))
    }

    /// An answer to its end, or none.
    async fn whole(&self, mut response: reqwest::Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure_of(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                return Err(Failure::beyond(format!("an answer of more than {MAX_ANSWER} bytes")));
            }
            let less = |left: usize| left.checked_sub(chunk.len());
            if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
                return Err(Failure::beyond(format!("answers of more than {MAX_ANSWERS} bytes in all")));
            }
        }
        Ok(body)
    }

    /// The beginning of a refusal. One that breaks off is as good as one that is cut.
    async fn beginning(&self, mut response: reqwest::Response) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = MAX_REFUSAL - body.len();
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if body.len() >= MAX_REFUSAL {
                break;
            }
        }
        body
    }

    /// What became of a connection. The address is not repeated.
    fn failure_of(&self, error: &reqwest::Error) -> Failure {
        if let Some(objection) = objection_of(error) {
            return objection.into();
        }
        let causes = transport::causes(error);
        if error.is_builder() {
            Failure::unsent(format!("the request cannot be sent: {causes}"))
        } else if error.is_connect() && !error.is_timeout() {
            Failure::unsent(format!("GitHub could not be reached: {causes}"))
                .with_hint("see that the base address is right and that this machine reaches it, by way of a proxy if need be")
        } else if error.is_timeout() {
            let words = format!("GitHub has not answered within {} s", self.timeout.as_secs_f32());
            Failure::lost(words).with_hint("give it longer with `timeout`, or ask again later")
        } else {
            Failure::lost(format!("the connection to GitHub was lost: {causes}"))
        }
    }
}

/// What every request says. A token that no header can carry is refused without being shown.
fn headers(token: Option<&Token>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("sandcastle/", env!("CARGO_PKG_VERSION"))));
    if let Some(token) = token {
        let refuse = |problem: &str| {
            Error::new(ErrorKind::InvalidOptions, format!("use the token for GitHub: it {problem}"))
        };
        let token = token.reveal().trim();
        if token.is_empty() {
            return Err(refuse("is empty"));
        }
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.map_err(|_| refuse("has characters that no header can carry"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// Refuses what a proxy or another server says in the place of GitHub.
fn is_json(headers: &HeaderMap) -> Result<(), Failure> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or("?")).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return Ok(());
    }
    Err(Failure::strange(format!("it is no JSON but `{kind}`")))
}
