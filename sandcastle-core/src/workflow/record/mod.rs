//! What a run of a workflow writes down, so that it can be resumed.
//!
//! It is one file, `.sandcastle/runs/<id>/workflow.jsonl`, a line for each thing that happened (`note`), written before the
//! next thing begins (`writer`). `reader` turns it into what a resumed run takes over, and `description` says what a step was,
//! so that a step that has changed since is noticed.
//!
//! What is in it is data to go on with, so it is not masked: whoever may read the file sees the input, the variables and the
//! outputs as they are, which is why nobody but its owner may. Like a journal it is a claim: sandboxes hide it from those in
//! them, and an agent without one can write there whatever its user could.

mod deed;
mod description;
mod note;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(super) use self::deed::Deed;
pub(super) use self::description::{describe, step_of};
pub(super) use self::note::{Given, Note, Verdict};
pub(super) use self::reader::{Decided, Past};
pub(super) use self::writer::Record;
