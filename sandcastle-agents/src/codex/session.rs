//! Where `codex` keeps its sessions, and what they had used.
//!
//! A session is the file `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` in the program's own folder. The counts in
//! the stream are those of the whole session, so what an earlier process had used is read from the file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem;
use sandcastle_core::agent::SessionPlace;
use sandcastle_core::jsonl::{Line, LineBuffer};
use sandcastle_core::{SessionId, Usage};
use serde::Deserialize;

use super::wire::Tokens;
use crate::json::Text;
use crate::session_store::SessionStore;

/// How many folders deep the files are: year, month, day.
const DEPTH: usize = 3;

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let mut store = SessionStore::open(place, "CODEX_HOME", ".codex", "sessions")?;
    let root = store.root().to_owned();
    newest(&mut store, &root, DEPTH, &format!("-{session}.jsonl"))
}

fn newest(store: &mut SessionStore, folder: &Path, depth: usize, suffix: &str) -> Option<PathBuf> {
    let names = store.names(folder);
    names.into_iter().find_map(|name| match depth {
        0 => {
            let rollout =
                name.to_str().is_some_and(|name| name.starts_with("rollout-") && name.ends_with(suffix));
            rollout.then(|| store.file(folder, &name))?
        }
        _ => {
            let inner = store.folder(folder, &name)?;
            newest(store, &inner, depth - 1, suffix)
        }
    })
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

    fn find_in(home: &Path) -> Option<PathBuf> {
        find(&SessionId::new(ID).unwrap(), &SessionPlace::new(home, Path::new("/work"), &[]))
    }

    #[test]
    fn the_file_is_found_by_id_below_its_day() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        assert_eq!(find_in(&home), None);
        let day = home.join(".codex/sessions/2026/11/30");
        fs::create_dir_all(&day).unwrap();
        fs::create_dir_all(home.join(".codex/sessions/2026/12/01")).unwrap();
        fs::write(day.join(format!("rollout-2026-11-30T03-21-31-{ID}.jsonl.tmp")), "").unwrap();
        symlink("/etc/hostname", day.join(format!("rollout-2026-11-30T09-00-00-{ID}.jsonl"))).unwrap();
        assert_eq!(find_in(&home), None);
        let file = day.join(format!("rollout-2026-11-30T03-21-31-{ID}.jsonl"));
        fs::write(&file, "").unwrap();
        assert_eq!(find_in(&home), Some(file));
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
