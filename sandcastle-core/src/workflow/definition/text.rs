//! A template or an expression as it is written, and where.

use super::super::finding::Place;

/// A template or an expression as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) source: String,
    /// For each line of `source` where it begins in the document; empty if there is none. A scalar in a document has its
    /// own rules for line ends and indentation, so a place within it is found by the line it is in.
    pub(crate) lines: Vec<Place>,
}

impl Text {
    /// Takes what no document has.
    pub(crate) fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), lines: Vec::new() }
    }

    /// Finds where the byte `offset` of the source is written.
    pub(crate) fn place(&self, offset: usize) -> Option<Place> {
        let before = self.source.get(..offset)?;
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let column = u32::try_from(before[begin..].chars().count()).ok()?;
        let start = self.lines.get(line).or_else(|| self.lines.last())?;
        Some(Place { line: start.line, column: start.column.saturating_add(column) })
    }
}
