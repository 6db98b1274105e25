//! Where `codex` keeps its sessions, how one gets to another home, and what they had used.
//!
//! A session is the file `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` in the program's own folder, in whichever folder
//! it was held. The counts in the stream are those of the whole session, so what an earlier process had used is read from
//! the file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem;
use sandcastle_core::agent::SessionPlace;
use sandcastle_core::jsonl::{Line, LineBuffer};
use sandcastle_core::session::{SessionTransfer, TransferOutcome};
use sandcastle_core::{Result, SessionId, Usage};
use serde::Deserialize;

use super::wire::Tokens;
use crate::json::Text;
use crate::session_store::{Layout, Moving, SessionStore, copy, not_moved};

pub(super) const LAYOUT: Layout = Layout::new("CODEX_HOME", ".codex", "sessions");

/// How many folders deep the files are: year, month, day.
const DEPTH: usize = 3;

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    find_in(&mut LAYOUT.store(place)?, session)
}

/// Brings a session to another home, below the same day. In one home every folder has it already.
pub(super) fn transfer(
    session: &SessionId,
    from: &SessionPlace<'_>,
    to: &SessionPlace<'_>,
) -> Result<Option<SessionTransfer>> {
    let Some(mut store) = LAYOUT.store(from) else { return Ok(None) };
    let Some(found) = find_in(&mut store, session) else { return Ok(None) };
    let transfer = || {
        let below = match LAYOUT.store(to).and_then(|mut there| Some((find_in(&mut there, session)?, there)))
        {
            Some((present, there)) => there.below_sessions(&present)?.to_path_buf(),
            None => store.below_sessions(&found)?.to_path_buf(),
        };
        let (source, target) = LAYOUT.spots((from, &store, &found), (to, &below))?;
        if source == target {
            return Ok(SessionTransfer::new(found.clone(), TransferOutcome::UpToDate));
        }
        let moving = Moving::between((from, &source), (to, &target));
        let outcome = copy(&source, &target, &|line| moving.line(line))?;
        Ok(SessionTransfer::new(target.path(), outcome))
    };
    transfer().map(Some).map_err(|error| not_moved(session, &found, error))
}

fn find_in(store: &mut SessionStore, session: &SessionId) -> Option<PathBuf> {
    let root = store.root().to_owned();
    newest(store, &root, DEPTH, session)
}

fn newest(store: &mut SessionStore, folder: &Path, depth: usize, session: &SessionId) -> Option<PathBuf> {
    let names = store.names(folder);
    names.into_iter().find_map(|name| match depth {
        0 if is_rollout(&name, session) => store.file(folder, &name),
        0 => None,
        _ => {
            let inner = store.folder(folder, &name)?;
            newest(store, &inner, depth - 1, session)
        }
    })
}

/// Tells whether the file is that of the session, and not of one whose id only ends like this one.
fn is_rollout(name: &OsStr, session: &SessionId) -> bool {
    let time = name.to_str().and_then(|name| {
        let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        stem.strip_suffix(session.as_str())?.strip_suffix('-')
    });
    time.is_some_and(|time| time.len() == "2026-11-30T03-21-31".len())
}

/// Reads the last count in a rollout file, in one pass that keeps one line.
pub(super) fn usage(session_file: &Path) -> Option<Usage> {
    let mut file = File::open(session_file).ok()?;
    let mut lines = LineBuffer::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut last = None;
    let mut count = |line: Line<'_>| last = total(line).or(last);
    loop {
        let length = file.read(&mut chunk).ok()?;
        lines.push(&chunk[..length]);
        while let Some(line) = lines.next_line() {
            count(line);
        }
        if length == 0 {
            break;
        }
    }
    lines.finish().into_iter().for_each(count);
    last.map(Tokens::usage)
}

fn total(line: Line<'_>) -> Option<Tokens> {
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow)]
        payload: Payload<'a>,
    }
    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
        info: Info,
    }
    #[derive(Deserialize)]
    struct Info {
        total_token_usage: Tokens,
    }
    let Line::Complete(line) = line else { return None };
    memmem::find(line, b"\"token_count\"")?;
    let Entry { payload } = serde_json::from_slice(line).ok()?;
    (&*payload.kind == "token_count").then_some(payload.info.total_token_usage)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const ID: &str = "01a22a78-d29e-7d31-b9cd-cb4025110f7d";

    fn count(input: u64, cached: u64) -> String {
        let usage = format!(r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":7}}"#);
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{usage}}}}}}}"#
        )
    }

    fn found(home: &Path) -> Option<PathBuf> {
        find(&SessionId::new(ID).unwrap(), &SessionPlace::new(home, Path::new("/work"), &[]))
    }

    #[test]
    fn the_file_is_found_by_id_below_its_day() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        assert_eq!(found(&home), None);
        let day = home.join(".codex/sessions/2026/11/30");
        fs::create_dir_all(&day).unwrap();
        fs::create_dir_all(home.join(".codex/sessions/2026/12/01")).unwrap();
        fs::write(day.join(format!("rollout-2026-11-30T03-21-31-{ID}.jsonl.tmp")), "").unwrap();
        symlink("/etc/hostname", day.join(format!("rollout-2026-11-30T09-00-00-{ID}.jsonl"))).unwrap();
        assert_eq!(found(&home), None);
        let file = day.join(format!("rollout-2026-11-30T03-21-31-{ID}.jsonl"));
        fs::write(&file, "").unwrap();
        assert_eq!(found(&home), Some(file));
    }

    #[test]
    fn case_114_the_last_count_is_the_total() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rollout.jsonl");
        let torn = r#"{"payload":{"type":"token_count","info":{"total_token_us"#;
        let quoted = r#"{"payload":{"type":"message","text":"\"token_count\""}}"#;
        let lines =
            [&count(10, 0), &count(25, 5), r#"{"payload":{"type":"token_count","info":null}}"#, quoted, torn];
        fs::write(&file, lines.join("\n")).unwrap();
        let usage = usage(&file).unwrap();
        assert_eq!((usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (20, 5, 7));
        assert_eq!(super::usage(folder.path()), None);
    }
}
