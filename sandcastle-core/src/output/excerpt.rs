//! Shows a place in a block: the line, the one before it, and a caret.
//!
//! The block is an agent's, so lines are cut to a window around the place and control characters are written as escapes.

use std::fmt::Write as _;

use super::quote::push_printable;

/// How many characters are shown before and behind the place.
const BEFORE: usize = 60;
const BEHIND: usize = 40;

/// Returns the line and the column of an offset, both from 1; columns count characters.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = line_start(before);
    (memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1, before[start..].chars().count() + 1)
}

/// Returns up to three lines that show the place at `offset`, without a line break at the end.
pub(super) fn excerpt(text: &str, offset: usize) -> String {
    let offset = text.floor_char_boundary(offset);
    let (line, _) = position(text, offset);
    let (start, end) = (line_start(&text[..offset]), line_end(text, offset));
    let gutter = line.to_string().len().max(2);
    let mut shown = String::new();
    if let Some(previous) = start.checked_sub(1).map(|end| &text[line_start(&text[..end])..end])
        && !previous.trim().is_empty()
    {
        let (head, _) = window("", previous);
        _ = writeln!(shown, " {:>gutter$} | {head}", line - 1);
    }
    let (head, caret) = window(&text[start..offset], &text[offset..end]);
    shown.push_str(format!(" {line:>gutter$} | {head}").trim_end());
    shown.push('\n');
    _ = write!(shown, " {:gutter$} | {:caret$}^", "", "");
    shown
}

fn line_start(before: &str) -> usize {
    memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1)
}

fn line_end(text: &str, offset: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[offset..]).map_or(text.len(), |at| offset + at)
}

/// Returns what is shown of a line, and how many characters of it stand before the place.
fn window(before: &str, behind: &str) -> (String, usize) {
    let mut line = String::new();
    let from = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    if from > 0 {
        line.push('…');
    }
    before[from..].chars().for_each(|c| push_printable(&mut line, c));
    let caret = line.chars().count();
    behind.chars().take(BEHIND).for_each(|c| push_printable(&mut line, c));
    if behind.chars().nth(BEHIND).is_some() {
        line.push('…');
    }
    (line.trim_end().to_owned(), caret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_place() {
        assert_eq!(excerpt("{\"n\":1,}", 7), "  1 | {\"n\":1,}\n    |        ^");
        assert_eq!(excerpt("{\n\"日\": x}", 9), "  1 | {\n  2 | \"日\": x}\n    |      ^");
        assert_eq!(excerpt("", 0), "  1 |\n    | ^");
    }

    #[test]
    fn long_lines_and_control_characters_are_tamed() {
        let text = format!("{}\u{1b}[2Jx{}", "a".repeat(5000), "b".repeat(5000));
        let shown = excerpt(&text, 5000);
        assert!(shown.contains("a\\u{1b}[2Jxb"), "{shown}");
        assert!(shown.len() < 400 && !shown.contains('\u{1b}'), "{shown}");
        let caret = shown.lines().last().unwrap().find('^').unwrap();
        let line = shown.lines().next().unwrap();
        assert_eq!(line.chars().position(|c| c == '\\'), Some(caret));
    }

    #[test]
    fn places_beyond_the_end_or_inside_a_character_are_moved() {
        assert_eq!(position("a\nb", 100), (2, 2));
        assert_eq!(position("日", 1), (1, 1));
        assert!(excerpt("日", 2).ends_with('^'));
    }
}
