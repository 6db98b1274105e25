//! Diffs that nobody should write: garbage, lies about lengths, shapes that take time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::error::ErrorKind;
use crate::review::Diff;

const HEADER: &str = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n";

/// Reads a diff whose first file is well-formed, and checks that the second is refused with its line.
#[track_caller]
fn refused(second: &str, reason: &str) {
    let diff = format!("{HEADER}@@ -1 +1 @@\n-a\n+b\n{second}");
    let error = Diff::parse(diff.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    let said = format!("{error:#}");
    assert!(said.contains("line 8: ") && said.contains(reason), "{second:?}: {said}");
}

#[test]
fn nothing_is_a_diff_of_no_files() {
    assert_eq!(Diff::parse(b"").unwrap(), Diff::default());
}

#[test]
fn garbage_is_an_error_with_its_line() {
    for garbage in
        ["garbage", "\n", "\0\0\0", "diff --", "diff --git", "From 1 Mon\n---\n", "@@ -1 +1 @@\n+a\n", "{}"]
    {
        let error = Diff::parse(garbage.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("line 1: "), "{garbage:?}: {error}");
    }
    refused("diff --git a/y b/y\nnonsense\n", "in none of its hunks");
    refused("diff --git y\n", "cannot be read");
    refused("diff --git a/y\n", "cannot be read");
    refused("diff --fancy a/y b/y\n", "no file begins there");
    refused("diff --git a/y b/y\nnew file mode 777\n", "cannot be read");
    refused("diff --git a/y b/y\n--- \"a/y\\9\"\n+++ b/y\n", "cannot be read");
    refused("diff --git a/y b/y\nGIT binary patch\nliteral x\n", "cannot be read");
}

#[test]
fn w_47_a_hunk_that_lies_about_its_length_is_refused() {
    let file = "diff --git a/y b/y\n--- a/y\n+++ b/y\n";
    for (hunk, reason) in [
        ("@@ -1 +1,2 @@\n-a\n+b\n", "cannot be read"),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n", "in none of its hunks"),
        ("@@ -1 +1 @@\n-a\n+b\nnoise\n@@ -9 +9 @@\n-a\n+b\n", "in none of its hunks"),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@ \n-a\nnoise\n", "cannot be read"),
        ("@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n", "cannot be read"),
        ("@@ -1 +0,1 @@\n-a\n+b\n", "a line 0"),
        ("@@ -1 +18446744073709551615,9 @@\n-a\n+b\n", "cannot be read"),
        ("@@ -1 +99999999999999999999 @@\n-a\n+b\n", "cannot be read"),
        ("@@ -1 +1\n-a\n+b\n", "cannot be read"),
        ("@@@ -1 -1 +1 @@@\n- a\n++b\n", "in none of its hunks"),
    ] {
        refused(&format!("{file}{hunk}"), reason);
    }
}

#[test]
fn the_combined_diff_of_a_merge_is_refused_by_name() {
    for kind in ["cc", "combined"] {
        refused(
            &format!("diff --{kind} y\nindex 1,2..3\n--- a/y\n+++ b/y\n"),
            "the combined diff of a merge",
        );
    }
}

#[test]
fn a_diff_without_prefixes_is_refused_rather_than_misread() {
    refused("diff --git y y\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n", "no prefix `a/`");
    refused("diff --git i/b/y w/b/y\n--- i/b/y\n+++ w/b/y\n@@ -1 +1 @@\n-a\n+b\n", "no prefix `a/`");
}

#[test]
fn w_47_an_empty_line_at_the_end_is_no_line_of_the_file() {
    let diff = format!("{HEADER}@@ -1 +1 @@\n-a\n+b\n\n\n");
    let lines = Diff::parse(diff.as_bytes()).unwrap().commentable();
    assert_eq!(lines.of("x").unwrap().iter().collect::<Vec<_>>(), [&1]);
    let diff = format!("{HEADER}@@ -1,2 +1,2 @@\n-a\n+b\n\n");
    let lines = Diff::parse(diff.as_bytes()).unwrap().commentable();
    assert_eq!(lines.of("x").unwrap().len(), 2, "git can leave out the space of an empty line");
}

#[test]
fn a_path_that_is_no_text_does_not_lend_its_lines_to_another() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let diff = format!("diff --git \"a/\\377\" \"b/\\377\"\n--- \"a/\\377\"\n+++ \"b/\\377\"\n{hunk}");
    let lines = Diff::parse(diff.as_bytes()).unwrap().commentable();
    assert!(lines.of("\u{fffd}").unwrap().is_empty());
}

/// What takes a moment takes minutes where the time grows with the square. The bound is for a build without optimisation on
/// a machine that has other things to do.
fn is_quick(diff: &str) -> bool {
    let begin = Instant::now();
    let _ = Diff::parse(diff.as_bytes());
    begin.elapsed() < Duration::from_secs(30)
}

#[test]
fn the_time_that_is_taken_grows_with_the_length_alone() {
    let long_line = format!("{HEADER}@@ -1 +1 @@\n-a\n+{}\n", "x".repeat(8 << 20));
    let many_lines = format!("{HEADER}@@ -0,0 +1,1000000 @@\n{}", "+\n".repeat(1_000_000));
    let spaces = format!("diff --git a/{0} b/{0}\n", " ".repeat(1 << 20));
    let quoted = format!("diff --git \"a/{0}\" \"b/{0}\"\n", "\\\\".repeat(1 << 20));
    let no_end = format!("diff --git \"a/{}", "\\".repeat(1 << 20));
    let mut many_files = String::new();
    let mut many_hunks = "diff --git a/h b/h\n--- a/h\n+++ b/h\n".to_owned();
    for number in 0..20_000 {
        writeln!(many_files, "diff --git a/{number} b/{number}\nnew file mode 100644").unwrap();
        writeln!(many_hunks, "@@ -{0} +{0} @@\n-a\n+b", number * 10 + 1).unwrap();
    }
    for diff in [long_line, many_lines, spaces, quoted, no_end, many_files, many_hunks] {
        assert!(is_quick(&diff), "{diff:.80}");
    }
}

#[test]
#[ignore = "takes 4 GiB of memory and half a minute without optimisation"]
fn a_diff_of_a_hundred_megabytes_is_read_in_seconds() {
    let lines = 100 * (1 << 20) / 2;
    let short_lines = format!("{HEADER}@@ -0,0 +1,{lines} @@\n{}", "+\n".repeat(lines));
    let spaced = format!("diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n", "x ".repeat(120))
        .repeat(200_000);
    for diff in [short_lines, spaced] {
        let begin = Instant::now();
        Diff::parse(diff.as_bytes()).unwrap();
        let taken = begin.elapsed();
        assert!(taken < Duration::from_secs(60), "{taken:?}");
    }
}
