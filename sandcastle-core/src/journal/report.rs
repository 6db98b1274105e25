//! What is told about a run: how it stands and what it left. Plain records, nothing is looked up here.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::workflow::WorkflowLeft;
use crate::id::RunId;
use crate::work::{self, Commit, TurnMode};

/// Tells how a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RunState {
    /// It goes on.
    Running,
    /// It came to its end and said how.
    Finished,
    /// Its process is gone and never said how it ended.
    Died,
    /// Its journal cannot be read, so nothing is known and nothing of it is ever removed.
    Unreadable,
}

impl RunState {
    /// Returns the name in kebab case, as the command prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Died => "died",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Tells how a finished run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// It brought what it was asked for.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled, or its future was dropped.
    Cancelled,
    /// It ended in a way that this version does not know.
    #[serde(other)]
    Other,
}

/// Describes one run and what is left of it, as it was when somebody looked.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunReport {
    /// Names the run.
    pub id: RunId,
    /// How it stands.
    pub state: RunState,
    /// How it ended, if it came to that.
    pub outcome: Option<Outcome>,
    /// Why it failed, or why its journal cannot be read.
    pub error: Option<String>,
    /// Whether [`Runs::recover`](super::Runs::recover) was called for it.
    pub recovered: bool,
    /// When it began, in UTC.
    pub started_at: Option<String>,
    /// What it was called.
    pub name: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The sandbox provider.
    pub sandbox: Option<String>,
    /// The branch strategy.
    pub strategy: Option<String>,
    /// The folder that it was asked to work in.
    #[serde(serialize_with = "work::optional_path")]
    pub cwd: Option<PathBuf>,
    /// The process that drives it.
    pub pid: Option<u32>,
    /// The branch that the agent works on.
    pub branch: Option<String>,
    /// The branch that its commits are to land on.
    pub target_branch: Option<String>,
    /// The worktrees that are still there.
    pub worktrees: Vec<WorktreeLeft>,
    /// The branches that it worked on and that are still there.
    pub branches: Vec<BranchLeft>,
    /// Commits that it noted and that no branch or tag leads to.
    pub unreachable_commits: Vec<Commit>,
    /// Processes that it started and that live.
    pub processes: Vec<ProcessLeft>,
    /// Sandboxes that it did not note as gone.
    pub sandboxes: Vec<SandboxLeft>,
    /// The folder outside of the repository in which it kept a schema, if that is still there.
    #[serde(serialize_with = "work::optional_path")]
    pub scratch: Option<PathBuf>,
    /// The conversation of the agent.
    pub session: Option<SessionLeft>,
    /// What the agent was there for last: it worked, or its work was done and it was asked for the output.
    pub mode: TurnMode,
    /// What the agent had answered.
    pub answer: Option<Answer>,
    /// The landing of its commits, once that was begun.
    pub landing: Option<LandingLeft>,
    /// What the workflow did, if it is the run of one. Its agents have runs of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowLeft>,
    /// Notes of a newer version, as they stand in the journal.
    pub unknown_notes: Vec<Value>,
    /// How many lines of the journal are no notes; the last line of a killed run may be one.
    pub damaged_lines: usize,
    /// What could not be looked at. What is not known is never removed.
    pub warnings: Vec<String>,
}

/// Describes a worktree that is still there.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WorktreeLeft {
    /// Where it is.
    #[serde(serialize_with = "work::path")]
    pub path: PathBuf,
    /// The branch that is checked out in it, or that a rebase in it is about.
    pub branch: Option<String>,
    /// The commit that is checked out in it.
    pub head: Option<String>,
    /// Files with changes that are in no commit, untracked ones included and ignored ones not; `None` if that could not
    /// be found out.
    #[serde(serialize_with = "work::optional_paths")]
    pub changed: Option<Vec<PathBuf>>,
    /// What else is in it that may be of value: an operation of git that is under way, work in submodules, hidden changes.
    pub unclear: Vec<String>,
    /// The run that uses it now.
    pub used_by: Option<RunId>,
}

/// Describes a branch that a run worked on.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BranchLeft {
    /// Its name.
    pub name: String,
    /// The commit that it leads to.
    pub tip: String,
    /// Its commits that are not in the target branch, or that are new since its base where there is no target; oldest
    /// first. In the user's own work tree those of the agent, until the run was recovered.
    pub commits: Vec<Commit>,
}

/// Describes a process that was left running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProcessLeft {
    /// Its number.
    pub pid: u32,
    /// Its name as the kernel has it.
    pub name: String,
}

/// Describes a sandbox that may be still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SandboxLeft {
    /// Who made it.
    pub provider: String,
    /// What the provider calls it.
    pub id: String,
}

/// Names the conversation of a run, which can be resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionLeft {
    /// Its id, of the form of a [`SessionId`](crate::SessionId).
    pub id: String,
    /// The agent's own file of it, if it is still there.
    #[serde(serialize_with = "work::optional_path")]
    pub file: Option<PathBuf>,
}

/// Holds what an agent had answered by the time its run died.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The tag that it stood in.
    pub tag: String,
    /// The block, as the agent wrote it.
    pub block: Option<String>,
    /// The value, if it fits the schema. What only the type itself could judge was not judged again.
    pub value: Option<Value>,
    /// Why there is no value.
    pub problem: Option<String>,
}

/// Describes the landing of the commits of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LandingLeft {
    /// The branch whose commits were to land.
    pub source: String,
    /// The last of them.
    pub tip: String,
    /// The branch that they were to land on.
    pub target: String,
    /// How far it came.
    pub state: LandingState,
}

/// Tells how far a landing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LandingState {
    /// The target branch has the commits.
    Landed,
    /// It does not have them: they conflict with it, or something was in the way.
    Refused,
    /// It does not have them: the run was killed in the middle.
    Interrupted,
    /// That could not be found out.
    Unknown,
}

impl RunReport {
    /// Begins the report of a run of which nothing is known.
    pub(super) fn unreadable(id: RunId, reason: String) -> Self {
        Self {
            id,
            state: RunState::Unreadable,
            outcome: None,
            error: Some(reason),
            recovered: false,
            started_at: None,
            name: None,
            agent: None,
            model: None,
            sandbox: None,
            strategy: None,
            cwd: None,
            pid: None,
            branch: None,
            target_branch: None,
            worktrees: Vec::new(),
            branches: Vec::new(),
            unreachable_commits: Vec::new(),
            processes: Vec::new(),
            sandboxes: Vec::new(),
            scratch: None,
            session: None,
            mode: TurnMode::Work,
            answer: None,
            landing: None,
            workflow: None,
            unknown_notes: Vec::new(),
            damaged_lines: 0,
            warnings: Vec::new(),
        }
    }

    /// Returns how long ago the run began, if its journal says when.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let began = self.started_at.as_ref()?.parse::<jiff::Timestamp>().ok()?;
        Duration::try_from(jiff::Timestamp::now().duration_since(began)).ok()
    }

    /// Words what is left that a person may want, or that goes on without anybody who waits for it.
    #[must_use]
    pub fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for worktree in &self.worktrees {
            left.push(match (&worktree.changed, worktree.unclear.is_empty()) {
                (Some(changed), true) if changed.is_empty() => "a clean worktree".to_owned(),
                (Some(changed), false) if changed.is_empty() => "a worktree to be looked at".to_owned(),
                (Some(changed), _) => format!("a worktree with {}", count(changed.len(), "changed file")),
                (None, _) => "a worktree that cannot be read".to_owned(),
            });
        }
        for branch in self.branches.iter().filter(|branch| !branch.commits.is_empty()) {
            left.push(format!("{} on {}", count(branch.commits.len(), "commit"), branch.name));
        }
        match self.landing.as_ref().map(|landing| landing.state) {
            None | Some(LandingState::Landed) => {}
            Some(LandingState::Refused) => left.push("commits that could not be merged".to_owned()),
            Some(LandingState::Interrupted | LandingState::Unknown) => {
                left.push("a landing that was interrupted".to_owned());
            }
        }
        if !self.unreachable_commits.is_empty() {
            left.push(format!("{} on no branch", count(self.unreachable_commits.len(), "commit")));
        }
        if !self.processes.is_empty() && self.state != RunState::Running {
            left.push(counted(self.processes.len(), "process", "processes"));
        }
        for sandbox in &self.sandboxes {
            left.push(format!("the sandbox {} of {}", sandbox.id, sandbox.provider));
        }
        if let Some(workflow) = self.workflow.as_ref().filter(|workflow| workflow.can_be_resumed) {
            left.push(match workflow.status.as_str() {
                "awaiting-approval" => "a workflow that waits for an approval".to_owned(),
                _ => "a workflow that can be resumed".to_owned(),
            });
        }
        if self.state == RunState::Died && !self.recovered {
            left.extend(self.answer.as_ref().map(|_| "an answer".to_owned()));
            left.extend(self.session.as_ref().map(|_| "a session".to_owned()));
        }
        left
    }
}

fn count(number: usize, one: &str) -> String {
    counted(number, one, &format!("{one}s"))
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Tells what [`Runs::recover`](super::Runs::recover) did for a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Recovery {
    /// The run, as it was afterwards.
    pub run: RunReport,
    /// How many processes were ended.
    pub ended_processes: usize,
    /// Branches that hold what no other branch did.
    pub rescued: Vec<Rescued>,
    /// What no branch could be made of; it was left where it is.
    pub left_in_place: Vec<String>,
}

/// Describes a branch that was made so that nothing gets lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rescued {
    /// The branch, `sandcastle-rescue/<run>`.
    pub branch: String,
    /// Where it leads.
    pub commit: String,
    /// What it holds.
    pub what: RescuedWork,
}

/// Tells what a rescue branch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RescuedWork {
    /// The uncommitted and untracked files of a worktree, on top of what was checked out there.
    Uncommitted,
    /// Commits that no branch led to.
    Commits,
}

/// Tells what [`Runs::clean`](super::Runs::clean) removed and what it kept.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Cleaned {
    /// What is gone, or would be.
    pub removed: Vec<CleanedItem>,
    /// What is still there.
    pub kept: Vec<CleanedItem>,
}

/// Names one thing and says why it was removed or kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CleanedItem {
    /// The run that it belongs to; `None` if no journal names it.
    pub run: Option<RunId>,
    /// What it is.
    pub what: String,
    /// Why.
    pub why: String,
}
