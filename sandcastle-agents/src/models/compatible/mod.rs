//! Servers that speak chat completions as OpenAI does: llama.cpp, OpenRouter, vLLM and others.

#[cfg(test)]
mod tests;

use sandcastle_core::model::{ModelFailure, ModelRequest};
use sandcastle_core::output::lower::Dialect;

use super::capabilities::{Capabilities, Official};
use super::endpoint::{Bill, Call, Endpoint, Wire, provider};
use super::http::{ErrorBody, Framing, KeyHeader, Service};
use super::key::ApiKey;
use super::openai::{Accent, Answer, PATH, body, refine};

/// A model behind a server that speaks OpenAI's chat completions.
///
/// Many such servers answer as if they had heard a schema and ignore it, so nothing is assumed of them: say what yours can
/// do with [`declares`](Self::declares), or take one of the presets.
///
/// # Examples
/// ```
/// use sandcastle_agents::models::OpenAiCompatible;
/// use sandcastle_core::Support;
/// use sandcastle_core::model::{Model, OwnTools};
///
/// // A server that nothing is known of gives answers by tag only.
/// let unknown = OpenAiCompatible::new("qwen3", "http://127.0.0.1:8000/v1");
/// assert!(matches!(unknown.support(OwnTools::None).native, Support::Denied(_)));
///
/// // That of llama.cpp holds its answers to a schema.
/// let local = OpenAiCompatible::llama_cpp("http://127.0.0.1:8080");
/// assert_eq!(local.support(OwnTools::None).native, Support::Declared);
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiCompatible {
    endpoint: Endpoint,
    accent: Accent,
}

provider!(OpenAiCompatible);

impl OpenAiCompatible {
    /// Names a model, and the server that it is at by its base address, to which `/chat/completions` is added.
    #[must_use]
    pub fn new(model: impl Into<String>, base: impl Into<String>) -> Self {
        let mut endpoint = Endpoint::new("openai-compatible", model, Service::at(base));
        endpoint.official = Official::No;
        Self { endpoint, accent: Accent::PLAIN }
    }

    /// Names a server of llama.cpp by its address, with or without `/v1`. It serves one model, whatever that is called.
    ///
    /// Its own structured output is declared. To be made to call a tool is denied: the server accepts it and enforces it only
    /// from the moment at which the model begins a call by itself.
    #[must_use]
    pub fn llama_cpp(base: impl Into<String>) -> Self {
        let base = base.into();
        let base = base.trim_end_matches('/');
        let base = if base.ends_with("/v1") { base.to_owned() } else { format!("{base}/v1") };
        let mut model = Self::new("default", base);
        model.endpoint.provider = "llama-cpp";
        model.accent = Accent::LLAMA_CPP;
        model.preset(Capabilities::of(Dialect::LlamaCpp).with_native().without_forced_tool(
            "the server enforces it only half: the model may talk in the place of a call",
        ))
    }

    /// Names a model of OpenRouter, such as `anthropic/claude-sonnet-5.5`, and gives the key to it.
    ///
    /// Requests go only to providers that know all of their parameters. The structured output is declared, with the dialect of
    /// the model's family, and for other families with that which asks least. Whether a provider enforces it differs. Every
    /// answer says what it cost, so that a budget needs no price.
    #[must_use]
    pub fn open_router(model: impl Into<String>, key: impl Into<ApiKey>) -> Self {
        let mut router = Self::new(model, "https://openrouter.ai/api/v1").key(key);
        let dialect = upstream(&router.endpoint.model);
        router.endpoint.provider = "open-router";
        router.endpoint.bill = Bill::Said;
        router.accent = Accent::OPEN_ROUTER;
        router.preset(
            Capabilities::of(dialect).with_native().without_forced_tool("it depends on who serves the model"),
        )
    }

    /// What is declared until the server is another one.
    fn preset(mut self, capabilities: Capabilities) -> Self {
        self.endpoint.official = Official::Yes;
        self.endpoint.preset = Some(capabilities);
        self
    }

    /// Gives the key to the server.
    #[must_use]
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.endpoint.service = self.endpoint.service.with_key(KeyHeader::Bearer, key.into());
        self
    }

    /// Names the model, for a server that was named without one.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.endpoint.model = model.into();
        self
    }
}

/// What the wire of a model's family accepts. Nobody accepts less than Anthropic and demands less than others.
fn upstream(model: &str) -> Dialect {
    match model.split('/').next().unwrap_or_default() {
        "openai" => Dialect::OpenAi,
        "google" => Dialect::Gemini,
        _ => Dialect::Anthropic,
    }
}

impl Wire for OpenAiCompatible {
    type Reader = Answer;

    fn call(&self, request: &ModelRequest) -> Result<Call, ModelFailure> {
        let body = body(&self.endpoint.model, self.accent, request);
        Ok(Call { path: PATH.to_owned(), body, framing: Framing::ServerSentEvents })
    }

    fn reader(&self) -> Answer {
        Answer::billed(self.endpoint.bill())
    }

    fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
        refine(failure, body);
    }
}
