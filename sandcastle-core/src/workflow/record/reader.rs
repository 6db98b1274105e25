//! Reads a record: what a resumed run takes over.
//!
//! A line is either whole or the last: a kill tears no other. So a line in the middle that cannot be read means that somebody
//! else has written there, and the record is refused rather than guessed at. Notes that only a newer version knows are skipped.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::deed::Deed;
use super::description::step_of;
use super::note::{Given, Head, Note, Verdict};
use crate::config::ConfigDir;
use crate::id::RunId;
use crate::journal::{self, WORKFLOW_VERSION};
use crate::process::{Leftovers, Mark, ProcessIdentity, are_own};

/// What a run had done by the time it ended.
#[derive(Clone, Debug)]
pub(in crate::workflow) struct Past {
    /// The name of the workflow.
    pub(in crate::workflow) name: String,
    pub(in crate::workflow) given: Given,
    /// What the workflow was when the run went on last.
    pub(in crate::workflow) document: Value,
    /// The steps that are done.
    pub(in crate::workflow) done: HashMap<String, Finished>,
    /// The answers that wait for somebody's consent.
    pub(in crate::workflow) held: HashMap<String, Finished>,
    pub(in crate::workflow) decided: HashMap<String, Decided>,
    /// The steps that had begun and are not done.
    pub(in crate::workflow) begun: HashSet<String>,
    /// Those of them of which nothing says how they ended.
    pub(in crate::workflow) torn: HashSet<String>,
    /// What the commands carry that it started.
    pub(super) mark: Option<Mark>,
    /// The process that drove it last.
    pub(super) owner: ProcessIdentity,
    /// How many bytes of the record are whole lines.
    pub(super) whole: u64,
}

/// A step that came to an output.
#[derive(Clone, Debug)]
pub(in crate::workflow) struct Finished {
    pub(in crate::workflow) output: Value,
    pub(in crate::workflow) deed: Deed,
    /// What the step was by then.
    pub(in crate::workflow) was: Value,
}

/// What somebody has decided.
#[derive(Clone, Debug)]
pub(in crate::workflow) struct Decided {
    pub(in crate::workflow) verdict: Verdict,
    pub(in crate::workflow) remark: String,
    /// What the step that asked was by then.
    pub(in crate::workflow) was: Value,
}

impl Past {
    /// Returns each step on which a person or the run has come to an end, and what it was by then.
    pub(in crate::workflow) fn settled(&self) -> impl Iterator<Item = (&String, &Value)> {
        let finished = self.done.iter().chain(&self.held).map(|(name, it)| (name, &it.was));
        finished.chain(self.decided.iter().map(|(name, it)| (name, &it.was)))
    }
}

/// Reads a record.
///
/// # Errors
/// Says why it cannot be used, as a sentence without a period.
pub(super) fn read(bytes: &[u8], run: &RunId) -> Result<Past, String> {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut past = begin(lines.next().ok_or("its first line was never written")?, run)?;
    past.whole = whole as u64;
    for (index, line) in lines.enumerate() {
        match serde_json::from_slice::<Note>(line) {
            Ok(note) => past.take(note),
            Err(error) if !is_of_a_newer_version(line) => {
                return Err(format!("its line {} cannot be read: {error}", index + 2));
            }
            Err(_) => {}
        }
    }
    Ok(past)
}

fn begin(line: &[u8], run: &RunId) -> Result<Past, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("its first line cannot be read: {error}"))?;
    if let Some(version) = value.get("workflow").and_then(Value::as_u64)
        && version > u64::from(WORKFLOW_VERSION)
    {
        return Err(format!("it is of version {version}, which is newer than this program"));
    }
    let Head { head, given, document } =
        serde_json::from_value(value).map_err(|error| format!("its first line cannot be read: {error}"))?;
    if head.run != run.as_str() {
        return Err("it is that of another run".to_owned());
    }
    Ok(Past {
        name: head.name,
        given,
        document,
        done: HashMap::new(),
        held: HashMap::new(),
        decided: HashMap::new(),
        begun: HashSet::new(),
        torn: HashSet::new(),
        mark: Mark::parse(&head.mark),
        owner: head.owner,
        whole: 0,
    })
}

/// Tells whether a line is a note, only none that is known here.
fn is_of_a_newer_version(line: &[u8]) -> bool {
    const KNOWN: &[&str] =
        &["resumed", "step-started", "held", "step-done", "step-ended", "decided", "ended"];
    let value = serde_json::from_slice::<Value>(line).unwrap_or_default();
    value.get("note").and_then(Value::as_str).is_some_and(|note| !KNOWN.contains(&note))
}

impl Past {
    /// Ends what the run started and what lives on because its process was killed, its agents among it; tells how many
    /// processes those were.
    pub(in crate::workflow) async fn end_leftovers(&self, config: &ConfigDir) -> usize {
        let agents = journal::end_orphans_of(config, &self.owner).await;
        // Whoever resumes a workflow from a command of the same workflow is not ended by that.
        match self.mark.clone().filter(|mark| !are_own(std::slice::from_ref(mark))) {
            Some(mark) => agents + Leftovers::of([mark]).end().await,
            None => agents,
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Resumed { owner, document, .. } => (self.owner, self.document) = (owner, document),
            Note::StepStarted { step } => {
                self.torn.insert(step.clone());
                self.begun.insert(step);
            }
            Note::Held { step, output, deed } => {
                let finished = self.finished(&step, output, deed);
                self.torn.remove(&step);
                self.held.insert(step, finished);
            }
            Note::StepDone { step, output, deed } => {
                let finished = self.finished(&step, output, deed);
                self.torn.remove(&step);
                self.begun.remove(&step);
                self.done.insert(step, finished);
            }
            Note::StepEnded { step, .. } => _ = self.torn.remove(&step),
            Note::Decided { step, verdict, remark } => {
                let was = self.was(&step);
                self.decided.insert(step, Decided { verdict, remark, was });
            }
            Note::Ended { .. } => {}
        }
    }

    fn finished(&self, step: &str, output: Value, deed: Deed) -> Finished {
        Finished { output, deed, was: self.was(step) }
    }

    fn was(&self, step: &str) -> Value {
        step_of(&self.document, step).cloned().unwrap_or_default()
    }
}
