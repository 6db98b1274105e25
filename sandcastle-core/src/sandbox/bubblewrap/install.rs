//! What has to be seen of a program that is installed where nothing is seen: in a home folder, for example.
//!
//! Shown are the links that lead to it, and of its place as little as it needs: the package it belongs to where there is a
//! sign of one, else the file alone; and the same of the interpreter that a script names. Only reads.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::view::{Entry, View, candidates, is_program};

/// Folders in which each folder is a package of its own.
const SHELVES: &[&str] = &["share", "lib", "lib64", "libexec", "versions", "toolchains"];
/// The folder of Node.js packages, which load one another.
const NODE_PACKAGES: &str = "node_modules";
/// How many links lead to a program, at most.
const MOST_LINKS: usize = 40;
/// How many interpreters a script needs, at most.
const DEEPEST: usize = 4;
/// How much of a script is read to find its interpreter.
const FIRST_LINE: u64 = 512;

/// Where programs are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'s> {
    /// The variable `PATH`.
    pub(super) path: &'s OsStr,
    /// The folder that relative paths begin at.
    pub(super) cwd: &'s Path,
    /// The user's home folder on this host, which is never shown as a whole.
    pub(super) home: Option<&'s Path>,
}

/// Lists what has to be added to `view` so that a program of this host is seen; `None` if the host has none either, or one
/// that could have been put there from inside.
pub(super) fn entries(name: &OsStr, search: Search<'_>, view: &View) -> Option<Vec<Entry>> {
    let found = candidates(name, search.path, search.cwd).into_iter().find(|path| is_program(path))?;
    let mut entries = Vec::new();
    add(&found, search, view, DEEPEST, &mut entries).then_some(entries)
}

fn add(program: &Path, search: Search<'_>, view: &View, depth: usize, entries: &mut Vec<Entry>) -> bool {
    let Some((links, real)) = route(program) else { return false };
    // Who can write the link decides where it leads: that must not be somebody inside.
    let can_change = |path: &Path| view.changeable_above(path).is_some();
    if links.iter().any(|(link, _)| can_change(link)) || can_change(&real) {
        return false;
    }
    for (inside, target) in links {
        if matches!(view.ground(&inside), Ok(None)) {
            entries.push(Entry::Link { inside, target });
        }
    }
    if view.resolve(&real).is_none() {
        entries.push(Entry::read_only(unit(&real, search.home)));
    }
    if depth > 0
        && let Some(interpreter) = interpreter(&real)
        && view.program(&interpreter, search.path, search.cwd).is_err()
        && let Some(found) =
            candidates(&interpreter, search.path, search.cwd).into_iter().find(|path| is_program(path))
    {
        return add(&found, search, view, depth - 1, entries);
    }
    true
}

type Links = Vec<(PathBuf, PathBuf)>;

/// Follows a path to the end of its links, and lists these.
fn route(path: &Path) -> Option<(Links, PathBuf)> {
    let (mut path, mut links) = (path.to_path_buf(), Vec::new());
    while links.len() < MOST_LINKS {
        let mut above: Vec<_> = path.ancestors().collect();
        above.reverse();
        let Some(link) = above.into_iter().find(|part| part.is_symlink()) else { return Some((links, path)) };
        let target = fs::read_link(link).ok()?;
        // Beyond its last link, what is before a `..` is a folder: it can be taken away by its name.
        let next = plain(&link.parent()?.join(&target).join(path.strip_prefix(link).ok()?));
        links.push((link.to_path_buf(), target));
        path = next;
    }
    None
}

/// Takes `.` and `..` out of a path, and the slash at its end.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                // A link that stands before a `..` is not where its name is.
                plain = fs::canonicalize(&plain).unwrap_or(plain);
                plain.pop();
            }
            _ => {}
        }
    }
    plain
}

/// Returns what a program needs of its place: its package, or itself.
fn unit(program: &Path, home: Option<&Path>) -> PathBuf {
    if let Some(packages) = program.ancestors().filter(|part| part.ends_with(NODE_PACKAGES)).last() {
        return packages.to_path_buf();
    }
    let Some(folder) = program.parent() else { return program.to_path_buf() };
    let package = match folder.file_name().and_then(OsStr::to_str) {
        Some("bin" | "sbin") => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    let on_a_shelf = package.parent().is_some_and(|above| {
        above.components().any(|part| SHELVES.iter().any(|shelf| part.as_os_str() == *shelf))
    });
    let holds_home = home.is_some_and(|home| home.starts_with(package));
    let is_shelf = package.ends_with("share") || package.ends_with("lib");
    let has_settings = package.join("pyvenv.cfg").is_file();
    if (on_a_shelf && !is_shelf || has_settings) && !holds_home {
        package.to_path_buf()
    } else {
        program.to_path_buf()
    }
}

/// Returns the program that the first line of a script names.
fn interpreter(script: &Path) -> Option<OsString> {
    let mut head = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let program = words.next()?;
    if !program.ends_with(b"/env") {
        return Some(OsString::from_vec(program.to_vec()));
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    Some(OsString::from_vec(name.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;
    use crate::sandbox::Access;

    struct Home(TempDir);

    impl Home {
        fn program(&self, path: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn link(&self, path: &str, target: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(target, path).unwrap();
        }

        fn shown(&self, name: &str, path: &str, view: &View) -> Option<Vec<String>> {
            let path = OsString::from(format!("{0}/{path}:/usr/bin:/bin", self.0.path().display()));
            let search = Search { path: &path, cwd: Path::new("/"), home: Some(self.0.path()) };
            let entries = entries(name.as_ref(), search, view)?;
            let relative = |entry: &Entry| {
                let inside = entry.inside().strip_prefix(self.0.path()).unwrap().display().to_string();
                match entry {
                    Entry::Link { target, .. } => format!("{inside} -> {}", target.display()),
                    _ => inside,
                }
            };
            Some(entries.iter().map(relative).collect())
        }
    }

    fn system() -> View {
        let mut view = View::default();
        let blank = super::super::view::Blank { file: "/dev/null".into(), folder: "/nonexistent".into() };
        view.extend(super::super::system::entries(&blank));
        view
    }

    #[test]
    fn of_a_home_folder_is_shown_what_a_program_needs() {
        let (home, view) = (Home(TempDir::new().unwrap()), system());
        // As Node.js is installed by version managers.
        home.program(".nvm/versions/node/v20/bin/node-x", "");
        home.program(".nvm/versions/node/v20/lib/node_modules/@a/b/cli.js", "#!/usr/bin/env node-x\n");
        home.link(".nvm/versions/node/v20/bin/agent", "../lib/node_modules/@a/b/cli.js");
        assert_eq!(
            home.shown("agent", ".nvm/versions/node/v20/bin", &view).unwrap(),
            [
                ".nvm/versions/node/v20/bin/agent -> ../lib/node_modules/@a/b/cli.js",
                ".nvm/versions/node/v20/lib/node_modules",
                ".nvm/versions/node/v20",
            ]
        );
        // As programs install themselves.
        home.program(".local/share/agent/versions/1.2/launcher", "#!/bin/sh\n");
        home.link(".local/bin/agent", "../share/agent/versions/1.2/launcher");
        assert_eq!(
            home.shown("agent", ".local/bin", &view).unwrap(),
            [".local/bin/agent -> ../share/agent/versions/1.2/launcher", ".local/share/agent/versions/1.2"]
        );
        // As tools for Python do.
        home.program("tool/bin/agent", "");
        fs::write(home.0.path().join("tool/pyvenv.cfg"), "").unwrap();
        assert_eq!(home.shown("agent", "tool/bin", &view).unwrap(), ["tool"]);
    }

    #[test]
    fn where_there_is_no_sign_of_a_package_the_file_alone_is_shown() {
        let (home, view) = (Home(TempDir::new().unwrap()), system());
        for folder in ["bin", "", ".cargo/bin", ".local/bin", "scripts"] {
            let program = Path::new(folder).join("agent");
            home.program(program.to_str().unwrap(), "#!/bin/sh\n");
            assert_eq!(home.shown("agent", folder, &view).unwrap(), [program.to_str().unwrap()]);
        }
        assert_eq!(home.shown("missing", "bin", &view), None);
    }

    #[test]
    fn what_can_be_written_from_inside_decides_nothing() {
        let (home, mut view) = (Home(TempDir::new().unwrap()), system());
        home.program("private/bin/agent", "");
        home.link("tree/bin/agent", "../../private/bin/agent");
        let tree = home.0.path().join("tree");
        view.push(Entry::Shown { inside: tree.clone(), host: tree, access: Access::ReadWrite });
        assert_eq!(home.shown("agent", "tree/bin", &view), None);
    }
}
