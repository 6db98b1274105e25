//! What is wrong with a document, beside the line that it is wrong in.

use console::measure_text_width;
use sandcastle::workflow::{Finding, Findings, Place, Severity};

use super::human::{clean, one_line};

/// The most characters of a line that are shown.
const SHOWN: usize = 100;
/// How many of them at the most stand before what is wrong.
const BEFORE: usize = 60;

/// Words all findings, each as `file:line:column: error: ...` with its line, and counts them.
pub(crate) fn findings(findings: &Findings, file: &str, document: &str) -> String {
    let mut blocks: Vec<String> =
        findings.as_slice().iter().map(|finding| block(finding, file, document)).collect();
    blocks.push(count(findings));
    blocks.join("\n")
}

fn block(finding: &Finding, file: &str, document: &str) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = finding.place.map(|place| format!(":{place}")).unwrap_or_default();
    let path = if finding.path.is_empty() { String::new() } else { format!(" [{}]", finding.path) };
    let mut lines = vec![one_line(&format!("{file}{place}: {severity}: {}{path}", finding.message))];
    let is_secret = finding.path.ends_with("api_key");
    let excerpt = finding.place.filter(|_| !is_secret).and_then(|place| excerpt(document, place));
    lines.extend(excerpt);
    if let Some(hint) = &finding.hint {
        lines.push(one_line(&format!("  hint: {hint}")));
    }
    lines.join("\n")
}

/// The line of a place with a caret below it; no line that may hold a key.
fn excerpt(document: &str, place: Place) -> Option<String> {
    let line = document.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    if holds_a_key(line) {
        return None;
    }
    let at = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let skipped = at.saturating_sub(BEFORE);
    let shown: String = one_line(line).chars().skip(skipped).take(SHOWN).collect();
    let before: String = shown.chars().take(at - skipped).collect();
    let number = place.line.to_string();
    let caret = " ".repeat(measure_text_width(&before));
    Some(format!("  {number} | {shown}\n  {:width$} | {caret}^", "", width = number.len()))
}

/// Tells whether a line may have a key where the name of a variable belongs.
fn holds_a_key(line: &str) -> bool {
    line.match_indices("api_key").any(|(at, word)| {
        let value = line[at + word.len()..].trim_start_matches(['"', '\'', ':', ' ', '\t']);
        !(value.is_empty() || value.starts_with("${"))
    })
}

/// Counts errors and warnings.
pub(crate) fn count(findings: &Findings) -> String {
    let errors = findings.errors().count();
    let warnings = findings.as_slice().len() - errors;
    let counted = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {one}s")),
    };
    let parts: Vec<String> =
        [counted(errors, "error"), counted(warnings, "warning")].into_iter().flatten().collect();
    clean(&parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_stands_below_what_is_wrong() {
        let document = "steps:\n  - stepp: a\n";
        assert_eq!(
            excerpt(document, Place { line: 2, column: 5 }).unwrap(),
            "  2 |   - stepp: a\n    |     ^"
        );
        assert_eq!(excerpt("日本: x", Place { line: 1, column: 3 }).unwrap(), "  1 | 日本: x\n    |     ^");
    }

    #[test]
    fn a_place_at_the_end_or_behind_it_is_no_reason_to_stop() {
        assert_eq!(excerpt("a", Place { line: 1, column: 2 }).unwrap(), "  1 | a\n    |  ^");
        assert!(excerpt("a", Place { line: 1, column: 900 }).is_some());
        assert_eq!(excerpt("a", Place { line: 3, column: 1 }), None);
        assert_eq!(excerpt("", Place { line: 0, column: 0 }), None);
    }

    #[test]
    fn a_key_that_was_written_out_is_not_shown() {
        for (line, shown) in [
            ("    api_key: sk-secret", false),
            ("  m: { \"api_key\" : 'sk-secret', x: 1 }", false),
            ("    api_key: ${KEY}", true),
            ("    api_key: \"${KEY}\"", true),
            ("    api_key:", true),
        ] {
            assert_eq!(excerpt(line, Place { line: 1, column: 3 }).is_some(), shown, "{line}");
        }
    }

    #[test]
    fn a_long_line_is_shown_around_the_place_and_moves_no_cursor() {
        let line = format!("{}\u{1b}[2J{}", "x".repeat(500), "y".repeat(500));
        let shown = excerpt(&line, Place { line: 1, column: 501 }).unwrap();
        assert!(shown.chars().count() < 200 && !shown.contains('\u{1b}'), "{shown}");
        assert_eq!(shown.lines().nth(1).unwrap(), format!("    | {}^", " ".repeat(BEFORE)));
    }
}
