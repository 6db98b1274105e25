//! Every example does what the session beside it shows.
//!
//! A session is a command line behind `$ ` and what it prints; `[..]` stands for anything within a line.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::process::Invocation;
use crate::support::real_agent::search_path;

#[test]
fn examples_do_what_their_sessions_show() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    examples.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    assert!(!examples.is_empty());
    for example in examples {
        replay(&example);
    }
}

fn replay(example: &Path) {
    let name = example.file_stem().unwrap().to_str().unwrap();
    let session = fs::read_to_string(example.with_extension("session"))
        .unwrap_or_else(|error| panic!("{}: put its session beside it: {error}", example.display()));
    let (command, shown) = session.split_once('\n').unwrap();
    assert_eq!(command, format!("$ cargo run --example {name}"));
    let home = TempDir::new().unwrap();
    let environment = [("PATH", search_path()), ("HOME", home.path().display().to_string())];
    let ended = Invocation::new(binary(name), home.path())
        .environment(environment.map(|(key, value)| (key.to_owned(), value)))
        .run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let (printed, shown): (Vec<&str>, Vec<&str>) = (ended.stdout.lines().collect(), shown.lines().collect());
    assert_eq!(printed.len(), shown.len(), "{name} printed:\n{}", ended.stdout);
    for (printed, shown) in printed.iter().zip(shown) {
        assert!(fits(printed, shown), "{name} printed:\n  {printed}\nand not:\n  {shown}");
    }
}

/// Examples are built beside the tests.
fn binary(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().and_then(Path::parent).unwrap().join("examples").join(name)
}

fn fits(printed: &str, shown: &str) -> bool {
    match shown.split_once("[..]") {
        Some((before, behind)) => printed.starts_with(before) && printed.ends_with(behind),
        None => printed == shown,
    }
}
