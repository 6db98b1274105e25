//! What a model run can be asked for, and how an answer becomes it.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::outcome::ModelResult;
use crate::error::Result;
use crate::output::{AgentOutput, ExtractError, OutputSpec};
use crate::run::NoOutput;

/// A model run that goes on while it is awaited; dropping it closes the connection and ends the run.
///
/// It is a named type, so that a type that is no output is one compile error and not three.
pub type ModelRunFuture<V> = Pin<Box<dyn Future<Output = Result<ModelResult<V>>> + Send>>;

mod sealed {
    use serde_json::Value;

    use super::{AgentOutput, NoOutput};

    pub trait Sealed {}
    impl Sealed for NoOutput {}
    impl Sealed for Value {}
    impl<T: AgentOutput> Sealed for T {}
}

/// What a model run can be asked for: nothing ([`NoOutput`]), a type that a model can answer with, or a [`Value`] that an
/// [`OutputSpec`] describes.
pub trait ModelOutput: sealed::Sealed + 'static {
    /// What a run gives that has to give it: the value, or `()`.
    type Value: Send + 'static;

    /// What [`run`](crate::ModelRun::run) gives: the value if there is one, or `()`.
    type Found: Send + 'static;

    #[doc(hidden)]
    fn read(text: &str, spec: &OutputSpec) -> Result<Self::Value, ExtractError>;

    #[doc(hidden)]
    fn value(kept: Option<Self::Value>) -> Option<Self::Value>;

    #[doc(hidden)]
    fn found(kept: Option<Self::Value>) -> Self::Found;
}

/// What a model run can be asked for that has a value.
#[diagnostic::on_unimplemented(
    message = "this model run asks for no output",
    label = "there is no value that it could give",
    note = "ask for one with `.output::<T>()` or `.output_spec(spec)`, or take the text with `.run()`"
)]
pub trait TypedOutput: ModelOutput {}

impl TypedOutput for Value {}
#[diagnostic::do_not_recommend]
impl<T: AgentOutput> TypedOutput for T {}

impl ModelOutput for NoOutput {
    type Value = ();
    type Found = ();

    fn read(_: &str, _: &OutputSpec) -> Result<(), ExtractError> {
        Ok(())
    }

    fn value(_: Option<()>) -> Option<()> {
        Some(())
    }

    fn found(_: Option<()>) {}
}

impl ModelOutput for Value {
    type Value = Self;
    type Found = Option<Self>;

    fn read(text: &str, spec: &OutputSpec) -> Result<Self, ExtractError> {
        spec.read_block(text)
    }

    fn value(kept: Option<Self>) -> Option<Self> {
        kept
    }

    fn found(kept: Option<Self>) -> Option<Self> {
        kept
    }
}

impl<T: AgentOutput> ModelOutput for T {
    type Value = T;
    type Found = Option<T>;

    fn read(text: &str, spec: &OutputSpec) -> Result<T, ExtractError> {
        T::read_block(text, spec)
    }

    fn value(kept: Option<T>) -> Option<T> {
        kept
    }

    fn found(kept: Option<T>) -> Option<T> {
        kept
    }
}
