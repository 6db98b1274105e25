//! Google's Gemini API.

mod answer;
mod failure;
mod request;

#[cfg(test)]
mod tests;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sandcastle_core::model::{ModelFailure, ModelRequest};

use self::answer::Answer;
use super::endpoint::{Call, Endpoint, Wire, provider};
use super::http::{ErrorBody, Framing, KeyHeader, Service};
use super::key::ApiKey;

/// What of a model's name does not stand in a path as it is.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// A model of Google, over the Gemini API.
///
/// Schemas go by `responseJsonSchema` or by a function that the model has to call. The key goes into a header, never into the
/// address.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::Gemini;
/// use sandcastle_core::Support;
/// use sandcastle_core::model::{Model, OwnTools};
///
/// let model = Gemini::new("gemini-2.5-flash", "...");
/// assert_eq!(model.support(OwnTools::None).native, Support::Declared);
/// // Before version 3 the service takes no schema beside tools.
/// assert!(matches!(model.support(OwnTools::Some).native, Support::Denied(_)));
/// ```
#[derive(Clone, Debug)]
pub struct Gemini {
    endpoint: Endpoint,
}

provider!(Gemini);

impl Gemini {
    /// Names a model, such as `gemini-3.8-flash`, and gives the key to it.
    #[must_use]
    pub fn new(model: impl Into<String>, key: impl Into<ApiKey>) -> Self {
        let service = Service::at("https://generativelanguage.googleapis.com")
            .with_key(KeyHeader::Named("x-goog-api-key"), key.into());
        Self { endpoint: Endpoint::new("gemini", model, service) }
    }
}

impl Wire for Gemini {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let model = self.endpoint.model.trim_start_matches("models/");
        let name = utf8_percent_encode(model, NAME);
        let path = format!("/v1beta/models/{name}:streamGenerateContent?alt=sse");
        let body = request::body(&self.endpoint.model, request);
        Ok(Call { path, body, framing: Framing::ServerSentEvents })
    }

    fn reader(&self) -> Answer {
        Answer::of(&self.endpoint.model)
    }

    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        failure::refine(failure, body);
    }
}
