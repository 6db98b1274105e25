//! Lines of a name and a value. Most values were said by agents, so they are cleaned.

use std::fmt::Display;

use sandcastle::Commit;

use super::human::one_line;

/// The most values of one name that are listed.
const SHOWN: usize = 20;

/// Lines of a name and a value.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<String>);

impl Lines {
    pub(crate) fn add(&mut self, name: &str, value: impl Display) {
        self.0.push(format!("{name:<10}{}", one_line(&value.to_string())).trim_end().to_owned());
    }

    pub(crate) fn some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    pub(crate) fn all<T: Display>(&mut self, name: &str, values: impl ExactSizeIterator<Item = T>) {
        let more = values.len().saturating_sub(SHOWN);
        for value in values.take(SHOWN) {
            self.add(name, value);
        }
        if more > 0 {
            self.add(name, format_args!("and {more} more"));
        }
    }

    pub(crate) fn commits(&mut self, commits: &[Commit]) {
        self.all("commit", commits.iter().map(|commit| format!("{:.10} {}", commit.sha, commit.subject)));
    }

    /// Returns them, each behind `before`.
    pub(crate) fn behind(&self, before: &str) -> String {
        self.0.iter().map(|line| format!("{before}{line}")).collect::<Vec<_>>().join("\n")
    }
}
