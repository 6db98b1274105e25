//! What a run has to bring, and how a block becomes it.

use std::sync::Arc;

use serde_json::Value;

use super::extraction::Extraction;
use crate::error::Result as Checked;
use crate::output::{AgentOutput, ExtractError, OutputSpec};

/// What a run has to bring: nothing, a typed value, or a value that a spec describes.
pub trait Contract: Send + 'static {
    /// What is brought in the end.
    type Value: Send + 'static;

    /// Returns what an answer must be; `None` when nothing is asked for.
    fn spec(&self) -> Option<Arc<OutputSpec>>;

    /// Returns what asks for it once the work is done; `None` where the prompt of the work asks for it.
    fn extraction(&self) -> Option<&Extraction> {
        None
    }

    /// Reads a block that was located in an answer, and keeps its value if it is good.
    fn judge(&mut self, block: &str) -> Result<(), ExtractError>;

    /// Returns the value that was kept; `None` when no block was good.
    fn into_value(self) -> Option<Self::Value>;
}

/// What an agent is asked for besides its work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand<'a> {
    pub(super) spec: &'a OutputSpec,
    /// As [`Contract::extraction`] says.
    pub(super) extraction: Option<&'a Extraction>,
}

/// Asks for nothing.
#[derive(Debug)]
pub struct Nothing;

impl Contract for Nothing {
    type Value = ();

    fn spec(&self) -> Option<Arc<OutputSpec>> {
        None
    }

    fn judge(&mut self, _: &str) -> Result<(), ExtractError> {
        Ok(())
    }

    fn into_value(self) -> Option<()> {
        Some(())
    }
}

/// Asks for a `T`.
#[derive(Debug)]
pub struct Typed<T> {
    spec: Arc<OutputSpec>,
    value: Option<T>,
}

impl<T: AgentOutput> Typed<T> {
    pub(super) fn new() -> Self {
        Self { spec: Arc::new(OutputSpec::of::<T>()), value: None }
    }
}

impl<T: AgentOutput> Contract for Typed<T> {
    type Value = T;

    fn spec(&self) -> Option<Arc<OutputSpec>> {
        Some(Arc::clone(&self.spec))
    }

    fn judge(&mut self, block: &str) -> Result<(), ExtractError> {
        self.value = Some(T::read_block(block, &self.spec)?);
        Ok(())
    }

    fn into_value(self) -> Option<T> {
        self.value
    }
}

/// Asks for what a spec describes.
#[derive(Debug)]
pub(super) struct Described {
    spec: Arc<OutputSpec>,
    value: Option<Value>,
}

impl Described {
    pub(super) fn new(spec: OutputSpec) -> Self {
        Self { spec: Arc::new(spec), value: None }
    }
}

impl Contract for Described {
    type Value = Value;

    fn spec(&self) -> Option<Arc<OutputSpec>> {
        Some(Arc::clone(&self.spec))
    }

    fn judge(&mut self, block: &str) -> Result<(), ExtractError> {
        self.value = Some(self.spec.read_block(block)?);
        Ok(())
    }

    fn into_value(self) -> Option<Value> {
        self.value
    }
}

/// Asks for what another contract describes, once the work is done.
#[derive(Debug)]
pub(super) struct Afterwards<C> {
    contract: C,
    extraction: Extraction,
    spec: Option<Arc<OutputSpec>>,
}

impl<C: Contract> Afterwards<C> {
    /// Puts the question after the work.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`](crate::ErrorKind::InvalidOutput) when there are more retries than there can be.
    pub(super) fn new(contract: C, extraction: Extraction) -> Checked<Self> {
        let with_retries = |spec: Arc<OutputSpec>| {
            let retries = extraction.retries_of(&spec);
            Arc::unwrap_or_clone(spec).max_retries(retries).map(Arc::new)
        };
        let spec = contract.spec().map(with_retries).transpose()?;
        Ok(Self { contract, extraction, spec })
    }
}

impl<C: Contract> Contract for Afterwards<C> {
    type Value = C::Value;

    fn spec(&self) -> Option<Arc<OutputSpec>> {
        self.spec.clone()
    }

    fn extraction(&self) -> Option<&Extraction> {
        Some(&self.extraction)
    }

    fn judge(&mut self, block: &str) -> Result<(), ExtractError> {
        self.contract.judge(block)
    }

    fn into_value(self) -> Option<C::Value> {
        self.contract.into_value()
    }
}
