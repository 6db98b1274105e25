//! What programs inside see of the file system: a list in which later entries lie over earlier ones.
//!
//! It is written as arguments of `bwrap`, and walked as the kernel would walk it inside, so that it can be told beforehand
//! what is there. Nothing is changed here.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::sandbox::Access;

/// How many links are followed, as the kernel does.
const MOST_LINKS: usize = 40;

/// The file system as it is inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    entries: Vec<Entry>,
}

/// One thing that is seen inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A file or folder of the host.
    Shown { host: PathBuf, inside: PathBuf, access: Access },
    /// A symbolic link.
    Link { inside: PathBuf, target: PathBuf },
}

/// An empty file and an empty folder of the host, to be put over what must not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blank {
    pub(super) file: PathBuf,
    pub(super) folder: PathBuf,
}

impl Blank {
    /// Puts the one that fits over what is at `inside`; it stays empty.
    pub(super) fn over(&self, inside: PathBuf, what: &fs::Metadata) -> Entry {
        let host = if what.is_dir() { &self.folder } else { &self.file };
        Entry::Shown { host: host.clone(), inside, access: Access::ReadOnly }
    }
}

/// What is at a path, without a look at the file system behind it.
#[derive(Debug, PartialEq, Eq)]
enum At<'v> {
    /// A file or folder of the host, if there is one.
    Host(PathBuf),
    Link(&'v Path),
    /// A folder that is made for what is below it.
    Made,
    Nothing,
}

impl Entry {
    /// Shows something at the path that it has.
    pub(super) fn read_only(path: impl Into<PathBuf>) -> Self {
        let host = path.into();
        Self::Shown { inside: host.clone(), host, access: Access::ReadOnly }
    }

    pub(super) fn inside(&self) -> &Path {
        match self {
            Self::Shown { inside, .. } | Self::Link { inside, .. } => inside,
        }
    }

    fn add_arguments(&self, arguments: &mut Vec<OsString>) {
        let mut add = |flag: &str, operands: &[&Path]| {
            arguments.push(flag.into());
            arguments.extend(operands.iter().map(|operand| operand.as_os_str().to_owned()));
        };
        match self {
            Self::Shown { host, inside, access: Access::ReadOnly } => add("--ro-bind", &[host, inside]),
            Self::Shown { host, inside, access: Access::ReadWrite } => add("--bind", &[host, inside]),
            Self::Link { inside, target } => add("--symlink", &[target, inside]),
        }
    }
}

impl View {
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.extend(entries);
    }

    /// Writes the list as `bwrap` takes it.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::with_capacity(3 * self.entries.len());
        self.entries.iter().for_each(|entry| entry.add_arguments(&mut arguments));
        arguments
    }

    /// Returns the folder of the host above `host`, or itself, that can be changed from inside, if there is one.
    pub(super) fn changeable_above(&self, host: &Path) -> Option<&Path> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Shown { host: shown, access: Access::ReadWrite, .. } if host.starts_with(shown) => {
                Some(shown.as_path())
            }
            _ => None,
        })
    }

    /// Says where on the host something at `inside` is, or would be made: `None` where nothing of the host lies there.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when a link is in the way, which leads elsewhere inside and on the host.
    pub(super) fn ground(&self, inside: &Path) -> io::Result<Option<(PathBuf, Access)>> {
        let Some(Entry::Shown { host, inside: top, access }) = self.covering(inside) else { return Ok(None) };
        let ground = below(host, inside.strip_prefix(top).unwrap_or(Path::new("")));
        without_links(host, &ground)?;
        Ok(Some((ground, *access)))
    }

    /// Finds what a path inside leads to on the host, through all links; `None` if there is nothing.
    pub(super) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut ahead: VecDeque<OsString> = names(path);
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(name) = ahead.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            let Some(target) = self.link_at(&next).ok()? else {
                at = next;
                continue;
            };
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            let mut route = names(&target);
            route.append(&mut ahead);
            ahead = route;
        }
        match self.at(&at) {
            At::Host(host) if fs::symlink_metadata(&host).is_ok() => Some(host),
            _ => None,
        }
    }

    /// Returns where a link leads; `None` if there is something else, and an error if there is nothing.
    fn link_at(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match self.at(path) {
            At::Link(target) => Ok(Some(target.to_path_buf())),
            At::Made => Ok(None),
            At::Nothing => Err(io::ErrorKind::NotFound.into()),
            At::Host(host) => match fs::symlink_metadata(&host) {
                Ok(metadata) if metadata.is_symlink() => fs::read_link(&host).map(Some),
                Ok(_) => Ok(None),
                Err(_) if self.is_above_an_entry(path) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    fn at(&self, path: &Path) -> At<'_> {
        match self.covering(path) {
            Some(Entry::Shown { host, inside, .. }) => match path.strip_prefix(inside) {
                Ok(rest) => At::Host(below(host, rest)),
                Err(_) => At::Nothing,
            },
            Some(Entry::Link { inside, target }) if inside == path => At::Link(target),
            Some(_) => At::Nothing,
            None if path == Path::new("/") || self.is_above_an_entry(path) => At::Made,
            None => At::Nothing,
        }
    }

    fn covering(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| path.starts_with(entry.inside()))
    }

    fn is_above_an_entry(&self, path: &Path) -> bool {
        self.entries.iter().any(|entry| entry.inside().starts_with(path))
    }

    /// Finds a program as a shell inside would: its path inside.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none, [`io::ErrorKind::PermissionDenied`] when there is one that cannot be
    /// executed.
    pub(super) fn program(&self, name: &OsStr, search: &OsStr, cwd: &Path) -> io::Result<PathBuf> {
        let mut failure = io::ErrorKind::NotFound;
        for candidate in candidates(name, search, cwd) {
            match self.resolve(&candidate) {
                Some(host) if is_program(&host) => return Ok(candidate),
                Some(_) => failure = io::ErrorKind::PermissionDenied,
                None => {}
            }
        }
        let what =
            if failure == io::ErrorKind::NotFound { "there is no program" } else { "no one may execute" };
        Err(io::Error::new(failure, format!("{what} `{}` inside the sandbox", name.display())))
    }
}

/// Makes sure that no link stands on the way from a folder to what is below it.
pub(super) fn without_links(top: &Path, path: &Path) -> io::Result<()> {
    for part in path.ancestors().take_while(|part| *part != top) {
        if part.is_symlink() {
            let message = format!("`{}` is a link, where there must be none", part.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    }
    Ok(())
}

/// Joins without a slash at the end, which would make a folder of a file.
pub(super) fn below(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_path_buf() } else { folder.join(rest) }
}

/// Lists where a program is looked for: at its path, or in the folders of the search path.
pub(super) fn candidates(name: &OsStr, search: &OsStr, cwd: &Path) -> Vec<PathBuf> {
    if name.is_empty() {
        return Vec::new();
    }
    if name.as_bytes().contains(&b'/') {
        return vec![cwd.join(name)];
    }
    std::env::split_paths(search).map(|folder| cwd.join(folder).join(name)).collect()
}

/// Tells whether a file can be executed by this user.
pub(super) fn is_program(host: &Path) -> bool {
    let executable = || rustix::fs::access(host, rustix::fs::Access::EXEC_OK).is_ok();
    fs::metadata(host).is_ok_and(|metadata| metadata.is_file()) && executable()
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn shown(host: &Path, inside: &str, access: Access) -> Entry {
        Entry::Shown { host: host.to_path_buf(), inside: inside.into(), access }
    }

    #[test]
    fn the_arguments_are_in_the_order_of_the_list_and_carry_odd_names_whole() {
        let mut view = View::default();
        view.push(Entry::read_only("/usr"));
        view.push(Entry::Link { inside: "/bin".into(), target: "usr/bin".into() });
        view.push(shown(Path::new("/srv/--bind x\n"), "/work", Access::ReadWrite));
        let blank = Blank { file: "/blank".into(), folder: "/void".into() };
        view.push(blank.over("/work/hidden".into(), &fs::metadata("/").unwrap()));
        let expected = [
            "--ro-bind",
            "/usr",
            "/usr",
            "--symlink",
            "usr/bin",
            "/bin",
            "--bind",
            "/srv/--bind x\n",
            "/work",
            "--ro-bind",
            "/void",
            "/work/hidden",
        ];
        assert_eq!(view.arguments(), expected);
    }

    #[test]
    fn a_path_is_walked_as_it_is_inside_and_not_as_it_is_on_the_host() {
        let host = TempDir::new().unwrap();
        let top = host.path();
        fs::create_dir_all(top.join("tree/below")).unwrap();
        fs::write(top.join("tree/below/x"), "").unwrap();
        fs::create_dir(top.join("tools")).unwrap();
        fs::create_dir(top.join("void")).unwrap();
        fs::write(top.join("tools/program"), "").unwrap();
        fs::write(top.join("secret"), "").unwrap();
        symlink(top.join("secret"), top.join("tree/out")).unwrap();
        symlink("../secret", top.join("tree/up")).unwrap();
        symlink("/tools/program", top.join("tree/in")).unwrap();
        symlink("loop", top.join("tree/loop")).unwrap();
        let mut view = View::default();
        view.push(shown(&top.join("tree"), "/a/b/tree", Access::ReadWrite));
        view.push(shown(&top.join("tools"), "/tools", Access::ReadOnly));
        view.push(Entry::Link { inside: "/link".into(), target: "a/b/../b/tree".into() });
        view.push(shown(&top.join("void"), "/a/b/tree/below", Access::ReadOnly));
        let program = top.join("tools/program");
        assert_eq!(view.resolve(Path::new("/link/in")), Some(program));
        assert_eq!(view.resolve(Path::new("/a/b/tree")), Some(top.join("tree")));
        for nowhere in
            ["/a/b/tree/out", "/a/b/tree/up", "/a/b/tree/loop", "/a/b/tree/below/x", "/secret", "/a/x"]
        {
            assert_eq!(view.resolve(Path::new(nowhere)), None, "{nowhere}");
        }
        assert_eq!(view.changeable_above(&top.join("tree/x")), Some(top.join("tree").as_path()));
        assert_eq!(view.changeable_above(&top.join("tools")), None);
        assert_eq!(view.ground(Path::new("/nowhere")).unwrap(), None);
        let ground = view.ground(Path::new("/a/b/tree/new/x")).unwrap();
        assert_eq!(ground, Some((top.join("tree/new/x"), Access::ReadWrite)));
        assert!(view.ground(Path::new("/a/b/tree/out/x")).is_err());
    }
}
