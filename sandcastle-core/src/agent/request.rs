//! What an agent is asked for in one turn.

use std::path::Path;

use super::{RequestSchema, TurnMode};
use crate::session::SessionRequest;

/// Asks an agent for one turn.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentRequest<'a> {
    /// What to say to it.
    pub prompt: &'a str,
    /// The folder it works in, as seen inside the sandbox.
    pub cwd: &'a Path,
    /// Which conversation to begin or continue.
    pub session: &'a SessionRequest,
    /// What the program itself is to hold its answer to; only for an agent with a [`Agent::native_output`](super::Agent::native_output).
    pub schema: Option<RequestSchema<'a>>,
    /// What it may do. A program that can be kept from changing anything is, in a turn that may only speak; whoever runs it
    /// looks at what has changed all the same, and undoes it.
    pub mode: TurnMode,
    /// What this process may cost at the most, in US dollars, for a program that can hold itself to it. Whoever runs it
    /// watches the budget all the same.
    pub max_cost: Option<f64>,
}

impl<'a> AgentRequest<'a> {
    /// Creates a request.
    #[must_use]
    pub fn new(prompt: &'a str, cwd: &'a Path, session: &'a SessionRequest) -> Self {
        Self { prompt, cwd, session, schema: None, mode: TurnMode::Work, max_cost: None }
    }

    /// Sets what the program itself is to hold its answer to.
    #[must_use]
    pub fn with_schema(mut self, schema: Option<RequestSchema<'a>>) -> Self {
        self.schema = schema;
        self
    }

    /// Sets what it may do; [`TurnMode::Work`] by default.
    #[must_use]
    pub fn with_mode(mut self, mode: TurnMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets what the process may cost.
    #[must_use]
    pub fn with_max_cost(mut self, dollars: Option<f64>) -> Self {
        self.max_cost = dollars;
        self
    }
}
