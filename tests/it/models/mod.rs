//! Models behind services, over real HTTP: each of them against the scripted server, which answers as the service does and
//! refuses what the service would refuse.

mod answers;
mod derived;
mod failures;
mod hostile;
mod real;
mod retries;
mod runs;
mod schemas;
mod short_form;
mod streams;
mod takeovers;
mod tls;

mod verdicts;

use std::sync::Arc;
use std::time::Duration;

use sandcastle::model::{Message, Model, ModelAnswer, ModelFailure, ModelPiece, ModelRequest};
use sandcastle::models::{
    Anthropic, Capabilities, Gemini, Ollama, OpenAi, OpenAiCompatible, OpenAiResponses,
};
use sandcastle::output::lower::Dialect;

use crate::support::model_server::{Law, ModelServer, Reply};

/// The key that every request carries, and that nothing may show.
const KEY: &str = "sk-test-0123456789";

/// A model that waits as long as a test does.
macro_rules! patient {
    ($model:expr) => {
        Box::new($model.silence_timeout(Duration::from_secs(20))) as Box<dyn Model>
    };
}

/// A service, by the provider that speaks to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Anthropic,
    OpenAi,
    Responses,
    Gemini,
    Ollama,
    LlamaCpp,
}

impl Service {
    pub(crate) const ALL: [Self; 6] =
        [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama, Self::LlamaCpp];

    /// Those that send server-sent events.
    const OF_EVENTS: [Self; 5] =
        [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::LlamaCpp];

    fn law(self) -> Law {
        if self == Self::LlamaCpp { Law::OfLlamaCpp } else { Law::OfTheService }
    }

    pub(crate) fn server(self, replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        ModelServer::for_clients(self.law(), replies)
    }

    /// The model of this service at an address, with the patience of a test.
    fn model(self, url: &str) -> Box<dyn Model> {
        let v1 = format!("{url}/v1");
        match self {
            Self::Anthropic => patient!(Anthropic::new("claude-sonnet-4-5", KEY).base_url(url)),
            Self::OpenAi => patient!(OpenAi::new("gpt-4.1", KEY).base_url(v1)),
            Self::Responses => patient!(OpenAiResponses::new("gpt-5.5", KEY).base_url(v1)),
            Self::Gemini => patient!(Gemini::new("gemini-3.8-flash", KEY).base_url(url)),
            Self::Ollama => patient!(Ollama::new("qwen3").key(KEY).base_url(url)),
            Self::LlamaCpp => patient!(OpenAiCompatible::llama_cpp(url).key(KEY)),
        }
    }

    /// The same, with what the service itself can do declared of the address.
    pub(crate) fn declared(self, url: &str) -> Arc<dyn Model> {
        self.declaring(url, self.abilities())
    }

    /// What the service can do at its own address.
    fn abilities(self) -> Capabilities {
        let native = Capabilities::of(self.dialect()).with_native();
        match self {
            Self::Ollama | Self::LlamaCpp => native,
            _ => native.with_native_beside_tools().with_forced_tool(),
        }
    }

    fn declaring(self, url: &str, can: Capabilities) -> Arc<dyn Model> {
        let v1 = format!("{url}/v1");
        Arc::from(match self {
            Self::Anthropic => patient!(Anthropic::new("claude-sonnet-4-5", KEY).base_url(url).declares(can)),
            Self::OpenAi => patient!(OpenAi::new("gpt-4.1", KEY).base_url(v1).declares(can)),
            Self::Responses => patient!(OpenAiResponses::new("gpt-5.5", KEY).base_url(v1).declares(can)),
            Self::Gemini => patient!(Gemini::new("gemini-3.8-flash", KEY).base_url(url).declares(can)),
            Self::Ollama => patient!(Ollama::new("qwen3").base_url(url).declares(can)),
            Self::LlamaCpp => patient!(OpenAiCompatible::llama_cpp(url).declares(can)),
        })
    }

    fn dialect(self) -> Dialect {
        match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::OpenAi | Self::Responses => Dialect::OpenAi,
            Self::Gemini => Dialect::Gemini,
            Self::Ollama => Dialect::Ollama,
            Self::LlamaCpp => Dialect::LlamaCpp,
        }
    }

    /// Asks a server of this service once.
    async fn ask(self, server: &ModelServer, request: &ModelRequest) -> Result<ModelAnswer, ModelFailure> {
        self.model(&server.url()).answer(request, &mut |_| {}).await
    }

    /// Asks a new server with this one reply, and gives the pieces, too.
    async fn told(
        self,
        reply: Reply,
        request: &ModelRequest,
    ) -> (Result<ModelAnswer, ModelFailure>, Vec<ModelPiece>) {
        let server = self.server([reply]);
        let model = self.model(&server.url());
        let mut pieces = Vec::new();
        let answer = model.answer(request, &mut |piece| pieces.push(piece)).await;
        (answer, pieces)
    }

    async fn answer(self, reply: Reply) -> ModelAnswer {
        let answer = self.told(reply, &question()).await.0;
        answer.unwrap_or_else(|failure| panic!("{self:?}: {failure}"))
    }

    async fn failure(self, reply: Reply) -> ModelFailure {
        match self.told(reply, &question()).await.0 {
            Err(failure) => failure,
            Ok(answer) => panic!("{self:?}: {answer:?}"),
        }
    }
}

fn question() -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = vec![Message::user("how many?")];
    request
}
