//! Models behind services, over HTTP: one folder per protocol.
//!
//! [`Anthropic`], [`OpenAi`] (chat completions), [`OpenAiResponses`], [`Gemini`], [`Ollama`] and [`OpenAiCompatible`] are
//! [`Model`](sandcastle_core::model::Model)s. A folder says what a request looks like on its wire and how the events of an
//! answer are read; the wire stays private to it. Sending and reading are the same for all (`endpoint`, `http`), and so is
//! what is known of models (`capabilities`). Nothing here repeats a request, chooses a strategy or judges an answer.

mod anthropic;
mod capabilities;
mod compatible;
mod endpoint;
mod gemini;
mod http;
mod key;
mod ollama;
mod openai;
mod responses;
#[cfg(test)]
mod tests;
mod wire;

pub use self::anthropic::Anthropic;
pub use self::capabilities::Capabilities;
pub use self::compatible::OpenAiCompatible;
pub use self::gemini::Gemini;
pub use self::key::ApiKey;
pub use self::ollama::Ollama;
pub use self::openai::OpenAi;
pub use self::responses::OpenAiResponses;
