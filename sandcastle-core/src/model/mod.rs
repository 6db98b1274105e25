//! What the engine needs to know of a model behind a service.
//!
//! A [`Model`] turns a [`ModelRequest`] into one call of its service and what comes back into a [`ModelAnswer`]. It repeats
//! nothing, chooses nothing and judges nothing: that is done by who asks it.

mod answer;
mod price;
mod request;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use self::answer::{ModelAnswer, ModelFailure, ModelPiece, ModelStop, ToolCall};
pub use self::price::{LongPrompts, Price};
pub use self::request::{Message, ModelRequest, ToolChoice, ToolSpec, WireSchema};
use crate::strategy::SchemaSupport;

/// One call of a model's service.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<ModelAnswer, ModelFailure>> + Send + 'a>>;

/// Is told the pieces of an answer while they arrive.
pub type ModelListener<'a> = dyn FnMut(ModelPiece) + Send + 'a;

/// Describes a model that is called over its service's own wire.
///
/// Implement it for a service that is not built in.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    label = "a model run cannot ask this",
    note = "models behind services are in `sandcastle::models`, with the feature `models`; a coding agent is run by `RunOptions::new`"
)]
pub trait Model: Send + Sync + fmt::Debug + 'static {
    /// Returns the name of the service, in kebab case, such as `anthropic`.
    fn provider(&self) -> &str;

    /// Returns the model's name, as the service knows it.
    fn name(&self) -> &str;

    /// Returns what this model can be held to, when its caller has tools of its own beside the schema and when not.
    fn support(&self, tools: OwnTools) -> SchemaSupport {
        let _ = tools;
        SchemaSupport::none(format!("the model `{}` of `{}`", self.name(), self.provider()))
    }

    /// Returns what it costs, if that is known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Tells whether the service itself says what each call cost, so that a budget needs no price.
    fn says_cost(&self) -> bool {
        false
    }

    /// Calls the service once.
    ///
    /// Dropping the future closes the connection; what the service had begun it may still charge for.
    ///
    /// # Errors
    /// When there is no answer, with the reason. An answer that is refused, filtered or cut off is one.
    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        listener: &'a mut ModelListener<'a>,
    ) -> ModelFuture<'a>;
}

/// Says whether the caller of a model has tools of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTools {
    /// There are none.
    None,
    /// There are some.
    Some,
}
