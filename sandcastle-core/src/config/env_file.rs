//! The file `.sandcastle/.env`: the variables that agents get.
//!
//! `adotenv` reads the text, and what it reads is literal: `$HOME` is five characters, and neither the environment nor another
//! file is ever looked at (ADR 5 holds it against the others). What is settled here:
//!
//! - how: its dialect, [`DIALECT`], in which a value without quotes goes to the end of its line, as [`written`] says;
//! - what: a plain file of bounded size, since an agent that works in place can write it, too;
//! - what a key without a value stands for, see [`EnvFile::resolve`].
//!
//! Nothing of a value is ever part of a message.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use adotenv::{
    Diagnostic, DiagnosticCode, Dialect, Entry, LineBreaks, Quote, QuotedTail, Severity, Whitespace,
};
use rustix::fs::OFlags;

use super::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Variables;

/// The name of the file.
const NAME: &str = ".env";
/// The most bytes the file has.
const MAX_BYTES: usize = 1024 * 1024;
/// The most lines that are complained about.
const SHOWN: usize = 20;

/// How the file is read: as `adotenv` reads files that several tools share, but for quotes that do not match, or are inside:
/// they are part of the value, and nobody is kept from his work by an apostrophe.
const DIALECT: Dialect = Dialect::PORTABLE
    .with_quoted_tail(QuotedTail::LiteralFallback)
    .with_line_breaks(LineBreaks::Lf)
    .with_whitespace(Whitespace::Unicode);

/// What the file says; `Debug` shows names only.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnvFile {
    variables: Variables,
}

impl ConfigDir {
    /// Reads `.sandcastle/.env`; without one there are no variables. The `.env` beside `.sandcastle/` is never read.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when it is no plain file, cannot be read, is too long, or has a line that is no variable.
    pub(crate) fn env_file(&self) -> Result<EnvFile> {
        let path = self.path().join(NAME);
        let wrong = |what: &str| {
            Error::new(
                ErrorKind::InvalidOptions,
                format!("read the variables in `{}`: {what}", path.display()),
            )
        };
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(EnvFile::default()),
            Err(error) => return Err(wrong(&error.to_string()).with_source(error)),
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            wrong(&format!("line {line} is not UTF-8"))
        })?;
        EnvFile::parse(&text).map_err(|wrongs| {
            wrong(&wrongs).with_hint("a line is `KEY=value`, or `KEY` alone for the value that it has here")
        })
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a plain file of bounded size. A link is refused: an agent could aim it at a file of the host.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(|error| {
        match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::LOOP) => io::Error::other("it is a symbolic link"),
            _ => error,
        }
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it is longer than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

impl EnvFile {
    /// Reads the text of a file, or says everything that is wrong with it.
    fn parse(text: &str) -> Result<Self, String> {
        let (file, diagnostics) = adotenv::parse_with(text, DIALECT);
        let mut wrongs: Vec<String> =
            diagnostics.iter().filter(|one| one.severity() == Severity::Error).map(worded).collect();
        let mut variables = BTreeMap::new();
        // The last line of a key counts.
        for entry in file.entries() {
            let value = written(entry, text);
            if value.contains('\0') {
                wrongs.push(format!("line {} has a NUL byte", entry.line()));
            }
            variables.insert(OsString::from(entry.key()), OsString::from(value));
        }
        if wrongs.is_empty() {
            Ok(Self { variables: variables.into_iter().collect() })
        } else {
            Err(listed(&wrongs))
        }
    }

    /// Returns the variables with their values. A key without a value stands for the variable of that name on the host, which
    /// `host` looks up; one that is empty there too is left out. Other variables of the host are not asked for.
    pub(crate) fn resolve(&self, host: impl Fn(&OsStr) -> Option<OsString>) -> Variables {
        let resolve = |(key, value): &(OsString, OsString)| {
            let value = if value.is_empty() { host(key)? } else { value.clone() };
            (!value.is_empty()).then(|| (key.clone(), value))
        };
        self.variables.iter().filter_map(resolve).collect()
    }
}

/// Returns the value of a line; none is an empty one.
///
/// Without quotes it goes to the end of the line. The reader takes ` #` for the beginning of a comment, and a password that
/// has one would be cut without a word.
fn written<'a>(entry: Entry<'a>, text: &'a str) -> &'a str {
    let tokens = entry.tokens();
    match (entry.quote(), &tokens.value, &tokens.inline_comment) {
        (Quote::None, Some(value), Some(rest)) => text[value.start..rest.end].trim(),
        _ => entry.value().unwrap_or_default(),
    }
}

/// Lists what is wrong, as far as somebody would read it.
fn listed(wrongs: &[String]) -> String {
    let shown = &wrongs[..wrongs.len().min(SHOWN)];
    match wrongs.len() - shown.len() {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Words what is wrong with a line.
fn worded(diagnostic: &Diagnostic) -> String {
    let what = match diagnostic.code() {
        DiagnosticCode::InvalidKey => "has a name that is none: letters, digits, `_`, `.` and `-`",
        // The texts of the reader are fixed, so there is nothing of the line in them.
        other => other.message(),
    };
    format!("line {} {what}", diagnostic.line())
}

#[cfg(test)]
#[path = "tests/env_file.rs"]
mod tests;
