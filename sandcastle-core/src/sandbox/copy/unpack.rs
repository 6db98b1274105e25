//! Takes an archive apart that somebody wrote who may wish us ill.
//!
//! Every folder is made here and opened from the one above it, never through a link, so nothing is written but below the
//! target, whatever the names in the archive are and in whatever order they come.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use tar::{Entry, EntryType};

use super::{Copied, CopyLimits};

/// The bits of a mode that are kept.
const MODE: u32 = 0o777;
/// What the owner of a folder needs to look after it.
const OWNER: u32 = 0o700;

/// Unpacks what has this name in the archive to `target`, which is made.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] when the archive is not as it should be or is too large, otherwise as the operating system
/// gives them. What was made by then is removed.
pub(super) fn unpack(archive: File, name: &OsStr, target: &Path, limits: CopyLimits) -> io::Result<Copied> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target_name = target.file_name().ok_or_else(|| bad("the target has no name"))?;
    // It gets its name when it is whole.
    let making = tempfile::Builder::new().prefix(".sandcastle-copy-").tempdir_in(folder)?;
    let root = Dir::open_ambient_dir(making.path(), ambient_authority())?;
    let mut unpacking = Unpacking {
        root,
        limits,
        bytes: 0,
        copied: Copied::default(),
        files: HashSet::new(),
        folders: Vec::new(),
    };
    for entry in tar::Archive::new(BufReader::new(archive)).entries()? {
        unpacking.entry(entry?, name)?;
    }
    let copied = unpacking.finish()?;
    let made = making.path().join("root");
    if copied.entries == 0 {
        return Err(bad("the archive is empty"));
    }
    // Not even an empty folder is written over, except one that somebody makes in this very moment.
    let target = folder.join(target_name);
    if fs::symlink_metadata(&target).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(made, target)?;
    Ok(copied)
}

fn bad(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

struct Unpacking {
    root: Dir,
    limits: CopyLimits,
    bytes: u64,
    copied: Copied,
    /// Files that were made, which a hard link may name.
    files: HashSet<PathBuf>,
    /// Folders that were made, with the modes that they get when all is done.
    folders: Vec<(PathBuf, u32)>,
}

impl Unpacking {
    fn entry<R: io::Read>(&mut self, mut entry: Entry<'_, R>, name: &OsStr) -> io::Result<()> {
        self.copied.entries += 1;
        if self.copied.entries > self.limits.entries {
            return Err(bad(format!("there are more than {} files", self.limits.entries)));
        }
        let below = below(&entry.path_bytes(), name)?;
        let path = Path::new("root").join(&below);
        let mode = entry.header().mode().unwrap_or(0o644) & MODE;
        match entry.header().entry_type() {
            EntryType::Directory => self.folder(path, mode),
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                self.file(&mut entry, path, mode)
            }
            EntryType::Symlink => {
                let to = entry.link_name_bytes().unwrap_or_default().into_owned();
                self.link(Path::new(OsStr::from_bytes(&to)), &path, below)
            }
            EntryType::Link => {
                let to = entry.link_name_bytes().unwrap_or_default().into_owned();
                let from = Path::new("root").join(self::below(&to, name)?);
                if !self.files.contains(&from) {
                    return Err(bad(format!("`{}` is a link to what was not copied", below.display())));
                }
                let (folder, last) = self.open_parent(&path)?;
                let (source, source_name) = self.open_parent(&from)?;
                source.hard_link(source_name, &folder, last)?;
                self.files.insert(path);
                Ok(())
            }
            _ => {
                self.leave_out(below);
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: PathBuf, mode: u32) -> io::Result<()> {
        let (folder, last) = self.open_parent(&path)?;
        let is_there = || folder.symlink_metadata(last).is_ok_and(|metadata| metadata.is_dir());
        match folder.create_dir(last) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_there() => {}
            made => made?,
        }
        self.folders.push((path, mode));
        Ok(())
    }

    fn file<R: io::Read>(&mut self, entry: &mut Entry<'_, R>, path: PathBuf, mode: u32) -> io::Result<()> {
        let size = entry.size();
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.limits.bytes {
            return Err(bad(format!("it is more than {} bytes", self.limits.bytes)));
        }
        let (folder, last) = self.open_parent(&path)?;
        let mut new = OpenOptions::new();
        new.write(true).create_new(true);
        let mut file = folder.open_with(last, &new)?.into_std();
        if io::copy(entry, &mut file)? != size {
            return Err(bad(format!("`{}` ends in the middle", path.display())));
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        self.files.insert(path);
        Ok(())
    }

    /// Makes a link that stays within what is copied; another is left out.
    fn link(&mut self, to: &Path, path: &Path, below: PathBuf) -> io::Result<()> {
        if !stays(to, &below) {
            self.leave_out(below);
            return Ok(());
        }
        let (folder, last) = self.open_parent(path)?;
        folder.symlink_contents(to, last)
    }

    fn leave_out(&mut self, below: PathBuf) {
        self.copied.entries -= 1;
        self.copied.left_out.push(below);
    }

    /// Opens the folder that a path is in, step by step and never through a link. A `tar` names folders before what is in them.
    fn open_parent<'a>(&self, path: &'a Path) -> io::Result<(Dir, &'a OsStr)> {
        let name = path.file_name().ok_or_else(|| bad("something has no name"))?;
        let mut folder = self.root.try_clone()?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let part = Path::new(part.as_os_str());
            let is_folder = folder.symlink_metadata(part).is_ok_and(|metadata| metadata.is_dir());
            if !is_folder {
                return Err(bad(format!("`{}` is in what is no folder", path.display())));
            }
            // Nobody else knows the root, so what was a folder is one.
            folder = folder.open_dir(part)?;
        }
        Ok((folder, name))
    }

    /// Gives folders their modes, now that nothing more is written into them.
    fn finish(self) -> io::Result<Copied> {
        for (path, mode) in self.folders.iter().rev() {
            let permissions = cap_std::fs::Permissions::from_std(Permissions::from_mode(mode & MODE | OWNER));
            self.root.set_permissions(path, permissions)?;
        }
        Ok(self.copied)
    }
}

/// Returns a path in the archive as it is below what was asked for.
fn below(path: &[u8], name: &OsStr) -> io::Result<PathBuf> {
    let path = Path::new(OsStr::from_bytes(path));
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    let is_first = parts.next() == Some(Component::Normal(name));
    let rest: Vec<Component<'_>> = parts.collect();
    let is_plain = rest.iter().all(|part| matches!(part, Component::Normal(_)));
    match is_first && is_plain {
        true => Ok(rest.into_iter().collect()),
        false => Err(bad(format!("`{}` is not in what was asked for", path.display()))),
    }
}

/// Tells whether a link at `below` leads to a place in what is copied, whatever is there.
fn stays(to: &Path, below: &Path) -> bool {
    let mut depth = below.components().count().saturating_sub(1);
    // The root of what is copied may be the link itself.
    let is_root = below.as_os_str().is_empty();
    !is_root
        && to.components().all(|part| match part {
            Component::Normal(_) => {
                depth += 1;
                true
            }
            Component::CurDir => true,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => {
                    depth = less;
                    true
                }
                None => false,
            },
            Component::RootDir | Component::Prefix(_) => false,
        })
}
