#![doc = include_str!("../README.md")]

#[cfg(feature = "agents")]
pub use sandcastle_agents::{ClaudeCode, Codex, Effort, PermissionMode, Scripted, registry};
pub use sandcastle_core::{
    Agent, AgentEvent, AgentOutput, AnswerGuarantee, Attempt, AttemptOutcome, BranchName, BranchStrategy,
    Callback, CancellationToken, Commit, CommitId, Error, ErrorKind, Exit, ExtractError, InteractiveOutput,
    InteractiveResult, Iteration, Logging, NoOutput, NoSandbox, OutputFormat, OutputSpec, Problem, Result,
    RunEvent, RunFuture, RunOptions, RunOutput, RunResult, SandboxProvider, SessionId, Stage,
    StructuredOutputError, Usage, Work, agent, event, interactive, jsonl, output, run, run_spec, run_with,
    sandbox, session,
};
#[cfg(feature = "derive")]
pub use sandcastle_derive::AgentOutput;

#[doc(hidden)]
pub use sandcastle_core::__private;

pub mod guide;
pub mod testing;
