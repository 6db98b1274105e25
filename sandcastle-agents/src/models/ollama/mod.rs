//! Ollama's own API.

mod answer;
mod request;

#[cfg(test)]
mod tests;

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{ModelFailure, ModelRequest};

use self::answer::Answer;
use super::endpoint::{Call, Endpoint, Wire, provider};
use super::http::{ErrorBody, Framing, KeyHeader, Service};
use super::key::ApiKey;

/// A model that Ollama runs, on this machine unless it is said otherwise.
///
/// Schemas go by `format`. Ollama has no way to make a model call a tool.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::Ollama;
/// use sandcastle_core::Support;
/// use sandcastle_core::model::{Model, OwnTools};
///
/// let model = Ollama::new("qwen3:8b");
/// assert_eq!(model.support(OwnTools::None).native, Support::Declared);
/// assert!(matches!(model.support(OwnTools::None).forced_tool, Support::Denied(_)));
/// ```
#[derive(Clone, Debug)]
pub struct Ollama {
    endpoint: Endpoint,
}

provider!(Ollama);

impl Ollama {
    /// Names a model, such as `qwen3:8b`, at `http://127.0.0.1:11434`.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self { endpoint: Endpoint::new("ollama", model, Service::at("http://127.0.0.1:11434")) }
    }

    /// Gives a key, for a server that wants one.
    #[must_use]
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.endpoint.service = self.endpoint.service.with_key(KeyHeader::Bearer, key.into());
        self
    }
}

impl Wire for Ollama {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let body = request::body(&self.endpoint.model, request)?;
        Ok(Call { path: "/api/chat".to_owned(), body, framing: Framing::Lines })
    }

    fn reader(&self) -> Answer {
        Answer::default()
    }

    /// A schema that it cannot hold a model to is told by the status of a broken server.
    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        if body.message.contains("invalid JSON schema") {
            failure.kind = FailureKind::Request;
        }
    }
}
