//! What the compiler says to code that uses Sandcastle wrongly, and that it accepts what is right.
//!
//! The cases are files under `tests/ui`: a folder for each theme, a file for each mistake, with the expected words beside
//! it; `pass` holds what must compile and run. A new file is a new case. Expectations are those of the toolchain in the
//! root manifest; `TRYBUILD=overwrite cargo test ui` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    for theme in themes() {
        if theme.ends_with("pass") {
            cases.pass(theme.join("*.rs"));
        } else {
            cases.compile_fail(theme.join("*.rs"));
        }
    }
}

/// The folders under `tests/ui` that hold cases.
fn themes() -> Vec<PathBuf> {
    let mut themes: Vec<_> = entries(Path::new("tests/ui")).filter(|path| path.is_dir()).collect();
    themes.retain(|theme| {
        entries(theme).any(|path| path.extension().is_some_and(|extension| extension == "rs"))
    });
    themes.sort();
    themes
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
}
