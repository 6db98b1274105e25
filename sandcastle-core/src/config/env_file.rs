//! The file `.sandcastle/.env`: the variables that agents get.
//!
//! One variable per line, `KEY=value`, as it stands there:
//!
//! - blank lines and lines that begin with `#` are passed over, and so is `export ` before a key;
//! - a value in single quotes is taken literally; in double quotes `\n`, `\r`, `\t`, `\\`, `\"` and `\$` are escapes, and a
//!   comment may follow the closing quote;
//! - a value without quotes goes to the end of the line, and may hold spaces, `#`, quotes and `$`;
//! - nothing is replaced: `$HOME` is five characters;
//! - the last line of a key counts, and a key without a value names a variable of the host, see [`EnvFile::resolve`].
//!
//! The crates that read such files (`dotenvy` and those that came before or after it) replace `$NAME` by variables of this
//! process and cannot be told not to, and refuse or change values with spaces, apostrophes and backslashes. What is left
//! to write here is splitting lines at `=`.
//!
//! The file is written by people, but an agent that works in place can write it too: it is bounded, it is read only if it is a
//! plain file, and nothing of a value is ever part of a message.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Variables;

/// The name of the file.
const NAME: &str = ".env";
/// The most bytes the file has.
const MAX_BYTES: usize = 1024 * 1024;

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
            wrong(&wrongs.join("; "))
                .with_hint("a line is `KEY=value`; a line feed in a value is `\\n` within double quotes")
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
    fn parse(text: &str) -> Result<Self, Vec<String>> {
        let (mut variables, mut wrongs) = (BTreeMap::new(), Vec::new());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match variable(line) {
                Ok((key, value)) => _ = variables.insert(key.to_owned(), value),
                Err(what) => wrongs.push(format!("line {} {what}", number + 1)),
            }
        }
        if !wrongs.is_empty() {
            return Err(wrongs);
        }
        Ok(Self { variables: variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect() })
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

/// Reads one line that is neither blank nor a comment.
fn variable(line: &str) -> Result<(&str, String), &'static str> {
    let (key, value) = line.split_once('=').ok_or("has no `=`")?;
    let key = key.trim();
    let key = key
        .strip_prefix("export")
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map_or(key, str::trim);
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')) {
        return Err("has a name that is none: letters, digits and `_`, no digit first");
    }
    if value.contains('\0') {
        return Err("has a NUL byte");
    }
    Ok((key, unquoted(value.trim())))
}

/// Takes the quotes off a value. Quotes that do not match, or are inside, are part of it.
fn unquoted(value: &str) -> String {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        return value.to_owned();
    };
    let inside = &value[1..];
    let closed = closing(inside, quote).filter(|end| is_comment(&inside[end + 1..]));
    let outermost = || inside.strip_suffix(quote).map(str::len);
    match (closed.or_else(outermost), quote) {
        (Some(end), '"') => unescaped(&inside[..end]),
        (Some(end), _) => inside[..end].to_owned(),
        (None, _) => value.to_owned(),
    }
}

/// Finds the first quote that is not escaped; between single quotes nothing is.
fn closing(inside: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    inside.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = quote == '"' && c == '\\' && !escaped;
        closes.then_some(at)
    })
}

fn is_comment(rest: &str) -> bool {
    rest.is_empty() || (rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with('#'))
}

/// Reads the escapes of a value in double quotes; a backslash before anything else is itself.
fn unescaped(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some(c @ ('\\' | '"' | '$')) => value.push(c),
            other => {
                value.push('\\');
                value.extend(other);
            }
        }
    }
    value
}

#[cfg(test)]
#[path = "tests/env_file.rs"]
mod tests;
