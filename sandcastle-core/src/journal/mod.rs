//! The journal: what each run owns while it goes on, and what is left of runs that were killed.
//!
//! A run writes down what it is about to own before it owns it (`writer`, with the words of `note`), into
//! `.sandcastle/runs/<id>/journal.jsonl`. After a `SIGKILL` of its process somebody else reads it (`reader`), looks at what
//! is there now (`remains`; git is asked by `ground`), saves what nobody else holds (`rescue`) and tidies up (`clean`).
//! `workflow` glances at what workflows write there. [`Runs`] is the door, [`RunReport`] what it tells; `shelf` is the folder,
//! `scratch` what runs keep elsewhere for a moment.
//!
//! Three rules hold everywhere. A journal is a claim: nothing is done because it says so, only because git, the kernel
//! and it agree. What is not known is never removed. And nothing is ever merged from here.

mod clean;
mod enclosures;
mod ground;
mod note;
mod orphans;
mod reader;
mod remains;
mod report;
mod rescue;
mod runs;
pub(crate) mod scratch;
mod shelf;
#[cfg(test)]
mod tests;
mod workflow;
mod writer;

#[cfg(feature = "workflow")]
pub(crate) use self::note::StoredPath;
pub(crate) use self::note::{Begun, Fate, Format, Note, NotedCommit, Origin};
#[cfg(feature = "workflow")]
pub(crate) use self::orphans::end_orphans_of;
pub(crate) use self::orphans::{Orphans, orphans_in};
pub use self::report::{
    Answer, BranchLeft, Cleaned, CleanedItem, LandingLeft, LandingState, Outcome, ProcessLeft, Recovery,
    Rescued, RescuedWork, RunReport, RunState, SandboxLeft, SessionLeft, WorktreeLeft,
};
pub(crate) use self::rescue::BRANCHES as RESCUE_BRANCHES;
pub use self::runs::{Removal, Runs};
#[cfg(feature = "workflow")]
pub(crate) use self::shelf::trim;
#[cfg(feature = "workflow")]
pub(crate) use self::workflow::{WORKFLOW_RECORD, WORKFLOW_VERSION, WorkflowHead};
pub use self::workflow::{WorkflowLeft, WorkflowStepLeft};
pub(crate) use self::writer::Journal;
#[cfg(feature = "workflow")]
pub(crate) use self::writer::{create, encoded, now, write_at_once};
