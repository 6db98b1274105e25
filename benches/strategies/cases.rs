//! What a model is asked for when strategies are compared: three types, and for each of them what to do with which texts.
//!
//! Both sides of the comparison include this file, so it needs nothing but `serde` and `schemars`. It says nothing of schemas
//! or answers in its prompts: how a model hears of the type is the subject of the comparison.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The most tokens of one answer; a good one takes less than half of it.
pub(crate) const MAX_OUTPUT_TOKENS: u32 = 256;

/// How free the choice of words is: tries differ from each other.
pub(crate) const TEMPERATURE: f32 = 0.7;

/// A type that is asked for.
pub(crate) trait Case: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// How the table calls it.
    const NAME: &'static str;
    /// What to do with a text.
    const TASK: &'static str;
    /// What it is done with, one text a try, from the first again after the last.
    const TEXTS: [&'static str; 5];

    /// Returns what a model is asked in a try, counted from 0.
    fn prompt(attempt: usize) -> String {
        format!("{}\n\n{}", Self::TASK, Self::TEXTS[attempt % Self::TEXTS.len()])
    }
}

/// A bug report, sorted: flat, with one of three words.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ticket {
    /// A few words.
    pub title: String,
    pub priority: Priority,
    /// Whether the release has to wait for it.
    pub blocks_release: bool,
}

/// How soon it has to be done.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    Low,
    Medium,
    High,
}

impl Case for Ticket {
    const NAME: &'static str = "flat";
    const TASK: &'static str =
        "Sort this bug report: give it a title and a priority, and say whether it blocks the release.";
    const TEXTS: [&'static str; 5] = [
        "Since this morning the login page answers with HTTP 500 for every user.",
        "The footer says 2024, but it is 2026.",
        "The export to CSV drops the last row when a table has more than 10,000 rows.",
        "On some Android phones the menu flickers when it opens.",
        "Anybody can read another customer's invoices by changing the number in the address.",
    ];
}

/// The notes of a reviewer by file: arrays of objects within an array of objects.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    pub files: Vec<ReviewedFile>,
}

/// A file that has notes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewedFile {
    /// From the root of the repository.
    pub path: String,
    pub notes: Vec<Note>,
}

/// One note.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub line: u32,
    pub severity: Severity,
    /// A short sentence.
    pub text: String,
}

/// How bad it is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Bug,
    Risk,
    Style,
}

impl Case for Review {
    const NAME: &'static str = "nested";
    const TASK: &'static str = "List these notes of a reviewer by file: each note with its line, its severity (a bug, a risk or a matter \
                                of style) and a short text.";
    const TEXTS: [&'static str; 5] = [
        "In src/parse.rs the loop on line 40 never ends for empty input. Line 52 could use a match. In src/main.rs, line 7 \
         ignores an error.",
        "src/cache.rs line 12: the lock is held while a file is read. src/cache.rs line 30: a name of one letter.",
        "Line 3 of build.sh deletes the wrong folder when the variable is empty. README.md, line 18: a typing mistake.",
        "api/users.py, line 88: the password is written to the log. web/form.ts line 21: the result is never awaited.",
        "lib/date.c line 101 is off by one on the last day of a year. lib/date.c line 140 is too long.",
    ];
}

/// The page of a release: lengths and patterns, written as people write them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    /// Three numbers.
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+$"))]
    pub version: String,
    /// The last part of the page's address.
    #[schemars(regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"), length(max = 24))]
    pub slug: String,
    #[schemars(length(min = 20, max = 60))]
    pub headline: String,
    /// The most important first.
    #[schemars(length(min = 1, max = 3), inner(length(min = 5, max = 60)))]
    pub highlights: Vec<String>,
    /// Of the download.
    #[schemars(regex(pattern = r"^\d+ (kB|MB|GB)$"))]
    pub size: String,
}

impl Case for Release {
    const NAME: &'static str = "bounds";
    const TASK: &'static str = "Write the page of this release: its version, a slug for the address, a headline, the highlights, and the \
                                size.";
    const TEXTS: [&'static str; 5] = [
        "Version 2.4.0 of the Harbour package manager brings parallel downloads and a lock file that merges without conflicts. \
         It is a download of 12 megabytes.",
        "Quill Editor 10.0.1 (240 megabytes) only mends a crash that happened when large files were closed.",
        "Meteor Database 5.0.0 has a new storage format and drops the old query language. Its download is two gigabytes.",
        "With 0.9.12, the Lantern static site generator gets incremental builds, dark mode for its themes and links between \
         languages. It has 850 kilobytes.",
        "Pebble 3.1.0, the test runner, now shows the slowest tests and runs them first. Size: 31 megabytes.",
    ];
}
