//! The folder on this host that belongs to one sandbox, and the places that were made for its mounts: all of it is gone when
//! the sandbox is.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::view::Blank;

/// How often it is tried to remove the folder: processes that were killed take a moment to go.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// What the names of such folders begin with.
const PREFIX: &str = "sandcastle-bwrap-";
/// The file in it that its owner holds a lock on, which the kernel lets go of when the owner is killed.
const LOCK: &str = "lock";

/// A folder that only its owner can enter.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: Option<TempDir>,
    _lock: File,
    places: Vec<PathBuf>,
}

impl PrivateFolder {
    /// Makes the folder, and in it a home folder, one for temporary files, and something empty. What others have left that were
    /// killed is removed.
    pub(super) fn new() -> io::Result<Self> {
        let above = fs::canonicalize(std::env::temp_dir())?;
        remove_abandoned(&above);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(above)?;
        // It gets its name when it is locked: without a lock of that name a folder is not taken for abandoned.
        let lock = File::create_new(folder.path().join("new"))?;
        lock.lock()?;
        fs::rename(folder.path().join("new"), folder.path().join(LOCK))?;
        let private = Self { folder: Some(folder), _lock: lock, places: Vec::new() };
        for folder in [private.home(), private.temporary()] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        let Blank { file, folder } = private.blank();
        File::options().write(true).create_new(true).mode(0o444).open(file)?;
        DirBuilder::new().mode(0o555).create(folder)?;
        Ok(private)
    }

    fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new("/nonexistent"), TempDir::path)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Returns the empty file and the empty folder.
    pub(super) fn blank(&self) -> Blank {
        Blank { file: self.path().join("blank"), folder: self.path().join("void") }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.path().join("proxy")
    }

    /// Makes the place of a mount where there is none, like `model`: a folder or an empty file. It is removed in the end,
    /// unless something was put into it.
    pub(super) fn make_place(&mut self, place: &Path, model: &Path) -> io::Result<()> {
        if fs::symlink_metadata(place).is_ok() {
            return Ok(());
        }
        let missing: Vec<_> =
            place.ancestors().skip(1).take_while(|folder| fs::symlink_metadata(folder).is_err()).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.places.push(folder.to_path_buf());
        }
        if fs::metadata(model)?.is_dir() {
            fs::create_dir(place)?;
        } else {
            File::create_new(place)?;
        }
        self.places.push(place.to_path_buf());
        Ok(())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        for place in self.places.iter().rev() {
            let is_empty = fs::symlink_metadata(place).is_ok_and(|found| found.is_file() && found.len() == 0);
            let _ = if is_empty { fs::remove_file(place) } else { fs::remove_dir(place) };
        }
        let Some(folder) = self.folder.take() else { return };
        let path = folder.keep();
        for _ in 0..TRIES {
            if remove(&path) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        tracing::warn!(folder = %path.display(), "the private folder of a sandbox could not be removed");
    }
}

/// Removes the folders of owners that are gone. Only our own user's are looked at.
fn remove_abandoned(above: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let is_ours = || entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes())
            && is_ours()
            && let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            remove(&entry.path());
        }
    }
}

/// Removes a folder, and tells whether it is gone.
fn remove(folder: &Path) -> bool {
    if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
        return true;
    }
    make_removable(folder);
    fs::remove_dir_all(folder).is_ok()
}

/// Takes back the rights to folders that were closed from inside, as some tools do with what they fetch.
fn make_removable(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_it_not_even_what_was_closed() {
        let outside = TempDir::new().unwrap();
        let mut private = PrivateFolder::new().unwrap();
        let path = private.path().to_path_buf();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let closed = private.home().join("go/pkg");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        private.make_place(&outside.path().join("a/b/folder"), Path::new("/")).unwrap();
        private.make_place(&outside.path().join("a/file"), Path::new("/etc/passwd")).unwrap();
        private.make_place(&outside.path().join("kept/folder"), Path::new("/")).unwrap();
        fs::write(outside.path().join("kept/work"), "x").unwrap();
        assert!(outside.path().join("a/file").is_file() && outside.path().join("a/b/folder").is_dir());
        drop(private);
        assert!(!path.exists());
        let left: Vec<_> =
            fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["kept"]);
    }

    #[test]
    fn the_folder_of_an_owner_that_was_killed_is_removed_by_the_next() {
        let above = TempDir::new().unwrap();
        let folder = |name: &str| {
            let folder = above.path().join(name);
            fs::create_dir_all(folder.join("home")).unwrap();
            folder
        };
        let abandoned = folder("sandcastle-bwrap-abandoned");
        File::create(abandoned.join(LOCK)).unwrap();
        let held = folder("sandcastle-bwrap-held");
        let lock = File::create(held.join(LOCK)).unwrap();
        lock.lock().unwrap();
        let (new, other) = (folder("sandcastle-bwrap-new"), folder("other"));
        File::create(other.join(LOCK)).unwrap();
        remove_abandoned(above.path());
        assert_eq!([abandoned, held, new, other].map(|folder| folder.exists()), [false, true, true, true]);
    }
}
