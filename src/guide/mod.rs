//! The guide: prose, one page per subject. There is no code here but that of the examples.

#[doc = include_str!("typed_output.md")]
pub mod typed_output {}

#[doc = include_str!("runs.md")]
pub mod runs {}

#[cfg(feature = "agents")]
#[doc = include_str!("agents.md")]
pub mod agents {}

#[doc = include_str!("custom_agent.md")]
pub mod custom_agent {}

#[doc = include_str!("custom_sandbox.md")]
pub mod custom_sandbox {}
