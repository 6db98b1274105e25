//! What is told of a schema on its way to a dialect: what moved, and what is refused.

use std::collections::HashSet;

use super::{Moved, Refusal};

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) moved: Vec<Moved>,
    pub(super) refused: Vec<Refusal>,
}

impl Report {
    pub(super) fn moved(&mut self, at: &str, keyword: &str, text: &str) {
        self.moved.push(Moved { pointer: at.to_owned(), keyword: keyword.to_owned(), text: text.to_owned() });
    }

    pub(super) fn refuse(&mut self, at: &str, keyword: &str, reason: impl Into<String>) {
        self.refused.push(Refusal {
            pointer: at.to_owned(),
            keyword: keyword.to_owned(),
            reason: reason.into(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.refused.is_empty()
    }

    /// Joins the reports of several parts. What one place says is said once, however often it was come by.
    pub(super) fn joined(reports: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        let (mut moved, mut refused) = (HashSet::new(), HashSet::new());
        for report in reports {
            let new = |moved: &mut HashSet<_>, one: &Moved| {
                moved.insert((one.pointer.clone(), one.keyword.clone(), one.text.clone()))
            };
            all.moved.extend(report.moved.into_iter().filter(|one| new(&mut moved, one)));
            let new = |refused: &mut HashSet<_>, one: &Refusal| {
                refused.insert((one.pointer.clone(), one.keyword.clone()))
            };
            all.refused.extend(report.refused.into_iter().filter(|one| new(&mut refused, one)));
        }
        all
    }
}
