//! Diffs that git wrote, with the lines of them that can be commented on.
//!
//! A case is a pair of files: `fixtures/NAME.diff`, as git 2.47 wrote it, and `fixtures/NAME.lines`, worked out by hand from
//! the files on both sides. A line of the latter is the new path as a JSON string, a colon, and lines or ranges of lines; there
//! is one for each file of the diff that is still there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::review::{Diff, DiffFile};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/review/diff/tests/fixtures").join(name)
}

fn read(name: &str) -> Diff {
    Diff::parse(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

fn file<'d>(diff: &'d Diff, path: &str) -> &'d DiffFile {
    let is_it = |file: &&DiffFile| file.path.as_deref().or(file.old_path.as_deref()) == Some(path);
    diff.files().iter().find(is_it).unwrap()
}

/// Reads `"path": 1-3 7`.
fn expected(line: &str) -> (String, BTreeSet<u64>) {
    let (path, ranges) = line.rsplit_once("\":").unwrap();
    let bounds = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u64>().unwrap()..=last.parse().unwrap()
    };
    let lines = ranges.split_whitespace().flat_map(bounds).collect();
    (serde_json::from_str(&format!("{path}\"")).unwrap(), lines)
}

#[test]
fn row_197_the_lines_of_every_diff_that_git_wrote_are_known() {
    let cases = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let mut diffs: Vec<PathBuf> =
        cases.filter(|path| path.extension().is_some_and(|ending| ending == "diff")).collect();
    diffs.sort();
    assert!(diffs.len() >= 13, "{diffs:?}");
    for path in diffs {
        let commentable = Diff::parse(&std::fs::read(&path).unwrap()).unwrap().commentable();
        let lines = std::fs::read_to_string(path.with_extension("lines")).unwrap();
        let expected: Vec<_> = lines.lines().map(expected).collect();
        let found: Vec<_> = commentable
            .paths()
            .map(|path| (path.to_owned(), commentable.of(path).unwrap().clone()))
            .collect();
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn both_names_of_a_file_are_known() {
    for (name, path, old) in [
        ("renamed.diff", "sub/new.txt", Some("old.txt")),
        ("renamed.diff", "moved into.txt", Some("pure.txt")),
        ("renamed.diff", "copied.txt", Some("source.txt")),
        ("binary.diff", "moved it.bin", Some("to move.bin")),
        ("binary.diff", "new b/one.bin", None),
        ("prefixes.diff", "x b/x", Some("x b/x")),
        ("kinds.diff", "empty-new", None),
        ("verbatim.diff", "with  two.txt", Some("with space.txt")),
    ] {
        let diff = read(name);
        let file = file(&diff, path);
        assert_eq!((file.path.as_deref(), file.old_path.as_deref()), (Some(path), old), "{name}");
    }
}

#[test]
fn what_was_deleted_has_no_new_side() {
    for (name, path) in
        [("deleted.diff", "gone.txt"), ("binary.diff", "gone.bin"), ("kinds.diff", "empty-gone")]
    {
        let diff = read(name);
        let file = file(&diff, path);
        assert_eq!((file.path.as_deref(), file.old_path.as_deref()), (None, Some(path)), "{name}");
        assert!(file.lines.is_empty());
        assert_eq!(diff.commentable().of(path), None, "{name}");
    }
}

#[test]
fn a_file_whose_kind_has_changed_is_deleted_and_new() {
    let diff = read("kinds.diff");
    let paths: Vec<_> =
        diff.files().iter().map(|file| (file.old_path.as_deref(), file.path.as_deref())).collect();
    assert!(
        paths.contains(&(Some("was-file"), None)) && paths.contains(&(None, Some("was-file"))),
        "{paths:?}"
    );
}
