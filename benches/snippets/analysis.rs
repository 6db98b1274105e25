//! Answers about code and systems: audits, incidents, dependencies, queries, expressions, settings.

use std::collections::BTreeMap;

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

/// Security audit of a repository.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "audit")]
pub(crate) struct Audit {
    /// For somebody who decides and does not program.
    executive_summary: String,
    #[schemars(range(min = 0, max = 100))]
    risk_score: u8,
    vulnerabilities: Vec<Vulnerability>,
    /// Commit that was looked at.
    #[schemars(regex(pattern = "^[0-9a-f]{40}$"))]
    commit: String,
}

#[derive(Deserialize, JsonSchema)]
struct Vulnerability {
    title: String,
    #[schemars(regex(pattern = r"^CWE-\d+$"))]
    cwe: String,
    /// CVSS 3.1 base score.
    #[schemars(range(min = 0.0, max = 10.0))]
    cvss: f32,
    locations: Vec<Span>,
    /// How an attacker would use it, step by step.
    exploit: Option<Vec<String>>,
    fix: String,
}

#[derive(Deserialize, JsonSchema)]
struct Span {
    file: String,
    #[schemars(range(min = 1))]
    start: u32,
    #[schemars(range(min = 1))]
    end: u32,
}

/// What happened, why, and what is done about it.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "incident")]
pub(crate) struct Incident {
    #[schemars(length(max = 100))]
    title: String,
    severity: IncidentSeverity,
    #[schemars(extend("format" = "date-time"))]
    started_at: String,
    #[schemars(extend("format" = "date-time"))]
    resolved_at: Option<String>,
    timeline: Vec<TimelineEntry>,
    /// The five whys, shortest first.
    #[schemars(length(min = 1, max = 5))]
    root_causes: Vec<String>,
    actions: Vec<Action>,
    customers_affected: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum IncidentSeverity {
    Sev1,
    Sev2,
    Sev3,
}

#[derive(Deserialize, JsonSchema)]
struct TimelineEntry {
    #[schemars(extend("format" = "date-time"))]
    at: String,
    event: String,
    /// Log line, dashboard or message that shows it.
    source: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Action {
    what: String,
    owner: String,
    #[schemars(extend("format" = "date"))]
    due: String,
    #[serde(default)]
    prevents_recurrence: bool,
}

/// Which dependencies to raise, and to what.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "upgrades")]
#[serde(deny_unknown_fields)]
pub(crate) struct Upgrades {
    /// By the name of the package.
    upgrades: BTreeMap<String, Upgrade>,
    /// Packages to leave alone, with the reason.
    #[serde(default)]
    held_back: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Upgrade {
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+"))]
    from: String,
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+"))]
    to: String,
    effort: Effort,
    breaking_changes: Vec<String>,
    #[schemars(url)]
    notes: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Effort {
    /// The version only.
    Trivial,
    /// A few call sites.
    Small,
    /// A design change.
    Large,
}

/// A query for the log store.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "query")]
pub(crate) struct Query {
    index: String,
    filter: Filter,
    #[schemars(length(max = 3))]
    sort: Vec<Sort>,
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u16,
}

fn hundred() -> u16 {
    100
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Equals {
        field: String,
        value: Scalar,
    },
    /// Bounds are inclusive.
    Range {
        field: String,
        from: Option<f64>,
        to: Option<f64>,
    },
    Exists(String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(f64),
    Flag(bool),
}

#[derive(Deserialize, JsonSchema)]
struct Sort {
    field: String,
    #[serde(default)]
    descending: bool,
}

/// Which of the answers to a question is better.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "judgement")]
pub(crate) struct Judgement {
    /// Compare them criterion by criterion first.
    analysis: String,
    scores: Scores,
    winner: Winner,
    #[schemars(range(min = 0.5, max = 1.0))]
    confidence: f64,
}

/// Each from 1 to 5, for answer A and answer B.
#[derive(Deserialize, JsonSchema)]
struct Scores {
    correctness: (Score, Score),
    completeness: (Score, Score),
    clarity: (Score, Score),
}

#[derive(Deserialize, JsonSchema)]
struct Score(#[schemars(range(min = 1, max = 5))] u8);

#[derive(Deserialize, JsonSchema)]
enum Winner {
    A,
    B,
    #[serde(rename = "tie")]
    Tie,
}

/// Settings for a service, derived from its code.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "settings")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Settings {
    /// Lower case, used as the host name.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]{0,62}$"))]
    name: String,
    #[schemars(range(min = 1024))]
    port: u16,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 32))]
    replicas: u8,
    memory: Memory,
    environment: BTreeMap<String, String>,
    health_check: Option<HealthCheck>,
    #[serde(default)]
    log_level: LogLevel,
}

fn one() -> u8 {
    1
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Memory {
    #[schemars(range(min = 64, max = 65536), extend("multipleOf" = 64))]
    request_mib: u32,
    #[schemars(range(min = 64, max = 65536), extend("multipleOf" = 64))]
    limit_mib: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct HealthCheck {
    #[schemars(regex(pattern = "^/"))]
    path: String,
    #[schemars(range(min = 1, max = 300))]
    interval_seconds: u16,
    #[schemars(range(min = 1, max = 10))]
    failures: u8,
}

#[derive(Default, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}
