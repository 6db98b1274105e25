//! Where findings are collected while a document is read: as many as anybody reads, each with its path.

use std::fmt;

use super::super::finding::{Finding, Findings, Place, Severity};
use crate::output::{clip, one_line};

/// The most findings that are listed.
const MAX_FINDINGS: usize = 100;
/// The most characters of a key or a value that are shown.
const MAX_SHOWN_CHARS: usize = 60;

/// Collects what is wrong with a document.
#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
    /// How many there are beside those, and how bad the worst of them is.
    more: usize,
    worst: Option<Severity>,
    /// Places of which all has been said, though it was said at another one.
    settled: Vec<String>,
}

impl Report {
    pub(super) fn add(&mut self, finding: Finding) {
        if !self.is_full() {
            self.findings.push(finding);
        } else {
            self.count_more(finding.severity);
        }
    }

    /// Tells whether as many are listed as anybody reads, so that what is found is only counted.
    pub(super) fn is_full(&self) -> bool {
        self.findings.len() >= MAX_FINDINGS
    }

    /// Counts what is not listed.
    pub(super) fn count_more(&mut self, severity: Severity) {
        self.more += 1;
        self.worst = self.worst.max(Some(severity));
    }

    /// Adds an error that says what to do.
    pub(super) fn error(
        &mut self,
        at: &Path,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add(Finding::error(at.to_string(), Some(place), message).with_hint(hint));
    }

    /// How much was found so far.
    pub(super) fn count(&self) -> usize {
        self.findings.len() + self.more
    }

    /// Tells whether something was found at exactly this place.
    pub(super) fn has(&self, at: &Path) -> bool {
        self.findings.iter().any(|finding| finding.path == at.0)
    }

    /// Tells whether nothing was found at this place or below it.
    pub(super) fn is_clean(&self, at: &Path) -> bool {
        self.more == 0 && !self.findings.iter().any(|finding| is_below(&finding.path, &at.0))
    }

    /// Takes note that what has been said explains whatever is wrong at exactly this place.
    pub(super) fn settle(&mut self, at: &Path) {
        if self.settled.len() < MAX_FINDINGS {
            self.settled.push(at.to_string());
        }
    }

    /// Tells whether something was found at this place or around it, so that more about it would only repeat that.
    pub(super) fn covers(&self, path: &str) -> bool {
        let is_around = |finding: &Finding| {
            // What a step of no known kind has, nobody knows.
            let around = finding.path.strip_suffix(".type").unwrap_or(&finding.path);
            is_below(path, around)
        };
        self.settled.iter().any(|settled| settled == path) || self.findings.iter().any(is_around)
    }

    pub(super) fn into_findings(self) -> Findings {
        let mut findings = Findings(self.findings).sorted();
        if let Some(severity) = self.worst {
            let more = Finding::error("", None, format!("{} more are not listed", self.more));
            findings.0.push(Finding { severity, ..more });
        }
        findings
    }
}

/// Tells whether a path is another one, or leads further from it.
fn is_below(path: &str, around: &str) -> bool {
    path.strip_prefix(around)
        .is_some_and(|rest| around.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The keys that lead to a place, such as `steps[2].prompt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(String);

impl Path {
    pub(super) fn key(&self, key: &str) -> Self {
        let key = shown(key);
        Self(if self.0.is_empty() { key } else { format!("{}.{key}", self.0) })
    }

    pub(super) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path without its last key.
    pub(super) fn parent(&self) -> Self {
        let end = self.0.rfind(['.', '[']).unwrap_or_default();
        Self(self.0.get(..end).unwrap_or_default().to_owned())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns what a document says as a part of one line.
pub(super) fn shown(text: &str) -> String {
    one_line(&clip(text, MAX_SHOWN_CHARS)).into_owned()
}

/// Lists words in backticks.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
