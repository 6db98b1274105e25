//! Runs AI coding agents in sandboxes on git branches and gives back a value of a Rust type.

pub use sandcastle_core::*;
