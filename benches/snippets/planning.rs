//! Answers about work to do: triage, plans, questions, outcomes.

use std::collections::BTreeMap;

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where an issue belongs and how urgent it is.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "triage")]
#[serde(deny_unknown_fields)]
pub(crate) struct Triage {
    /// Think before you decide; two or three sentences.
    reasoning: String,
    category: Category,
    priority: Priority,
    /// How sure you are.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
    /// Existing labels only.
    #[schemars(length(max = 5), inner(length(min = 1, max = 50)), extend("uniqueItems" = true))]
    labels: Vec<String>,
    /// Number of the issue that this one repeats.
    #[schemars(range(min = 1))]
    duplicate_of: Option<u64>,
    #[serde(default)]
    needs_reproduction: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Category {
    Bug,
    FeatureRequest,
    Documentation,
    Question,
    Security,
}

#[derive(Deserialize, JsonSchema)]
enum Priority {
    /// Production is down.
    P0,
    /// This week.
    P1,
    /// This quarter.
    P2,
    /// Some day.
    P3,
}

/// Steps that lead from the issue to a merged change.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "plan")]
pub(crate) struct Plan {
    goal: String,
    /// In the order in which they are done.
    #[schemars(length(min = 1, max = 12))]
    steps: Vec<Step>,
    risks: Vec<Risk>,
    /// What is left out on purpose.
    #[serde(default)]
    non_goals: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Step {
    /// Short and unique, such as `parse-flags`.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"), length(max = 40))]
    id: String,
    description: String,
    /// Ids of steps that come first.
    #[serde(default)]
    depends_on: Vec<String>,
    files: Vec<String>,
    estimate_minutes: u16,
    check: Check,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Check {
    /// A command that must succeed.
    Command(String),
    /// Something a person looks at.
    Manual {
        who: String,
        what: String,
    },
    None,
}

#[derive(Deserialize, JsonSchema)]
struct Risk {
    what: String,
    likelihood: Level,
    impact: Level,
    mitigation: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    Medium,
    High,
}

/// How the task ended.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "outcome")]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Everything asked for is committed.
    Done {
        summary: String,
        /// Full hashes, oldest first.
        #[schemars(length(min = 1), inner(regex(pattern = "^[0-9a-f]{40}$")))]
        commits: Vec<String>,
        tests_pass: bool,
    },
    /// Cannot go on without a person.
    Blocked { reason: String, questions: Vec<String> },
    /// Somebody did it before.
    AlreadyDone { evidence: String },
    /// The task makes no sense here.
    Rejected { reason: String },
}

/// A task with parts, which have parts.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "tasks")]
pub(crate) struct Task {
    #[schemars(length(min = 3, max = 80))]
    title: String,
    owner: Option<String>,
    /// In hours.
    #[schemars(range(min = 0.25, max = 80.0), extend("multipleOf" = 0.25))]
    effort: f64,
    state: TaskState,
    #[serde(default)]
    parts: Vec<Task>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskState {
    Open,
    InProgress,
    Done,
}

/// Who does what in the sprint.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "sprint")]
pub(crate) struct Sprint {
    #[schemars(range(min = 1))]
    number: u32,
    #[schemars(extend("format" = "date"))]
    start: String,
    #[schemars(extend("format" = "date"))]
    end: String,
    /// Issues by the handle of the person.
    assignments: BTreeMap<String, Vec<Assignment>>,
    /// Hours that each person has, by handle.
    #[schemars(extend("minProperties" = 1))]
    capacity: BTreeMap<String, u8>,
    carried_over: Vec<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Assignment {
    issue: u32,
    #[schemars(range(min = 1, max = 13))]
    points: u8,
    /// Why this person.
    reason: String,
}
