//! Step workflows: models, agents, commands and people in an order, each with an output that later steps read.
//!
//! [The guide](crate::guide::workflows) tells how one is written and run. Here are only names: what a workflow is lives in the core,
//! and what makes agents and models by name with those.

#[cfg(feature = "agents")]
pub use sandcastle_agents::BuiltIn;
pub use sandcastle_core::workflow::*;
