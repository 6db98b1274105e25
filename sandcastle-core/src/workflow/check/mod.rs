//! Reads a workflow before it runs: names, gates, contracts, and every expression against the schemas of what it reads.
//!
//! `structure` knows what does not depend on expressions. `order` goes through the steps as they will run, with the `scope` of
//! each: which steps are done by then. A `reader` walks over an expression there; it knows the `shape` of each value by its
//! `schema`, what is within it (`members`), what `operators` and `calls` make of it, and by `guards` what a condition said of it before.
//! `refusals` asks the rules of a run about what is written out, and `legacy` is version 1.0. What is not known is never held against anybody. Nothing is run here, and no file is read.

mod calls;
mod guards;
mod legacy;
mod members;
mod naming;
mod operators;
mod order;
mod reader;
mod refusals;
mod schema;
mod scope;
mod shape;
mod structure;

use super::definition::Workflow;
use super::finding::Findings;

/// How deep conditions and parallel steps may go.
const MAX_DEPTH: usize = 16;

impl Workflow {
    /// Says what is wrong with the workflow, or doubtful, without running anything.
    ///
    /// Names, gates and contracts are held to the rules, and every template and expression is read against the schemas of what
    /// it names: a field that no step can have, a step that comes later, or a comparison that can never hold is an error; a
    /// field that may not be there is a warning, unless the expression asks for it or has a default.
    ///
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::workflow::{Step, Workflow};
    ///
    /// let workflow = Workflow::new("release")
    ///     .step(Step::tool("tests", ["cargo", "test"]))
    ///     .step(Step::condition("passed", "tests.exit_cod == 0").then([Step::approval("release", "Release?")]));
    /// let findings = workflow.check();
    /// assert_eq!(findings.to_string(), "steps[1].if: `tests` has no `exit_cod`; did you mean `exit_code`?");
    /// ```
    #[must_use]
    pub fn check(&self) -> Findings {
        let mut found = Vec::new();
        structure::check(self, &mut found);
        order::check(self, &mut found);
        refusals::check(self, &mut found);
        Findings(found).sorted()
    }
}

#[cfg(test)]
mod tests;
