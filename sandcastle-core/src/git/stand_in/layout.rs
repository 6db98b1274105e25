//! How the folder of a stand-in is laid out, and what else of a repository git inside needs to see.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use crate::git::overrides::{Key, entries, is_of_repository};
use crate::git::takeover::State;
use crate::git::{Repository, read_bounded};

/// Where the repository's own objects are seen inside, in the git folder.
const OBJECTS: &str = "sandcastle-objects";
/// Where git looks for a list of folders of objects that it borrows.
pub(super) const ALTERNATES: &str = "objects/info/alternates";
/// The longest file that is copied as it is, an index.
pub(super) const MAX_INDEX: u64 = 1 << 30;
/// The longest small file that is copied.
const MAX_SMALL: u64 = 16 * 1024 * 1024;
/// How many repositories may borrow objects from one another in a row.
const MAX_ALTERNATES: usize = 5;

/// A folder of this host that git inside needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) host: PathBuf,
    pub(crate) inside: PathBuf,
    pub(crate) writable: bool,
}

/// Writes the folder: a repository with the refs of `state` and no objects of its own.
pub(super) fn lay_out(git: &Path, repository: &Repository, listing: &[u8], state: &State) -> io::Result<()> {
    let common = repository.common_dir();
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", OBJECTS, "hooks"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("config"), settings(listing))?;
    // Where objects are borrowed from is said in a file beside the folder, which lies over this one inside: outside there is
    // no such place.
    let borrowed = common.join(OBJECTS);
    fs::write(alternates_beside(git), [borrowed.as_os_str().as_bytes(), b"\n"].concat())?;
    fs::write(git.join(ALTERNATES), "")?;
    for file in ["shallow", "info/exclude", "info/attributes"] {
        copy_small(&common.join(file), &git.join(file))?;
    }
    let own = own_part(repository);
    if own.as_os_str().is_empty() {
        fs::create_dir_all(git.join("modules"))?;
    } else {
        let admin = git.join(&own);
        fs::create_dir_all(admin.join("modules"))?;
        fs::write(admin.join("commondir"), "../..\n")?;
        let top = repository.top().unwrap_or(common).join(".git");
        fs::write(admin.join("gitdir"), [top.as_os_str().as_bytes(), b"\n"].concat())?;
        copy_small(&common.join("HEAD"), &git.join("HEAD"))?;
        copy_small(&repository.git_dir().join("info/sparse-checkout"), &admin.join("info/sparse-checkout"))?;
    }
    fill(&Folder::open(git)?, repository, state)
}

/// Writes what changes with every commit: the refs, what is checked out, and the index.
pub(super) fn fill(git: &Folder, repository: &Repository, state: &State) -> io::Result<()> {
    let own = own_part(repository);
    state.write(git, &own)?;
    match read_bounded(&repository.git_dir().join("index"), MAX_INDEX)? {
        Some(bytes) => git.replace(own.join("index"), &bytes),
        None => Ok(()),
    }
}

/// Names the folder of a work tree's own state within the git folder; nothing for the main work tree.
pub(super) fn own_part(repository: &Repository) -> PathBuf {
    repository.git_dir().strip_prefix(repository.common_dir()).map(Path::to_path_buf).unwrap_or_default()
}

/// Lists what git inside needs: the stand-in in the place of the git folder, and what it borrows.
pub(super) fn seen(git: &Path, repository: &Repository) -> Vec<Seen> {
    let common = repository.common_dir();
    let read_only = |host: PathBuf, inside: PathBuf| Seen { host, inside, writable: false };
    let mut seen = vec![Seen { host: git.to_path_buf(), inside: common.to_path_buf(), writable: true }];
    seen.push(read_only(alternates_beside(git), common.join(ALTERNATES)));
    seen.push(read_only(common.join("objects"), common.join(OBJECTS)));
    let modules = own_part(repository).join("modules");
    for part in [Path::new("hooks"), &modules] {
        let host = common.join(part);
        if host.is_dir() && !host.is_symlink() {
            seen.push(read_only(host.clone(), host));
        }
    }
    let borrowed = alternates_of(&common.join("objects"));
    seen.extend(borrowed.into_iter().map(|folder| read_only(folder.clone(), folder)));
    seen
}

/// Names the file that says where git inside borrows objects.
fn alternates_beside(git: &Path) -> PathBuf {
    git.with_file_name("alternates")
}

/// Lists the folders of objects that another one borrows from, as far as they are there.
fn alternates_of(objects: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut open = vec![objects.to_path_buf()];
    for _ in 0..MAX_ALTERNATES {
        let mut next = Vec::new();
        for objects in open {
            let text =
                read_bounded(&objects.join("info/alternates"), MAX_SMALL).ok().flatten().unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
            let folders = lines.map(|line| objects.join(super::super::path_from(line)));
            next.extend(folders.filter(|folder| folder.is_dir() && !found.contains(folder)));
        }
        found.extend(next.iter().cloned());
        open = next;
    }
    found
}

/// Writes those of the repository's settings that are of use inside.
///
/// What opens a door stays outside: headers and helpers with passwords, passwords in addresses. So does what names programs
/// and keys of this host, without which no commit could be made inside.
fn settings(listing: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for (scope, key, value) in entries(listing) {
        let Some(key) = Key::parse(key).filter(|key| is_of_repository(scope) && is_shown(key)) else {
            continue;
        };
        text.extend_from_slice(format!("[{}", key.section).as_bytes());
        if let Some(subsection) = key.subsection {
            text.extend_from_slice(b" \"");
            text.extend(subsection.iter().flat_map(|byte| escaped(*byte)));
            text.push(b'"');
        }
        text.extend_from_slice(format!("]\n\t{} = \"", key.name).as_bytes());
        let value = if key.name.ends_with("url") { without_password(value) } else { value.to_vec() };
        text.extend(value.iter().flat_map(|byte| escaped(*byte)));
        text.extend_from_slice(b"\"\n");
    }
    text
}

fn is_shown(key: &Key<'_>) -> bool {
    match (key.section, key.name) {
        (
            "include" | "includeif" | "credential" | "http" | "url" | "gpg" | "alias" | "safe" | "sendemail",
            _,
        ) => false,
        ("core", name) => !matches!(
            name,
            "worktree"
                | "fsmonitor"
                | "sshcommand"
                | "askpass"
                | "gitproxy"
                | "editor"
                | "pager"
                | "splitindex"
                | "untrackedcache"
        ),
        ("extensions", name) => matches!(name, "objectformat" | "partialclone" | "preciousobjects"),
        ("commit" | "tag", "gpgsign" | "forcesignannotated") | ("user", "signingkey") => false,
        _ => true,
    }
}

fn escaped(byte: u8) -> Vec<u8> {
    match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        b'\n' => b"\\n".to_vec(),
        b'\t' => b"\\t".to_vec(),
        byte => vec![byte],
    }
}

/// Takes the part before the `@` out of an address of the form `scheme://user:password@host`.
fn without_password(address: &[u8]) -> Vec<u8> {
    let Some(start) = memchr::memmem::find(address, b"://").map(|at| at + 3) else { return address.to_vec() };
    let end = address[start..].iter().position(|byte| *byte == b'/').map_or(address.len(), |at| start + at);
    let Some(at) = address[start..end].iter().rposition(|byte| *byte == b'@') else {
        return address.to_vec();
    };
    let user = &address[start..start + at];
    match user.iter().position(|byte| *byte == b':') {
        Some(colon) => [&address[..start + colon], &address[start + at..]].concat(),
        None => address.to_vec(),
    }
}

fn copy_small(from: &Path, to: &Path) -> io::Result<()> {
    let Some(bytes) = read_bounded(from, MAX_SMALL)? else { return Ok(()) };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_179_passwords_in_settings_stay_outside() {
        for (address, shown) in [
            ("https://me:s3cret@host/x", "https://me@host/x"),
            ("https://token@host/x@y:z", "https://token@host/x@y:z"),
            ("git@host:x/y", "git@host:x/y"),
            ("https://host/a:b@c", "https://host/a:b@c"),
        ] {
            assert_eq!(without_password(address.as_bytes()), shown.as_bytes());
        }
        let listing = b"local\0http.https://x/.extraheader\nAUTHORIZATION: s3cret\0local\0remote.o\"x.url\nssh://a:b@c/d\0global\0user.name\nG\0local\0user.name\nL\\n\0local\0commit.gpgsign\ntrue\0";
        let text = settings(listing);
        let expected = "[remote \"o\\\"x\"]\n\turl = \"ssh://a@c/d\"\n[user]\n\tname = \"L\\\\n\"\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
