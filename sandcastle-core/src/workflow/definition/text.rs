//! A template or an expression as it is written, and where.

use super::super::finding::Place;

/// A template or an expression as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) source: String,
    /// Where it is written, in the order of the source; empty if that is in no document. A scalar in a document has its own
    /// rules for line ends, indentation and escapes, so there is a mark wherever the two run apart.
    pub(crate) marks: Vec<Mark>,
}

/// Says where one byte of a text is written. What follows it, up to the next mark, is written right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) offset: usize,
    pub(crate) place: Place,
}

impl Text {
    /// Takes what no document has.
    pub(crate) fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), marks: Vec::new() }
    }

    /// Finds where the byte `offset` of the source is written.
    pub(crate) fn place(&self, offset: usize) -> Option<Place> {
        self.finder()(offset)
    }

    /// Finds where bytes are written. One that comes behind the byte before it is looked for from there, so that all that is
    /// found in a long line costs what the line is long.
    pub(crate) fn finder(&self) -> impl FnMut(usize) -> Option<Place> {
        let mut last: Option<Mark> = None;
        move |offset| {
            let behind = self.marks.partition_point(|mark| mark.offset <= offset);
            let mark = *self.marks.get(behind.saturating_sub(1))?;
            let is_nearer = |last: &Mark| (mark.offset..=offset).contains(&last.offset);
            let begin = last.filter(is_nearer).unwrap_or(mark);
            let between = self.source.get(begin.offset.min(offset)..offset)?;
            let columns = u32::try_from(between.chars().count()).ok()?;
            let place = Place { line: begin.place.line, column: begin.place.column.saturating_add(columns) };
            last = Some(Mark { offset, place });
            Some(place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_written_behind_the_last_mark_before_it() {
        let mark = |offset, line, column| Mark { offset, place: Place { line, column } };
        let text = Text { source: "é a\nb".to_owned(), marks: vec![mark(0, 3, 9), mark(5, 4, 5)] };
        let place = |offset| text.place(offset).map(|place| (place.line, place.column));
        assert_eq!(place(0), Some((3, 9)));
        assert_eq!(place(3), Some((3, 11)));
        assert_eq!(place(5), Some((4, 5)));
        assert_eq!(place(6), Some((4, 6)));
        assert_eq!((place(1), place(7)), (None, None));
        let mut finder = text.finder();
        for offset in [0, 2, 3, 5, 6, 6, 2, 4, 0] {
            assert_eq!(finder(offset), text.place(offset), "{offset}");
        }
        assert_eq!(Text::of("a").place(0), None);
    }
}
