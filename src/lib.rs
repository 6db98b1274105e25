//! [setting up a repository]: crate::guide::init
//! [typed outputs]: crate::guide::typed_output
//! [how a run goes and ends]: crate::guide::runs
//! [step workflows]: https://github.com/sandcastle-rs/sandcastle/blob/main/src/guide/workflows.md
//! [pull requests]: https://github.com/sandcastle-rs/sandcastle/blob/main/src/guide/pull_requests.md
//! [branches, worktrees and merging back]: crate::guide::branches
//! [sandboxes and worktrees that runs share]: crate::guide::handles
//! [prompts and their templates]: crate::guide::prompts
//! [hooks, files, variables and secrets]: crate::guide::setup
//! [where agents run]: crate::guide::sandboxes
//! [agents in containers]: crate::guide::containers
//! [sessions that are resumed and forked]: crate::guide::sessions
//! [runs that were killed]: crate::guide::recovery
//! [asking a model without an agent]: crate::guide::model_runs
//! [models behind services]: https://github.com/sandcastle-rs/sandcastle/blob/main/src/guide/models.md
//! [logs, events and tracing]: crate::guide::observing
//! [the agents that are built in]: crate::guide::agents
//! [an agent of your own]: crate::guide::custom_agent
//! [a sandbox of your own]: crate::guide::custom_sandbox
//! [docs/ARCHITECTURE.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/ARCHITECTURE.md
//! [docs/GLOSSARY.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/GLOSSARY.md
//! [docs/STRATEGIES.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/STRATEGIES.md
//! [docs/PERFORMANCE.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/PERFORMANCE.md
//! [docs/PARITY.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/PARITY.md
//! [docs/SECURITY.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/docs/SECURITY.md
//! [CONTRIBUTING.md]: https://github.com/sandcastle-rs/sandcastle/blob/main/CONTRIBUTING.md
//! [Apache License 2.0]: https://github.com/sandcastle-rs/sandcastle/blob/main/LICENSE-APACHE
//! [MIT]: https://github.com/sandcastle-rs/sandcastle/blob/main/LICENSE-MIT
//!
// The README's own links lead to files of the repository. The first definition of a link counts: those above are for
// readers of this documentation.
#![doc = include_str!("../README.md")]

// The outputs of `review` are derived like anybody's, whose crate knows this one by name.
#[cfg(feature = "review")]
extern crate self as sandcastle;

#[cfg(feature = "models")]
pub use sandcastle_agents::models;
#[cfg(feature = "agents")]
pub use sandcastle_agents::{
    ApprovalMode, ClaudeCode, Codex, Copilot, Cursor, Effort, Gemini, OpenCode, PermissionMode, Pi, Scripted,
    ThinkingLevel, registry,
};
pub use sandcastle_core::{
    Activity, Agent, AgentEvent, AgentOutput, AnswerGuarantee, Attempt, AttemptOutcome, BranchName,
    BranchStrategy, Bubblewrap, Cancellation, CancellationToken, CloseResult, CommandFailure, Commit,
    CommitId, Docker, Error, ErrorKind, Executed, Exit, ExtractError, Extraction, Given, Hook, Hooks,
    InteractiveOutput, InteractiveResult, Iteration, Liveness, Logging, ModelAttempt, ModelOutput,
    ModelResult, ModelRun, ModelRunEvent, ModelRunFuture, Network, NoOutput, NoSandbox, OutputFormat,
    OutputSpec, OutputStrategy, Podman, Problem, Progress, Result, RunEvent, RunFuture, RunId, RunOptions,
    RunOutput, RunResult, Sandbox, SandboxOptions, SandboxProvider, SchemaSupport, Secrets, ServedBy,
    SessionId, Snippet, SnippetStyle, Spent, Stage, StrategyChoice, StructuredOutputError, Support, Timeouts,
    TurnMode, TypedOutput, Usage, Work, Worktree, WorktreeOptions, agent, create_sandbox, create_worktree,
    event, interactive, journal, jsonl, model, output, run, run_spec, run_spec_with_extraction, run_with,
    run_with_extraction, sandbox, secret, session,
};
#[cfg(feature = "derive")]
pub use sandcastle_derive::AgentOutput;

#[doc(hidden)]
pub use sandcastle_core::__private;

#[cfg(feature = "github")]
pub use sandcastle_agents::forges;
#[cfg(feature = "review")]
pub use sandcastle_core::forge;

pub mod guide;
#[cfg(feature = "review")]
pub mod review;
pub mod testing;
#[cfg(feature = "workflow")]
pub mod workflow;
