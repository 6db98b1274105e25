//! Where `copilot` keeps its sessions: the file `session-state/<id>/events.jsonl` in the program's own folder.

use std::path::PathBuf;

use sandcastle_core::SessionId;
use sandcastle_core::agent::SessionPlace;

use crate::session_store::Layout;

const LAYOUT: Layout = Layout::new("COPILOT_HOME", ".copilot", "session-state");

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let store = LAYOUT.store(place)?;
    store.file(&store.folder(store.root(), session.as_str())?, "events.jsonl")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    const ID: &str = "a7d88c87-f307-4df3-a6a8-af780fbc7d40";

    fn write(own: &Path) -> PathBuf {
        let folder = own.join("session-state").join(ID);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("events.jsonl"), "{}\n").unwrap();
        fs::canonicalize(folder.join("events.jsonl")).unwrap()
    }

    fn find_in(home: &Path, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        find(&SessionId::new(ID).unwrap(), &SessionPlace::new(home, Path::new("/work"), env))
    }

    #[test]
    fn the_file_is_in_the_folder_of_its_id() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(find_in(home.path(), &[]), None);
        let file = write(&home.path().join(".copilot"));
        assert_eq!(find_in(home.path(), &[]), Some(file));
    }

    #[test]
    fn the_folder_can_be_moved_by_a_variable() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = write(other.path());
        let env = [(OsString::from("COPILOT_HOME"), other.path().into())];
        assert_eq!(find_in(home.path(), &env), Some(file));
    }

    #[test]
    fn links_are_not_followed() {
        let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(outside.path());
        let state = home.path().join(".copilot/session-state");
        fs::create_dir_all(&state).unwrap();
        symlink(outside.path().join("session-state").join(ID), state.join(ID)).unwrap();
        assert_eq!(find_in(home.path(), &[]), None);
    }
}
