//! OpenAI's chat completions, as OpenAI speaks them; other servers speak them with the accents of [`Accent`].

mod accent;
mod answer;
mod failure;
mod request;

#[cfg(test)]
mod tests;

use sandcastle_core::model::{ModelFailure, ModelRequest};

pub(crate) use self::accent::Accent;
pub(crate) use self::answer::Answer;
pub(crate) use self::failure::{kind_of, refine};
pub(crate) use self::request::body;
use super::endpoint::{Call, Endpoint, Wire, provider};
use super::http::{ErrorBody, Framing, KeyHeader, Service};
use super::key::ApiKey;

/// Where both of OpenAI's APIs are.
pub(crate) const ADDRESS: &str = "https://api.openai.com/v1";

/// Behind the base address.
pub(crate) const PATH: &str = "/chat/completions";

/// A model of OpenAI, over chat completions.
///
/// Schemas go by `response_format` or by a function that the model has to call. For models that reason,
/// [`OpenAiResponses`](crate::models::OpenAiResponses) is the better way: it can send their thoughts back to them.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::OpenAi;
/// use sandcastle_core::model::Model;
///
/// let model = OpenAi::new("gpt-4.1-mini", "sk-...");
/// assert_eq!((model.provider(), model.name()), ("openai", "gpt-4.1-mini"));
/// ```
#[derive(Clone, Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
}

provider!(OpenAi);

impl OpenAi {
    /// Names a model, such as `gpt-4.1`, and gives the key to it.
    #[must_use]
    pub fn new(model: impl Into<String>, key: impl Into<ApiKey>) -> Self {
        let service = Service::at(ADDRESS).with_key(KeyHeader::Bearer, key.into());
        Self { endpoint: Endpoint::new("openai", model, service) }
    }
}

impl Wire for OpenAi {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let body = body(&self.endpoint.model, Accent::OPENAI, request);
        Ok(Call { path: PATH.to_owned(), body, framing: Framing::ServerSentEvents })
    }

    fn reader(&self) -> Answer {
        Answer::default()
    }

    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        refine(failure, body);
    }
}
