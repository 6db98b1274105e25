//! Where `claude` keeps its sessions, and how one gets to another folder or home.
//!
//! A session is the file `projects/<slug>/<id>.jsonl` in the program's own folder; the slug is made of the working
//! folder, and the program looks for a session nowhere else, except that from a linked worktree it finds those of the
//! repository's other work trees. What sub-agents said is in `<id>/subagents/` beside the file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::SessionPlace;
use sandcastle_core::session::{SessionTransfer, TransferOutcome};
use sandcastle_core::{Result, SessionId};

use crate::session_store::{
    Layout, Moving, Relation, SessionStore, Spot, copy, longest_first, not_moved, real, relation,
};

pub(super) const LAYOUT: Layout = Layout::new("CLAUDE_CONFIG_DIR", ".claude", "projects");

/// Slugs that would be longer are cut and given a hash, in UTF-16 units.
const MAX_SLUG: usize = 200;

/// How many folders deep files of sub-agents are looked for, and how many are moved.
const MAX_DEPTH: usize = 8;
const MAX_SUB_AGENT_FILES: usize = 10_000;

/// Returns the file that the program would go on with in this place, or else the longest there is.
pub(super) fn find(session: &SessionId, place: &SessionPlace<'_>) -> Option<PathBuf> {
    let mut store = LAYOUT.store(place)?;
    let file = format!("{session}.jsonl");
    expected(&store, place, &file).or_else(|| copies(&mut store, &file).into_iter().next())
}

/// Brings a session to where the program looks for it in another place, with the transcripts of its sub-agents.
///
/// Where one home holds several copies, because the session was resumed in several folders, the one that went on
/// furthest is brought.
pub(super) fn transfer(
    session: &SessionId,
    from: &SessionPlace<'_>,
    to: &SessionPlace<'_>,
) -> Result<Option<SessionTransfer>> {
    let file = format!("{session}.jsonl");
    let Some(mut store) = LAYOUT.store(from) else { return Ok(None) };
    let (own, copies) = (expected(&store, from, &file), copies(&mut store, &file));
    let Some(found) = store.furthest(own, copies, is_ahead) else { return Ok(None) };
    let target = Path::new(&slug(to.cwd)).join(&file);
    let mut transfer = || {
        let (source, target) = LAYOUT.spots((from, &store, &found), (to, &target))?;
        let moving = Moving::between((from, &source), (to, &target));
        let rule = |line: &[u8]| moving.line(line);
        let mut transfer = SessionTransfer::new(target.path(), copy(&source, &target, &rule)?);
        if source != target && transfer.outcome != TransferOutcome::Parted {
            let files = sub_agent_files(&mut store, &found, session);
            bring_sub_agents(&files, (&source, &target), &moving, &mut transfer);
        }
        Ok(transfer)
    };
    transfer().map(Some).map_err(|error| not_moved(session, &found, error))
}

/// Copies files of sub-agents. One that cannot be copied is noted, and costs neither the others nor the session.
fn bring_sub_agents(
    files: &[PathBuf],
    spots: (&Spot, &Spot),
    moving: &Moving,
    transfer: &mut SessionTransfer,
) {
    for path in files {
        let shown = path.display();
        match copy(&spots.0.beside(path), &spots.1.beside(path), &|line| moving.line(line)) {
            Ok(TransferOutcome::Written) if is_transcript(path) => transfer.sub_agents += 1,
            Ok(TransferOutcome::Parted) => {
                transfer.note(format!("`{shown}` is another one in both places and was left"));
            }
            Ok(_) => {}
            Err(error) => transfer.note(format!("`{shown}` was left behind: {error}")),
        }
    }
}

/// Returns the file in the folder of the place.
fn expected(store: &SessionStore, place: &SessionPlace<'_>, file: &str) -> Option<PathBuf> {
    store.file(&store.folder(store.root(), slug(place.cwd))?, file)
}

/// Returns all files of a session, the longest first.
fn copies(store: &mut SessionStore, file: &str) -> Vec<PathBuf> {
    let projects = store.root().to_owned();
    let names = store.names(&projects);
    let found = names.into_iter().filter_map(|name| store.file(&store.folder(&projects, name)?, file));
    longest_first(found)
}

fn is_ahead(copy: &Spot, of: &Spot) -> bool {
    let moving = Moving::to(Path::new("")).from(copy.recorded_folder()).from(of.recorded_folder());
    relation(copy, of, &|line| moving.line(line)).is_ok_and(|relation| relation == Relation::Ahead)
}

/// Lists the files of sub-agents, as seen from the folder of the session's file.
fn sub_agent_files(store: &mut SessionStore, session_file: &Path, session: &SessionId) -> Vec<PathBuf> {
    let Some(project) = session_file.parent() else { return Vec::new() };
    let mut files = Vec::new();
    let mut folders = vec![(Path::new(session.as_str()).join("subagents"), 0)];
    // The folder of the session is looked at too: it must not be a link either.
    if store.folder(project, session.as_str()).is_none() {
        return files;
    }
    while let Some((folder, depth)) = folders.pop() {
        let Some(path) = store.folder(project, &folder) else { continue };
        for name in store.names(&path) {
            if store.folder(&path, &name).is_some() {
                folders.extend((depth < MAX_DEPTH).then(|| (folder.join(&name), depth + 1)));
            } else if is_of_a_sub_agent(&name) && files.len() < MAX_SUB_AGENT_FILES {
                files.push(folder.join(name));
            }
        }
    }
    files
}

/// A transcript, or what the program notes beside it.
fn is_of_a_sub_agent(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        name.starts_with("agent-") && (name.ends_with(".jsonl") || name.ends_with(".meta.json"))
    })
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Names the folder of the sessions that were held in `cwd`.
///
/// The program takes the real path. Where the folder is not on this host, or no more, its name is taken to be real.
fn slug(cwd: &Path) -> String {
    let units: Vec<u16> = real(cwd).to_string_lossy().encode_utf16().collect();
    let dashed =
        |unit: &u16| u8::try_from(*unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let slug: String = units.iter().take(MAX_SLUG).map(dashed).collect();
    if units.len() <= MAX_SLUG { slug } else { format!("{slug}-{}", base_36(hash(&units))) }
}

/// The program's hash of a path, which is that of strings in Java.
fn hash(units: &[u16]) -> u32 {
    units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit))).unsigned_abs()
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
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
        assert_eq!(slug(Path::new("/nowhere/w.e_i rd é@x")), "-nowhere-w-e-i-rd---x");
        assert_eq!(slug(Path::new("/nowhere/🙂")), "-nowhere---");
        assert_eq!(slug(Path::new(&format!("/{}", "x".repeat(199)))), format!("-{}", "x".repeat(199)));
    }

    /// The real program's names of such folders; `tests/it/real_agents` asks it again.
    #[test]
    fn w_34_a_long_slug_is_cut_and_ends_in_a_hash() {
        let long = "x".repeat(120);
        let path = format!("/tmp/tmp.zB1Ac2WZMe/w/{long}/é🙂{long}");
        let slug = slug(Path::new(&path));
        assert!(slug.starts_with("-tmp-tmp-zB1Ac2WZMe-w-xxx") && slug.ends_with("xxx-8kukti"), "{slug}");
        assert_eq!(slug.len(), MAX_SLUG + "-8kukti".len());
        assert_eq!((base_36(0), base_36(35), base_36(36)), ("0".into(), "z".into(), "10".into()));
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
