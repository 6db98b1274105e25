//! Where `pi` keeps its sessions, and how one goes to another place.
//!
//! A session is the file `sessions/--<cwd>--/<time>_<id>.jsonl` in the program's own folder, where `<cwd>` is the
//! working folder with dashes in place of its separators. The program resumes a session by id only from the folder
//! that it belongs to: from others it asks a question that nobody hears. So a session that is to go on elsewhere is
//! copied into that place's folder, and the first line of the copy names the new working folder.
//!
//! What is copied, and the folders that it is copied from and to, may be an agent's: no link is followed, a file is
//! replaced whole or not at all, and what has grown is never replaced by what has not.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sandcastle_core::agent::SessionPlace;
use sandcastle_core::{Error, ErrorKind, Result, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::Text;
use crate::session_store::SessionStore;

/// The variable that moves the program's own folder.
const OWN_FOLDER: &str = "PI_CODING_AGENT_DIR";
/// The variable that names one folder for the sessions of all working folders.
const SESSION_FOLDER: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The longest first line of a session that is read, in bytes.
const MAX_HEADER: u64 = 64 * 1024;
/// The longest session that is copied, in bytes.
const MAX_SESSION: u64 = 1024 * 1024 * 1024;

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let suffix = suffix(session);
    if is_set(place, SESSION_FOLDER) {
        let mut store = crate::session_store::Layout::new(SESSION_FOLDER, "", "").store(place)?;
        let root = store.root().to_owned();
        return newest(&mut store, &root, &suffix);
    }
    let mut store = crate::session_store::Layout::new(OWN_FOLDER, ".pi/agent", "sessions").store(place)?;
    let root = store.root().to_owned();
    let expected = store.folder(&root, folder_name(place.cwd));
    if let Some(found) = expected.and_then(|folder| newest(&mut store, &folder, &suffix)) {
        return Some(found);
    }
    let names = store.names(&root);
    names.into_iter().find_map(|name| {
        let folder = store.folder(&root, name)?;
        newest(&mut store, &folder, &suffix)
    })
}

/// Copies a session to where the program looks for it at `to`, and returns the copy; `None` if there is no such session.
///
/// A copy that is there already and is as long, or longer, stays as it is: the session has gone on there.
///
/// # Errors
/// [`ErrorKind::Io`] when a file or folder cannot be read or written, or is not what it should be.
pub(super) fn transfer(
    session: &SessionId,
    from: &SessionPlace<'_>,
    to: &SessionPlace<'_>,
) -> Result<Option<PathBuf>> {
    let Some(origin) = find(session, from) else { return Ok(None) };
    copy(session, &origin, to).map(Some).map_err(|error| {
        let problem = format!("copy the session `{session}` of `pi` to `{}`", to.cwd.display());
        Error::new(ErrorKind::Io, problem).with_source(error)
    })
}

fn copy(session: &SessionId, origin: &Path, to: &SessionPlace<'_>) -> io::Result<PathBuf> {
    let folder = destination(to)?;
    let suffix = suffix(session);
    let there =
        names_in(&folder)?.into_iter().find(|name| is_of(name, &suffix) && is_file(&folder.join(name)));
    let name = there.as_deref().or(origin.file_name()).ok_or_else(|| not("a file with a name"))?;
    let copy = folder.join(name);
    if copy == origin {
        return Ok(copy);
    }
    let mut session_file = BufReader::new(open(origin)?);
    let header = header(&mut session_file, session, &real(to.cwd))?;
    let mut rewritten = tempfile::Builder::new().prefix(".session-").tempfile_in(&folder)?;
    rewritten.write_all(&header)?;
    let copied = io::copy(&mut session_file.take(MAX_SESSION + 1), &mut rewritten)?;
    if copied > MAX_SESSION {
        return Err(not("a session of less than a gigabyte"));
    }
    let has_gone_on = fs::symlink_metadata(&copy)
        .is_ok_and(|there| there.is_file() && there.len() >= header.len() as u64 + copied);
    if !has_gone_on {
        rewritten.as_file().sync_all()?;
        rewritten.persist(&copy).map_err(|error| error.error)?;
    }
    Ok(copy)
}

/// Reads the first line and puts another working folder into it. All else in it stays as it is.
fn header(session_file: &mut impl BufRead, session: &SessionId, cwd: &Path) -> io::Result<Vec<u8>> {
    #[derive(Deserialize)]
    struct Header<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        cwd: &'a RawValue,
    }
    let mut line = Vec::new();
    session_file.take(MAX_HEADER).read_until(b'\n', &mut line)?;
    let line = str::from_utf8(&line).map_err(|_| not("a session: its first line is no text"))?;
    let header: Header<'_> =
        serde_json::from_str(line).map_err(|_| not("a session: its first line is no header"))?;
    if &*header.kind != "session" || *header.id != **session {
        return Err(not("this session: its first line names another"));
    }
    let cwd = cwd.to_str().ok_or_else(|| not("a working folder whose name is text"))?;
    let start = header.cwd.get().as_ptr().addr() - line.as_ptr().addr();
    let (before, after) = (&line[..start], &line[start + header.cwd.get().len()..]);
    Ok([before, &serde_json::to_string(cwd)?, after].concat().into_bytes())
}

/// Returns the folder for the sessions of a place, and makes what is missing of it.
fn destination(to: &SessionPlace<'_>) -> io::Result<PathBuf> {
    if let Some(folder) = value(to, SESSION_FOLDER) {
        return own(&to.cwd.join(folder));
    }
    let folder =
        own(&value(to, OWN_FOLDER).map_or_else(|| to.home.join(".pi/agent"), |own| to.cwd.join(own)))?;
    [OsString::from("sessions"), folder_name(to.cwd)].into_iter().try_fold(folder, |parent, name| {
        let path = parent.join(name);
        match private().create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ if fs::symlink_metadata(&path)?.is_dir() => Ok(path),
            _ => Err(not("a folder, but a file or a link, where sessions are kept")),
        }
    })
}

/// Makes the folder that the user chose, wherever links lead on the way to it.
fn own(folder: &Path) -> io::Result<PathBuf> {
    private().recursive(true).create(folder)?;
    fs::canonicalize(folder)
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Opens a file, but no link and nothing that a reader would wait for.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not("a file")) }
}

fn not(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is not {what}"))
}

fn newest(store: &mut SessionStore, folder: &Path, suffix: &str) -> Option<PathBuf> {
    let names = store.names(folder);
    names.into_iter().filter(|name| is_of(name, suffix)).find_map(|name| store.file(folder, name))
}

fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

fn suffix(session: &SessionId) -> String {
    format!("_{session}.jsonl")
}

fn is_of(name: &OsStr, suffix: &str) -> bool {
    name.as_bytes().ends_with(suffix.as_bytes())
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Names the folder of the sessions that are held in `cwd`.
fn folder_name(cwd: &Path) -> OsString {
    let real = real(cwd);
    let bytes = real.as_os_str().as_bytes();
    let below_root = bytes.strip_prefix(b"/").unwrap_or(bytes);
    let dashed = below_root.iter().map(|byte| if matches!(byte, b'/' | b'\\' | b':') { b'-' } else { *byte });
    OsString::from_vec(b"--".iter().copied().chain(dashed).chain(*b"--").collect())
}

/// Resolves a folder as the program does. One that is only within a sandbox is taken as it is.
fn real(cwd: &Path) -> PathBuf {
    fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned())
}

fn is_set(place: &SessionPlace<'_>, variable: &str) -> bool {
    value(place, variable).is_some()
}

fn value<'a>(place: &SessionPlace<'a>, variable: &str) -> Option<&'a OsStr> {
    let named = place.env.iter().rev().find(|(key, value)| key == variable && !value.is_empty());
    named.map(|(_, value)| value.as_os_str())
}

#[cfg(test)]
mod tests;
