//! The coding agents that Sandcastle can run, one folder per program, models behind services (`models`), and code hosts
//! (`forges`).
//! `providers` makes by name what workflows name.
//!
//! [`ClaudeCode`], [`Codex`], [`Pi`], [`OpenCode`], [`Gemini`], [`Copilot`] and [`Cursor`] run real programs; [`Scripted`]
//! plays a script, for tests. Each says how its program is started and how its output is read; what a program prints is
//! private to its folder, and what leaves the folder is [`AgentEvent`](sandcastle_core::event::AgentEvent). Nothing here
//! starts a process.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod effort;
mod excerpt;
#[cfg(feature = "github")]
pub mod forges;
mod free_hand;
mod gemini;
mod http_status;
mod json;
#[cfg(feature = "models")]
pub mod models;
mod native;
mod opencode;
mod option_value;
mod pi;
mod program_setters;
mod prompt_argument;
#[cfg(feature = "workflow")]
mod providers;
pub mod registry;
mod repair;
pub mod scripted;
mod session_store;
mod tool;
#[cfg(any(feature = "github", feature = "models"))]
mod transport;
mod uuid;

pub use crate::claude_code::{ClaudeCode, PermissionMode};
pub use crate::codex::Codex;
pub use crate::copilot::Copilot;
pub use crate::cursor::Cursor;
pub use crate::effort::Effort;
pub use crate::gemini::{ApprovalMode, Gemini};
pub use crate::opencode::OpenCode;
pub use crate::pi::{Pi, ThinkingLevel};
#[cfg(feature = "workflow")]
pub use crate::providers::BuiltIn;
pub use crate::scripted::Scripted;

#[cfg(test)]
mod hostile;
