//! OpenAI's Responses API.

mod answer;
mod request;

#[cfg(test)]
mod tests;

use sandcastle_core::model::{ModelFailure, ModelRequest};

use self::answer::Answer;
use self::request::Replay;
use super::capabilities::{Official, Thoughts, thoughts};
use super::endpoint::{Call, Endpoint, Wire, provider};
use super::http::{ErrorBody, Framing, KeyHeader, Service};
use super::key::ApiKey;
use super::openai::{ADDRESS, refine};

/// A model of OpenAI, over the Responses API.
///
/// Schemas go by `text.format` or by a function that the model has to call. Nothing is stored at the service; the sealed
/// thoughts of models that reason are asked for and sent back to them.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::OpenAiResponses;
/// use sandcastle_core::model::Model;
///
/// let model = OpenAiResponses::new("gpt-6-luna", "sk-...");
/// assert_eq!(model.provider(), "openai-responses");
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiResponses {
    endpoint: Endpoint,
}

provider!(OpenAiResponses);

impl OpenAiResponses {
    /// Names a model, such as `gpt-6-sol`, and gives the key to it.
    #[must_use]
    pub fn new(model: impl Into<String>, key: impl Into<ApiKey>) -> Self {
        let service = Service::at(ADDRESS).with_key(KeyHeader::Bearer, key.into());
        Self { endpoint: Endpoint::new("openai-responses", model, service) }
    }

    /// Models that do not think, and servers that only speak alike, refuse to be asked for thoughts.
    fn replay(&self) -> Replay {
        let Endpoint { provider, model, official, .. } = &self.endpoint;
        match (official, thoughts(provider, model)) {
            (Official::Yes, Thoughts::Sealed) => Replay::Wanted,
            _ => Replay::None,
        }
    }
}

impl Wire for OpenAiResponses {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let body = request::body(&self.endpoint.model, self.replay(), request);
        Ok(Call { path: "/responses".to_owned(), body, framing: Framing::ServerSentEvents })
    }

    fn reader(&self) -> Answer {
        Answer::of(&self.endpoint.model)
    }

    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        refine(failure, body);
    }
}
