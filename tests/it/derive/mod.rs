//! What types with `#[derive(AgentOutput)]` do at run time: what they accept, what they refuse, and that the schema they
//! show to an agent and the parser behind it say the same.
//!
//! What the compiler refuses is under `tests/ui`; how a block is found in a text is tested in the engine.

mod agreement;
mod attributes;
mod enums;
mod fields;
mod generics;
mod prepare;
mod recursion;
mod schema;
mod text;
