//! Where `gemini` keeps its sessions.
//!
//! A session is the file `tmp/<project>/chats/session-<time>-<first part of the id>.jsonl` in the program's own folder;
//! which folder a project has stands in a register beside them. The first part of an id may be shared, so the first
//! line of the file, which holds the whole id, decides. When a session is resumed in another minute, the program begins
//! a second file of it, and goes on in the first all the same: the second holds no turn.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem;
use sandcastle_core::SessionId;
use sandcastle_core::agent::SessionPlace;

use crate::session_store::{Layout, SessionStore, longest_first};

/// No variable names the program's own folder, only the home folder that it is in.
const LAYOUT: Layout = Layout::new("", ".gemini", "tmp");

/// The variable that names another home folder.
const HOME: &str = "GEMINI_CLI_HOME";

/// How much of a file is read to find its id, which stands at its start.
const HEAD: u64 = 4096;

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let mut store = open(place)?;
    let root = store.root().to_owned();
    let suffix = format!("-{}.jsonl", session.get(..8)?);
    let files = store.names(&root).into_iter().filter_map(|project| {
        let chats = store.folder(&store.folder(&root, project)?, "chats")?;
        let names = store.names(&chats).into_iter();
        let files = names.filter(|name| {
            name.to_str().is_some_and(|name| name.starts_with("session-") && name.ends_with(&suffix))
        });
        let files = files.filter_map(|name| store.file(&chats, name)).filter(|file| holds(file, session));
        longest_first(files).into_iter().next()
    });
    longest_first(files).into_iter().next()
}

fn open(place: &SessionPlace<'_>) -> Option<SessionStore> {
    let home = place.env.iter().rev().find(|(key, value)| key == HOME && !value.is_empty());
    let home = home.map(|(_, value)| place.cwd.join(value));
    let place = SessionPlace::new(home.as_deref().unwrap_or(place.home), place.cwd, &[]);
    LAYOUT.store(&place)
}

fn holds(file: &Path, session: &SessionId) -> bool {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let field = format!("\"sessionId\":\"{session}\"");
    read.is_ok() && memmem::find(first, field.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const ID: &str = "fc4e5bc5-d785-4ff8-8883-d84096c89783";
    const FILE: &str = "session-2026-11-30T09-54-fc4e5bc5.jsonl";

    fn write(path: &Path, id: &str) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{{\"sessionId\":\"{id}\",\"kind\":\"main\"}}\n{{}}\n")).unwrap();
        fs::canonicalize(path).unwrap()
    }

    fn find_in(home: &Path, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        find(&SessionId::new(ID).unwrap(), &SessionPlace::new(home, Path::new("/work"), env))
    }

    #[test]
    fn the_file_is_found_by_the_id_in_it() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(find_in(home.path(), &[]), None);
        write(&home.path().join(".gemini/tmp/zz").join("chats").join(FILE), &ID.replace("d785", "0000"));
        assert_eq!(find_in(home.path(), &[]), None);
        let file = write(&home.path().join(".gemini/tmp/work").join("chats").join(FILE), ID);
        assert_eq!(find_in(home.path(), &[]), Some(file));
    }

    #[test]
    fn a_file_that_was_begun_by_a_resume_is_not_the_session() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join(".gemini/tmp/work/chats");
        let file = write(&chats.join(FILE), ID);
        let turn = fs::read_to_string(&file).unwrap() + "{\"type\":\"user\",\"content\":[]}\n";
        fs::write(&file, turn).unwrap();
        write(&chats.join(FILE.replace("09-54", "09-55")), ID);
        assert_eq!(find_in(home.path(), &[]), Some(file));
    }

    #[test]
    fn the_home_can_be_moved_by_a_variable() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let file = write(&other.path().join(".gemini/tmp/work/chats").join(FILE), ID);
        let env = [(OsString::from("GEMINI_CLI_HOME"), other.path().into())];
        assert_eq!(find_in(home.path(), &env), Some(file));
    }

    #[test]
    fn links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let secret = write(&outside.path().join("chats").join(FILE), ID);
        let chats = home.path().join(".gemini/tmp/work/chats");
        fs::create_dir_all(&chats).unwrap();
        symlink(&secret, chats.join(FILE)).unwrap();
        symlink(outside.path(), home.path().join(".gemini/tmp/other")).unwrap();
        assert_eq!(find_in(home.path(), &[]), None);
    }

    #[test]
    fn an_id_that_is_too_short_has_no_file() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".gemini/tmp")).unwrap();
        let place = SessionPlace::new(home.path(), Path::new("/work"), &[]);
        assert_eq!(find(&SessionId::new("1").unwrap(), &place), None);
    }
}
