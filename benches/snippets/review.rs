//! Answers about changes: what a reviewer, a tester and a release say.

use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

/// Verdict on a pull request.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "review")]
pub(crate) struct Review {
    /// One paragraph for the author.
    summary: String,
    /// 0 is unusable, 10 is flawless.
    #[schemars(range(min = 0, max = 10))]
    score: u8,
    verdict: Verdict,
    /// Worst first.
    #[schemars(length(max = 20))]
    findings: Vec<Finding>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Approve,
    RequestChanges,
    Comment,
}

/// Something to change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Finding {
    /// Path from the root of the repository.
    file: String,
    /// Line in the new version; absent for the whole file.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    severity: Severity,
    /// What is wrong and why it matters.
    #[schemars(length(min = 10, max = 600))]
    message: String,
    /// Replacement for the lines, if it is short.
    suggestion: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    /// Wrong behaviour, lost data or a security hole.
    Blocker,
    /// Should be changed before the merge.
    Major,
    /// A matter of taste.
    Nit,
}

/// Inline comments on a diff.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "comments")]
pub(crate) struct InlineComments(#[schemars(length(min = 1, max = 50))] Vec<InlineComment>);

#[derive(Deserialize, JsonSchema)]
struct InlineComment {
    path: String,
    side: Side,
    #[schemars(range(min = 1))]
    line: u32,
    /// First line of a comment on several lines.
    #[schemars(range(min = 1))]
    start_line: Option<u32>,
    /// Markdown.
    #[schemars(length(min = 1, max = 4000))]
    body: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Side {
    Left,
    Right,
}

/// What the test run showed.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "tests")]
pub(crate) struct TestReport {
    passed: u32,
    failed: u32,
    skipped: u32,
    /// Share of lines that were run, in percent.
    #[schemars(range(min = 0.0, max = 100.0))]
    coverage: f64,
    failures: Vec<TestFailure>,
    /// Tests that failed once and passed when run again.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    flaky: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct TestFailure {
    /// Full name, such as `module::test`.
    test: String,
    message: String,
    cause: Cause,
    /// How sure the cause is.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Cause {
    /// A commit changed the behaviour.
    Regression {
        #[schemars(regex(pattern = "^[0-9a-f]{7,40}$"))]
        commit: String,
    },
    /// The test itself is wrong.
    WrongTest {
        fix: String,
    },
    /// Something outside, such as the network.
    Environment {
        what: String,
    },
    Unknown,
}

/// A release and what is new in it.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "changelog")]
pub(crate) struct Changelog {
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+$"))]
    version: String,
    /// Day of the release.
    #[schemars(extend("format" = "date"))]
    date: String,
    bump: Bump,
    /// In the order of importance.
    #[schemars(length(min = 1))]
    entries: Vec<ChangelogEntry>,
    /// Who contributed, by handle.
    #[schemars(inner(regex(pattern = "^@[A-Za-z0-9-]+$")), extend("uniqueItems" = true))]
    contributors: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Bump {
    Major,
    Minor,
    Patch,
}

#[derive(Deserialize, JsonSchema)]
struct ChangelogEntry {
    section: Section,
    /// Imperative mood, no period.
    #[schemars(length(min = 5, max = 120))]
    text: String,
    #[serde(default)]
    breaking: bool,
    /// Number of the pull request.
    #[schemars(range(min = 1))]
    pull_request: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Section {
    Added,
    Changed,
    Deprecated,
    Removed,
    Fixed,
    Security,
}
