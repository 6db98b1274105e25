//! How a service is reached: one client, its address, its headers, its patience.
//!
//! A request goes out once and its answer is read as it streams, to a bound. Redirects are not followed, since they would
//! carry the key to another host. Nothing is repeated here, and nothing here knows what a service's events mean.

mod client;
mod failure;
mod frames;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{Client, Response, Url};
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;
use serde_json::Value;

pub(crate) use self::failure::{ErrorBody, cut, wait};
pub(crate) use self::frames::{Framing, frames};
use super::key::ApiKey;
use crate::excerpt::masked;
use crate::transport::Transport;

/// How long a service may say nothing. Models that think before they speak take minutes.
const SILENCE: Duration = Duration::from_secs(300);

/// A service at its address. Clones share its connections.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) base: String,
    pub(crate) transport: Transport,
    pub(crate) silence: Duration,
    /// What the protocol wants, and nobody has to hide.
    plain: Vec<(&'static str, &'static str)>,
    /// A user's own. Their values may be keys, and are treated like one.
    headers: Vec<(String, ApiKey)>,
    key: Option<(KeyHeader, ApiKey)>,
    client: Arc<OnceLock<Client>>,
}

/// Where a service wants its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`
    Bearer,
    /// A header of its own, with the bare key.
    Named(&'static str),
}

impl Service {
    pub(crate) fn at(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            transport: Transport::default(),
            silence: SILENCE,
            plain: Vec::new(),
            headers: Vec::new(),
            key: None,
            client: Arc::default(),
        }
    }

    pub(crate) fn with_key(mut self, header: KeyHeader, key: ApiKey) -> Self {
        self.key = Some((header, key));
        self
    }

    /// Adds a header of the protocol's.
    pub(crate) fn speaking(mut self, name: &'static str, value: &'static str) -> Self {
        self.plain.push((name, value));
        self
    }

    pub(crate) fn with_header(mut self, name: impl Into<String>, value: impl Into<ApiKey>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Changes what a client is made with; clones that were made before keep theirs.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.client = Arc::default();
    }

    /// Sends a request and gives the answer if it is one; what the service says otherwise is a failure.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Response, (ModelFailure, ErrorBody)> {
        let sent =
            async { self.request(path, body)?.send().await.map_err(|error| failure::of(&error, self)) };
        let response = sent.await.map_err(|failure| (failure, ErrorBody::default()))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(failure::refused(response, self.silence).await)
    }

    /// What went wrong with a connection, in words.
    pub(crate) fn failure_of(&self, error: &reqwest::Error) -> ModelFailure {
        failure::of(error, self)
    }

    /// Puts a mask over the keys in a text.
    pub(crate) fn mask(&self, text: &str) -> String {
        masked(text, self.keys().map(ApiKey::reveal))
    }

    fn keys(&self) -> impl Iterator<Item = &ApiKey> {
        self.key.iter().map(|(_, key)| key).chain(self.headers.iter().map(|(_, value)| value))
    }

    fn request(&self, path: &str, body: &Value) -> Result<reqwest::RequestBuilder, ModelFailure> {
        let base = self.address()?;
        let client = match self.client.get() {
            Some(client) => client.clone(),
            None => {
                let client = client::build(&base, self)?;
                self.client.get_or_init(|| client).clone()
            }
        };
        let address = format!("{}{path}", self.base.trim_end_matches('/'));
        let headers = client::headers(self.key.as_ref(), &self.headers)?;
        let plain = |request: reqwest::RequestBuilder, (name, value): &(_, _)| request.header(*name, *value);
        let request = self.plain.iter().fold(client.post(address), plain);
        Ok(request.headers(headers).body(body.to_string()))
    }

    /// The address, checked. It is not repeated in the error: it may hold a password.
    fn address(&self) -> Result<Url, ModelFailure> {
        let address = Url::parse(&self.base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        address.filter(Url::has_host).ok_or_else(|| {
            let problem =
                "the base address of the service does not begin with `https://` or `http://` and the name of a host";
            ModelFailure::new(FailureKind::Request, problem)
        })
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = Url::parse(&self.base).ok().and_then(|url| url.host_str().map(str::to_owned));
        f.debug_struct("Service")
            .field("host", &host)
            .field("transport", &self.transport)
            .field("silence", &self.silence)
            .field("headers", &self.headers)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
