//! Where `pi` keeps its sessions, and how one gets to another folder or home.
//!
//! A session is the file `sessions/--<cwd>--/<time>_<id>.jsonl` in the program's own folder, where `<cwd>` is the
//! working folder with dashes in place of its separators. The program resumes a session by id only from the folder
//! that it belongs to: from others it asks a question that nobody hears. The first line names the id and that folder, and
//! no other line does.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use memchr::memmem;
use sandcastle_core::agent::SessionPlace;
use sandcastle_core::session::{SessionTransfer, TransferOutcome};
use sandcastle_core::{Result, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::Text;
use crate::session_store::{
    Layout, Relation, SessionStore, Spot, copy, longest_first, not_moved, real, relation, respelled,
};

const LAYOUT: Layout = Layout::new("PI_CODING_AGENT_DIR", ".pi/agent", "sessions");

/// The variable that names one folder for the sessions of all working folders.
const SESSION_FOLDER: &str = "PI_CODING_AGENT_SESSION_DIR";
const FLAT: Layout = Layout::new(SESSION_FOLDER, "", "");

/// Returns the folder of the sessions, whether it is there or not.
pub(super) fn folder(place: &SessionPlace<'_>) -> PathBuf {
    layout(place).sessions(place)
}

/// Returns the file that the program would go on with in this place, or else the longest there is.
pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let (mut store, suffix) = (layout(place).store(place)?, suffix(session));
    expected(&mut store, place, &suffix).or_else(|| copies(&mut store, place, &suffix).into_iter().next())
}

/// Brings a session to where the program looks for it in another place: the copy's first line names that place's folder.
///
/// Where one home holds several copies, because the session was resumed in several folders, the one that went on
/// furthest is brought. It goes on in the file of the other place, if there is one.
pub(super) fn transfer(
    session: &SessionId,
    from: &SessionPlace<'_>,
    to: &SessionPlace<'_>,
) -> Result<Option<SessionTransfer>> {
    let suffix = suffix(session);
    let Some(mut store) = layout(from).store(from) else { return Ok(None) };
    let (own, copies) = (expected(&mut store, from, &suffix), copies(&mut store, from, &suffix));
    let is_ahead = |copy: &Spot, of: &Spot| is_ahead(copy, of, session);
    let Some(found) = store.furthest(own, copies, is_ahead) else { return Ok(None) };
    let transfer = || {
        let below = present(to, &suffix).or_else(|| Some(folder_in(to).join(found.file_name()?)));
        let below = below.ok_or_else(|| not("a file with a name"))?;
        let (source, target) = layout(to).spots((from, &store, &found), (to, &below))?;
        if source == target {
            return Ok(SessionTransfer::new(target.path(), TransferOutcome::UpToDate));
        }
        // Without it the program would not find the copy.
        folder_named_in(&source.first_line()?, session)
            .ok_or_else(|| not("the session that its name says"))?;
        let cwd = real(to.cwd);
        let cwd = cwd.to_str().ok_or_else(|| not("moved to a folder whose name is no text"))?;
        let cwd = serde_json::to_string(cwd)?;
        let outcome = copy(&source, &target, &|line| renamed(line, session, &cwd))?;
        Ok(SessionTransfer::new(target.path(), outcome))
    };
    transfer().map(Some).map_err(|error| not_moved(session, &found, error))
}

fn layout(place: &SessionPlace<'_>) -> Layout {
    if is_flat(place) { FLAT } else { LAYOUT }
}

fn is_flat(place: &SessionPlace<'_>) -> bool {
    place.env.iter().rev().any(|(key, value)| key == SESSION_FOLDER && !value.is_empty())
}

/// Returns the folder of a place's sessions, as seen from that of all sessions.
fn folder_in(place: &SessionPlace<'_>) -> PathBuf {
    if is_flat(place) { PathBuf::new() } else { folder_name(place.cwd).into() }
}

/// Returns the file in the folder of the place.
fn expected(store: &mut SessionStore, place: &SessionPlace<'_>, suffix: &[u8]) -> Option<PathBuf> {
    let folder = store.folder(store.root(), folder_in(place))?;
    newest(store, &folder, suffix)
}

/// Returns the files of a session in all folders, the longest first.
fn copies(store: &mut SessionStore, place: &SessionPlace<'_>, suffix: &[u8]) -> Vec<PathBuf> {
    if is_flat(place) {
        return Vec::new();
    }
    let root = store.root().to_owned();
    let names = store.names(&root);
    longest_first(names.into_iter().filter_map(|name| {
        let folder = store.folder(&root, name)?;
        newest(store, &folder, suffix)
    }))
}

/// Returns the file that a place has already, as seen from the folder of all sessions.
fn present(place: &SessionPlace<'_>, suffix: &[u8]) -> Option<PathBuf> {
    let mut store = layout(place).store(place)?;
    let found = expected(&mut store, place, suffix)?;
    store.below_sessions(&found).ok().map(Path::to_path_buf)
}

fn newest(store: &mut SessionStore, folder: &Path, suffix: &[u8]) -> Option<PathBuf> {
    let names = store.names(folder).into_iter();
    names.filter(|name| name.as_bytes().ends_with(suffix)).find_map(|name| store.file(folder, name))
}

fn is_ahead(copy: &Spot, of: &Spot, session: &SessionId) -> bool {
    let nowhere = |line: &[u8]| renamed(line, session, "null");
    relation(copy, of, &nowhere).is_ok_and(|relation| relation == Relation::Ahead)
}

/// Puts another folder, given as JSON, into the line that names it. All else in it stays as it is.
fn renamed(line: &[u8], session: &SessionId, cwd: &str) -> Option<Vec<u8>> {
    let old = folder_named_in(line, session)?;
    (old.get() != cwd).then(|| respelled(line, &[old], cwd))
}

/// Returns the folder that the first line of a session names, and nothing for any other line.
fn folder_named_in<'a>(line: &'a [u8], session: &SessionId) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Header<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        cwd: &'a RawValue,
    }
    memmem::find(line, b"\"session\"")?;
    let header: Header<'_> = serde_json::from_slice(line).ok()?;
    (&*header.kind == "session" && *header.id == **session).then_some(header.cwd)
}

fn suffix(session: &SessionId) -> Vec<u8> {
    format!("_{session}.jsonl").into_bytes()
}

/// Names the folder of the sessions that are held in `cwd`.
fn folder_name(cwd: &Path) -> OsString {
    let real = real(cwd);
    let bytes = real.as_os_str().as_bytes();
    let below_root = bytes.strip_prefix(b"/").unwrap_or(bytes);
    let dashed = below_root.iter().map(|byte| if matches!(byte, b'/' | b'\\' | b':') { b'-' } else { *byte });
    OsString::from_vec(b"--".iter().copied().chain(dashed).chain(*b"--").collect())
}

fn not(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is not {what}"))
}

#[cfg(test)]
mod tests;
