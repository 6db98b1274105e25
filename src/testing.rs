//! What tests of programs that run agents or ask models need: a scripted agent, a scratch repository, and a scripted model.
//!
//! The scripted agent is a real child process: it commits, answers, fails, hangs and resumes as a real agent does, and
//! needs neither a model nor a network.
//!
//! ```
//! use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
//! use sandcastle::{AgentOutput, Logging, NoSandbox, RunOptions};
//!
//! #[derive(Debug, serde::Deserialize, schemars::JsonSchema, AgentOutput)]
//! #[output(tag = "count")]
//! struct Count {
//!     files: u32,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> sandcastle::Result<()> {
//! let repository = ScratchRepo::new().await?;
//! let script = Script::new().turn(
//!     Turn::new().write_file("new.txt", "hello").commit("Add a file").say(r#"<count>{"files": 2}</count>"#),
//! );
//! let options = RunOptions::new(Scripted::new(script), NoSandbox::new())
//!     .cwd(repository.path())
//!     .prompt(format!("Add a file and count them. {}", Count::prompt_snippet()));
//! let result = sandcastle::run_with::<Count>(options).await?;
//! assert_eq!(result.output.files, 2);
//! assert_eq!(result.commits[0].subject, "Add a file");
//! # Ok(()) }
//! ```

#[cfg(feature = "agents")]
pub use sandcastle_agents::Scripted;
#[cfg(feature = "agents")]
pub use sandcastle_agents::scripted::{AfterLast, LeftOutput, Script, Sequence, Turn};
pub use sandcastle_core::testing::{ScratchRepo, ScriptedModel, sandbox_conformance, sandbox_conformance_in};
