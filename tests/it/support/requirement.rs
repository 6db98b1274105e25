//! Programs that a machine may lack: a test without its program is skipped by name, or fails where it is
//! required.
//!
//! `SANDCASTLE_REQUIRE` is a comma list such as `claude,docker`. What it names must be there.

use std::io::Write;
use std::thread;

/// Says that a program is absent, so that the calling test returns.
///
/// # Panics
/// When `SANDCASTLE_REQUIRE` names it.
#[track_caller]
pub(crate) fn absent(name: &str, why: &str) {
    let required = variable("SANDCASTLE_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|required| required.trim() == name),
        "`{name}` is required by `SANDCASTLE_REQUIRE={required}`, but {why}"
    );
    // The test harness names its threads after the tests.
    let test = thread::current();
    let line = format!("skipped {}: no `{name}`: {why}\n", test.name().unwrap_or("a test"));
    // Past the harness, which shows only what failing tests print.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Reads a variable of the test run itself.
#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment, as commands are")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
