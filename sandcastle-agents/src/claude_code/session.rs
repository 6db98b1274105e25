//! Where `claude` keeps its sessions.
//!
//! A session is the file `projects/<slug>/<id>.jsonl` in the program's own folder; the slug is made of the working
//! folder. A worktree continues the file of its main tree and a long slug ends in a hash, so where the folder of the
//! slug does not have the session, it is looked for by its id.

use std::fs;
use std::path::{Path, PathBuf};

use sandcastle_core::SessionId;
use sandcastle_core::agent::SessionPlace;

use crate::session_store::SessionStore;

/// Slugs that would be longer are cut and given a hash, in UTF-16 units.
const MAX_SLUG: usize = 200;

pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let mut store = SessionStore::open(place, "CLAUDE_CONFIG_DIR", ".claude", "projects")?;
    let file = format!("{session}.jsonl");
    let projects = store.root().to_owned();
    let expected = slug(place.cwd).and_then(|slug| store.folder(&projects, slug));
    if let Some(found) = expected.and_then(|folder| store.file(&folder, &file)) {
        return Some(found);
    }
    let names = store.names(&projects);
    names.into_iter().find_map(|name| store.file(&store.folder(&projects, name)?, &file))
}

/// Names the folder of the sessions that were held in `cwd`, or `None` if the name would have a hash.
fn slug(cwd: &Path) -> Option<String> {
    let real = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let dashed = |unit| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let slug: String = real.to_str()?.encode_utf16().map(dashed).collect();
    (slug.len() <= MAX_SLUG).then_some(slug)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::symlink;

    use super::*;

    const ID: &str = "f6e43651-ba73-4658-903a-0b737afdf681";

    fn write(path: &Path) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}\n").unwrap();
        fs::canonicalize(path).unwrap()
    }

    fn find_in(home: &Path, cwd: &Path, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        find(&SessionId::new(ID).unwrap(), &SessionPlace::new(home, cwd, env))
    }

    #[test]
    fn a_slug_keeps_letters_and_digits() {
        assert_eq!(slug(Path::new("/nowhere/w.e_i rd é@x")).unwrap(), "-nowhere-w-e-i-rd---x");
        assert_eq!(slug(Path::new("/nowhere/🙂")).unwrap(), "-nowhere---");
        assert_eq!(slug(Path::new(&format!("/{}", "x".repeat(200)))), None);
    }

    #[test]
    fn the_file_is_in_the_folder_of_the_slug() {
        let home = tempfile::tempdir().unwrap();
        let file = write(&home.path().join(format!(".claude/projects/-nowhere/{ID}.jsonl")));
        write(&home.path().join(format!(".claude/projects/-zzz/{ID}.jsonl")));
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &[]), Some(file));
    }

    #[test]
    fn a_session_of_another_folder_is_found_by_id() {
        let home = tempfile::tempdir().unwrap();
        let file = write(&home.path().join(format!(".claude/projects/-main-tree/{ID}.jsonl")));
        let long = format!("/{}", "x".repeat(300));
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &[]), Some(file.clone()));
        assert_eq!(find_in(home.path(), Path::new(&long), &[]), Some(file));
        fs::remove_dir_all(home.path().join(".claude/projects/-main-tree")).unwrap();
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &[]), None);
    }

    #[test]
    fn the_folder_can_be_moved_by_a_variable() {
        let home = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let file = write(&other.path().join(format!("projects/-nowhere/{ID}.jsonl")));
        let env = [(OsString::from("CLAUDE_CONFIG_DIR"), other.path().into())];
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &env), Some(file));
    }

    #[test]
    fn links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let secret = write(&outside.path().join(format!("{ID}.jsonl")));
        let projects = home.path().join(".claude/projects");
        fs::create_dir_all(projects.join("-a")).unwrap();
        symlink(&secret, projects.join(format!("-a/{ID}.jsonl"))).unwrap();
        symlink(outside.path(), projects.join("-nowhere")).unwrap();
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &[]), None);
        fs::rename(&projects, home.path().join("moved")).unwrap();
        symlink(outside.path(), &projects).unwrap();
        assert_eq!(find_in(home.path(), Path::new("/nowhere"), &[]), None);
    }
}
