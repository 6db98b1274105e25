//! What is wrong with a workflow, or doubtful, and where it is written.

use std::fmt;

use serde::Serialize;

/// Says where something is written in a document; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character of that line.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Tells an error, with which a workflow does not run, from a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It may still do what was meant.
    Warning,
    /// It cannot.
    Error,
}

/// Says what is wrong at one place of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is, by the keys that lead there, such as `steps[2].output_schema.properties.score`.
    pub path: String,
    /// Where it is written; `None` if the workflow was not read from a document.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// What is wrong, in one line without a period.
    pub message: String,
    /// What to do, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// Creates an error.
    pub(crate) fn error(path: impl Into<String>, place: Option<Place>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        Self { severity: Severity::Error, path, place, message, hint: None }
    }

    /// Creates a warning.
    pub(crate) fn warning(path: impl Into<String>, place: Option<Place>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, place, message) }
    }

    /// Adds what to do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// `12:9: steps[1].prompt: ...`, without the hint; `{:#}` adds it.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) if f.alternate() => write!(f, "; {hint}"),
            _ => Ok(()),
        }
    }
}

/// Lists all that was found in a workflow, in the order in which it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    /// Returns what was found.
    #[must_use]
    pub fn as_slice(&self) -> &[Finding] {
        &self.0
    }

    /// Returns only what keeps the workflow from running.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Tells whether something keeps the workflow from running.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Puts the findings into the order in which they are written.
    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort_by_key(|finding| finding.place);
        self
    }
}

/// A line for each finding, with its hint.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            write!(f, "{between}{finding:#}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}
