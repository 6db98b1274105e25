//! The guide: prose, one page per subject. There is no code here but that of the examples.

#[doc = include_str!("init.md")]
pub mod init {}

#[doc = include_str!("typed_output.md")]
pub mod typed_output {}

#[doc = include_str!("runs.md")]
pub mod runs {}

#[doc = include_str!("model_runs.md")]
pub mod model_runs {}

#[cfg(feature = "workflow")]
#[doc = include_str!("workflows.md")]
pub mod workflows {}

#[cfg(feature = "review")]
#[doc = include_str!("pull_requests.md")]
pub mod pull_requests {}

#[doc = include_str!("branches.md")]
pub mod branches {}

#[doc = include_str!("prompts.md")]
pub mod prompts {}

#[doc = include_str!("setup.md")]
pub mod setup {}

#[doc = include_str!("sandboxes.md")]
pub mod sandboxes {}

#[doc = include_str!("sessions.md")]
pub mod sessions {}

#[doc = include_str!("containers.md")]
pub mod containers {}

#[doc = include_str!("handles.md")]
pub mod handles {}

#[doc = include_str!("observing.md")]
pub mod observing {}

#[doc = include_str!("recovery.md")]
pub mod recovery {}

#[cfg(feature = "agents")]
#[doc = include_str!("agents.md")]
pub mod agents {}

#[cfg(feature = "models")]
#[doc = include_str!("models.md")]
pub mod models {}

#[doc = include_str!("custom_agent.md")]
pub mod custom_agent {}

#[doc = include_str!("custom_sandbox.md")]
pub mod custom_sandbox {}
