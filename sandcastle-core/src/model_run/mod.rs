//! A model run: from a conversation and a contract to a value, by asking a model behind a service.
//!
//! It is what `run` is for agents, without files, branches and processes. `options` say what is wanted, `entry` checks them
//! before anything is sent, and `plan` decides for each model how the schema reaches it. `driver` goes through the calls:
//! `call` makes one, again where its service failed, `tools` does what the model asks for, `verdict` judges an answer, and
//! `conversation` holds what was said, corrections included. `ending` is how a run comes to its end, with fallbacks if need
//! be. `ledger` writes down what happened and tells it as `event`s; `outcome` is what the caller gets, and `doors` are the
//! ways to get it.
//!
//! No service is known by name here and nothing is sent but through [`Model`](crate::model::Model); how answers are read and
//! judged is the business of `output`.

mod call;
mod conversation;
mod doors;
mod driver;
mod ending;
mod entry;
mod event;
mod ledger;
mod options;
mod outcome;
mod output;
mod plan;
#[cfg(test)]
mod tests;
mod tools;
mod trace;
mod verdict;
mod watch;

pub use self::event::{ModelRunEvent, ServedBy};
pub use self::ledger::ModelAttempt;
pub use self::options::ModelRun;
pub use self::outcome::ModelResult;
pub use self::output::{ModelOutput, ModelRunFuture, TypedOutput};
