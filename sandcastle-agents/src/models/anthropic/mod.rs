//! Anthropic's Messages API.

mod answer;
mod failure;
mod request;

#[cfg(test)]
mod tests;

use sandcastle_core::Support;
use sandcastle_core::model::{ModelFailure, ModelRequest, OwnTools};

use self::answer::Answer;
use self::request::StrictTools;
use super::endpoint::{Call, Endpoint, Wire, provider};
use super::http::{Framing, KeyHeader, Service};
use super::key::ApiKey;

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

/// How long an answer may be unless it is said otherwise; thinking counts.
const MAX_TOKENS: u32 = 32_000;

/// A model of Anthropic.
///
/// Schemas go by `output_config.format` or by a tool that the model has to call. The key is given; it is never read from the
/// environment.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::Anthropic;
/// use sandcastle_core::model::Model;
///
/// let model = Anthropic::new("claude-sonnet-5-5", "sk-ant-...").max_output_tokens(8_000);
/// assert_eq!(model.provider(), "anthropic");
/// ```
#[derive(Clone, Debug)]
pub struct Anthropic {
    endpoint: Endpoint,
    max_output_tokens: u32,
}

provider!(Anthropic);

impl Anthropic {
    /// Names a model, such as `claude-sonnet-5-5`, and gives the key to it.
    #[must_use]
    pub fn new(model: impl Into<String>, key: impl Into<ApiKey>) -> Self {
        let service = Service::at("https://api.anthropic.com")
            .with_key(KeyHeader::Named("x-api-key"), key.into())
            .speaking("anthropic-version", VERSION);
        Self { endpoint: Endpoint::new("anthropic", model, service), max_output_tokens: MAX_TOKENS }
    }

    /// Sets how many tokens an answer may have, thinking included, where a request does not say; the default is 32,000.
    /// The service wants a number in every request.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = tokens;
        self
    }
}

impl Wire for Anthropic {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let strict = match self.endpoint.support(OwnTools::None).native {
            Support::Declared => StrictTools::Known,
            _ => StrictTools::Unknown,
        };
        let body = request::body(&self.endpoint.model, self.max_output_tokens, strict, request);
        Ok(Call { path: "/v1/messages".to_owned(), body, framing: Framing::ServerSentEvents })
    }

    fn reader(&self) -> Answer {
        Answer::of(&self.endpoint.model)
    }
}
