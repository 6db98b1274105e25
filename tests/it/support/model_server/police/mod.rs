//! The law of the services: what each of them refuses with status 400, so that a wrong request fails a test.
//!
//! It is written from what the services document and were seen to do, not from what is sent to them: nothing here knows
//! how a schema is lowered. A keyword that a service silently ignores is refused as well, since nothing would hold the
//! model to it.

mod conversation;
mod grammar;
mod keywords;
mod requests;
mod schema;

use hyper::http::request::Parts;
use serde_json::Value;

use super::reply::Reply;
use super::wire::Protocol;

/// Whose law a server enforces, where a protocol alone does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// That of the service that the protocol is from.
    OfTheService,
    /// That of the llama.cpp server, for chat completions.
    OfLlamaCpp,
}

impl Law {
    /// Judges a request.
    ///
    /// # Errors
    /// The refusal that the service gives.
    pub(super) fn judge(self, protocol: Protocol, parts: &Parts, body: &Value) -> Result<(), Reply> {
        requests::judge(self, protocol, parts, body)
            .map_err(|refusal| Reply::status(refusal.status).because(refusal.message))
    }
}

/// Why a request is refused.
#[derive(Debug)]
struct Refusal {
    status: u16,
    message: String,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { status: 400, message }
    }
}
