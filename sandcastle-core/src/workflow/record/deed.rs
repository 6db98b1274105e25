//! What a step did, as it is written down and taken over.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::definition::StepKind;
use super::super::outcome::{StepRecord, StepStatus};
use crate::id::{BranchName, CommitId, RunId};
use crate::journal::NotedCommit;
use crate::strategy::AnswerGuarantee;
use crate::work::{Commit, Usage};

/// What a step did, whether or not it came to a good end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::workflow) struct Deed {
    pub(in crate::workflow) confidence: Option<f64>,
    pub(in crate::workflow) attempts: u32,
    /// What was wrong with the answers that were not accepted, a line each.
    pub(in crate::workflow) rejected: Vec<String>,
    pub(in crate::workflow) answer_guarantee: Option<AnswerGuarantee>,
    pub(in crate::workflow) branch: Option<String>,
    pub(in crate::workflow) commits: Vec<NotedCommit>,
    /// The run of an agent.
    pub(in crate::workflow) run: Option<String>,
    /// What an agent said last.
    pub(in crate::workflow) text: Option<String>,
    /// Whether a command printed more on each of its streams than is kept, so that the beginning is lost.
    pub(in crate::workflow) stdout_truncated: bool,
    pub(in crate::workflow) stderr_truncated: bool,
    pub(in crate::workflow) usage: Usage,
    pub(in crate::workflow) seconds: f64,
}

impl Deed {
    /// Notes how long it took.
    pub(in crate::workflow) fn took(&mut self, time: Duration) {
        self.seconds = time.as_secs_f64();
    }

    /// Returns what expressions know as `steps.NAME`.
    pub(in crate::workflow) fn facts(&self, kind: &StepKind) -> Value {
        let mut facts = json!({ "attempts": self.attempts, "seconds": self.seconds });
        if let StepKind::Tool(_) = kind {
            facts["stdout_truncated"] = self.stdout_truncated.into();
            facts["stderr_truncated"] = self.stderr_truncated.into();
        }
        if let Some(text) = &self.text {
            facts["text"] = text.as_str().into();
            facts["branch"] = self.branch.as_deref().unwrap_or_default().into();
            facts["commits"] = self.shas();
        }
        facts
    }

    /// Returns the ids of its commits.
    pub(in crate::workflow) fn shas(&self) -> Value {
        self.commits.iter().map(|commit| commit.sha.as_str()).collect()
    }

    /// Returns it as it is told.
    pub(in crate::workflow) fn record(&self, step: &str, kind: &str, status: StepStatus) -> StepRecord {
        let commit = |noted: &NotedCommit| Commit {
            sha: CommitId::from_git(noted.sha.as_str()),
            subject: noted.subject.clone(),
        };
        StepRecord {
            step: step.to_owned(),
            kind: kind.to_owned(),
            status,
            output: None,
            confidence: self.confidence,
            attempts: self.attempts,
            rejected: self.rejected.clone(),
            stdout_truncated: self.stdout_truncated,
            stderr_truncated: self.stderr_truncated,
            error: None,
            answer_guarantee: self.answer_guarantee,
            branch: self.branch.as_deref().map(BranchName::from_git),
            commits: self.commits.iter().map(commit).collect(),
            run: self.run.as_deref().and_then(|run| RunId::new(run).ok()),
            usage: self.usage,
            time: Duration::try_from_secs_f64(self.seconds).unwrap_or_default(),
        }
    }
}
