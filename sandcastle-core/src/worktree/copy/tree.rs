//! The copying itself: folders, files and symbolic links below two roots.
//!
//! Both roots are held open and every path is resolved below them, so no symbolic link leads out, whenever it is made.
//! It works through a list and not through itself: a deep tree costs memory and no stack.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};

use super::{listed, shown};
use crate::error::{Error, ErrorKind, Result};

/// How much of a file is copied before it is looked whether to stop.
const CHUNK: u64 = 1024 * 1024;
/// The bits of a mode that are kept: no copy runs as another user.
const MODE: u32 = 0o777;
/// What the owner needs in order to fill a folder.
const OWNER: u32 = 0o700;

/// Copies `paths`, which are relative and lead nowhere upwards, until `stop` says so.
pub(super) fn copy_tree(from: &Path, to: &Path, paths: &[PathBuf], stop: &AtomicBool) -> Result<Vec<String>> {
    let open = |root: &Path| {
        Dir::open_ambient_dir(root, ambient_authority()).map_err(|error| {
            Error::new(ErrorKind::Copy, format!("open the work tree {}", shown(root))).with_source(error)
        })
    };
    let (from_dir, to_dir) = (open(from)?, open(to)?);
    // Everything is looked for before anything is copied.
    for path in paths {
        from_dir.symlink_metadata(path).map_err(|error| failed(path, from, error))?;
    }
    let mut copying = Copying { from: from_dir, to: to_dir, stop, folders: Vec::new(), left_out: Vec::new() };
    for path in paths {
        copying.copy(path).map_err(|(path, error)| failed(&path, from, error))?;
    }
    copying.finish_folders().map_err(|(path, error)| failed(&path, from, error))?;
    Ok(copying.notes())
}

struct Copying<'a> {
    from: Dir,
    to: Dir,
    stop: &'a AtomicBool,
    /// Folders that were filled, with the modes that they get when all is done.
    folders: Vec<(PathBuf, u32)>,
    left_out: Vec<PathBuf>,
}

type Failure = (PathBuf, io::Error);

impl Copying<'_> {
    fn copy(&mut self, path: &Path) -> Result<(), Failure> {
        let parents = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parents) = parents {
            self.to.create_dir_all(parents).map_err(|error| (path.to_path_buf(), error))?;
        }
        let mut waiting = vec![path.to_path_buf()];
        while let Some(next) = waiting.pop() {
            let copied = self.check_stop().and_then(|()| self.copy_one(&next, &mut waiting));
            match copied {
                Ok(()) => {}
                // Something below a folder that went away since the folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound && next != path => {}
                Err(error) => return Err((next, error)),
            }
        }
        Ok(())
    }

    fn copy_one(&mut self, path: &Path, waiting: &mut Vec<PathBuf>) -> io::Result<()> {
        let metadata = self.from.symlink_metadata(path)?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            let target = self.to.dir_metadata()?;
            if (metadata.dev(), metadata.ino()) == (target.dev(), target.ino()) {
                // A worktree may lie in a folder that is copied into it.
                self.left_out.push(path.to_path_buf());
                return Ok(());
            }
            self.make_folder(path)?;
            for entry in self.from.read_dir(path)? {
                waiting.push(path.join(entry?.file_name()));
            }
            self.folders.push((path.to_path_buf(), metadata.mode() & MODE));
            Ok(())
        } else if kind.is_file() {
            self.copy_file(path)
        } else if kind.is_symlink() {
            let target = self.from.read_link_contents(path)?;
            self.put(path, |to| to.symlink_contents(&target, path))
        } else {
            self.left_out.push(path.to_path_buf());
            Ok(())
        }
    }

    /// Makes a folder, or takes the one that is there.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        match self.to.symlink_metadata(path) {
            Ok(there) if there.is_dir() => self.set_mode(path, there.mode() & MODE | OWNER),
            _ => self.put(path, |to| to.create_dir(path)),
        }
    }

    fn copy_file(&self, path: &Path) -> io::Result<()> {
        let source = self.from.open(path)?.into_std();
        let metadata = source.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it changed while it was copied"));
        }
        let mut new = OpenOptions::new();
        new.write(true).create_new(true);
        let target = self.put(path, |to| to.open_with(path, &new))?.into_std();
        let filled = self.fill(&source, &target).and_then(|()| {
            target.set_permissions(Permissions::from_mode(metadata.permissions().mode() & MODE))?;
            target.set_modified(metadata.modified()?)
        });
        if filled.is_err() {
            // Half a file is worse than none.
            let _ = self.to.remove_file(path);
        }
        filled
    }

    fn fill(&self, source: &File, target: &File) -> io::Result<()> {
        if shares_content(source, target) {
            return Ok(());
        }
        // On Linux this shares content too where it can, and moves nothing through this process.
        while io::copy(&mut io::Read::take(source, CHUNK), &mut &*target)? > 0 {
            self.check_stop()?;
        }
        Ok(())
    }

    /// Puts something new at a place, instead of what is there unless that is a folder.
    fn put<T>(&self, path: &Path, make: impl Fn(&Dir) -> io::Result<T>) -> io::Result<T> {
        match make(&self.to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if self.to.symlink_metadata(path)?.is_dir() {
                    return Err(io::Error::other("a folder is in its way"));
                }
                self.to.remove_file(path)?;
                make(&self.to)
            }
            made => made,
        }
    }

    /// Gives the folders their modes, the inner ones first: one that cannot be written to could not be filled.
    fn finish_folders(&self) -> Result<(), Failure> {
        self.folders
            .iter()
            .rev()
            .try_for_each(|(path, mode)| self.set_mode(path, *mode).map_err(|error| (path.clone(), error)))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.to.set_permissions(path, cap_std::fs::Permissions::from_std(Permissions::from_mode(mode)))
    }

    fn check_stop(&self) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(io::Error::other("it was stopped")) } else { Ok(()) }
    }

    fn notes(&self) -> Vec<String> {
        if self.left_out.is_empty() {
            return Vec::new();
        }
        let listed = listed(&self.left_out);
        vec![format!(
            "not copied into the worktree, because it is no file, folder or link of its own: {listed}"
        )]
    }
}

/// Lets two files share their content until one is changed, if the file system can.
#[cfg(target_os = "linux")]
fn shares_content(source: &File, target: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_content(_: &File, _: &File) -> bool {
    false
}

fn failed(path: &Path, from: &Path, error: io::Error) -> Error {
    let shown_path = shown(path);
    if error.kind() == io::ErrorKind::NotFound {
        let from = shown(from);
        return Error::new(
            ErrorKind::Copy,
            format!("copy {shown_path} into the worktree: it is not in {from}"),
        )
        .with_hint("make it before the run, or take it out of `copy_to_worktree`");
    }
    Error::new(ErrorKind::Copy, format!("copy {shown_path} into the worktree: {error}")).with_source(error)
}
