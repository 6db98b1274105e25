//! One thing that is wrong with a value, and where; and the place where many are collected.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use super::quote::{clip, one_line};

/// The most problems that are listed.
const MAX_PROBLEMS: usize = 100;
/// The most characters of one message.
const MAX_MESSAGE_CHARS: usize = 400;
/// The most characters of one path.
const MAX_PATH_CHARS: usize = 1000;

/// Says what is wrong at one place of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Problem {
    /// JSON Pointer (RFC 6901) to the place; empty for the whole value.
    pub path: String,
    /// A sentence without a period, such as ``must be one of `low`, `high` ``.
    pub message: String,
}

impl Problem {
    /// Creates a problem at `path`, a JSON Pointer such as `/items/0/name`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// Creates a problem whose path and message hold an agent's words, so both are bounded.
    pub(super) fn bounded(path: &str, message: &str) -> Self {
        Self::new(clip(path, MAX_PATH_CHARS), clip(message, MAX_MESSAGE_CHARS))
    }
}

/// One line, whatever the path and the message hold.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", one_line(&self.path))?;
        }
        f.write_str(&one_line(&self.message))
    }
}

/// Collects problems: each once, as many as anybody reads, and counts the rest.
#[derive(Debug, Default)]
pub(super) struct Problems {
    listed: Vec<Problem>,
    seen: HashSet<Problem>,
    more: usize,
}

impl Problems {
    /// Adds a problem, bounded.
    pub(super) fn add(&mut self, path: &str, message: &str) {
        if self.listed.len() >= MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let problem = Problem::bounded(path, message);
        if self.seen.insert(problem.clone()) {
            self.listed.push(problem);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns what was collected.
    pub(super) fn into_vec(self) -> Vec<Problem> {
        let mut problems = self.listed;
        if self.more > 0 {
            problems.push(Problem::new("", format!("and {} more", self.more)));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line() {
        assert_eq!(Problem::new("/a", "is required").to_string(), "/a: is required");
        assert_eq!(Problem::new("", "is\nbad").to_string(), "is\\nbad");
    }

    #[test]
    fn problems_are_listed_once_and_bounded() {
        let mut problems = Problems::default();
        for n in 0..250 {
            problems.add(&format!("/{n}"), "is required");
            problems.add("/0", "is required");
        }
        let problems = problems.into_vec();
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        assert!(problems[MAX_PROBLEMS].message.starts_with("and "));

        let mut problems = Problems::default();
        problems.add(&"/x".repeat(1 << 20), &"y".repeat(1 << 20));
        assert!(problems.into_vec().iter().all(|problem| problem.path.len() + problem.message.len() < 2000));
    }
}
