//! What was asked and what is answered.

use std::time::Duration;

use hyper::body::Bytes;
use serde_json::Value;

/// A request as it arrived. The token was looked at and is not kept.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With the query.
    pub(crate) target: String,
    /// Names in lower case; without that of the token.
    pub(crate) headers: Vec<(String, String)>,
    /// The JSON body, or null if there was none.
    pub(crate) body: Value,
}

impl Request {
    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let query = self.target.split_once('?')?.1;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The value of a header, if it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a request is answered with.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) ending: Ending,
}

/// What comes behind the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    /// The body over and over.
    Endless,
    /// Nothing for so long, before anything is said.
    Silence(Duration),
    /// The connection is closed without an answer.
    Dropped,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json; charset=utf-8", body.to_string())
    }

    pub(crate) fn text(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into(), ending: Ending::Whole }
    }

    /// A refusal with GitHub's kind of words.
    pub(crate) fn refusal(status: u16, message: &str) -> Self {
        let documentation = "https://docs.github.com/rest";
        let body = serde_json::json!({ "message": message, "documentation_url": documentation, "status": status.to_string() });
        Self::json(status, &body)
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Says the body over and over.
    pub(crate) fn endless(self) -> Self {
        Self { ending: Ending::Endless, ..self }
    }

    /// Says nothing for so long.
    pub(crate) fn after(self, silence: Duration) -> Self {
        Self { ending: Ending::Silence(silence), ..self }
    }

    /// Closes the connection without an answer.
    pub(crate) fn dropped() -> Self {
        Self { ending: Ending::Dropped, ..Self::text(500, "text/plain", "") }
    }
}
