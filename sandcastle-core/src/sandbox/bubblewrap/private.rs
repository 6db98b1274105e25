//! The folder on this host that belongs to one sandbox, and the places that were made for its mounts: all of it is gone when
//! the sandbox is.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// How often it is tried to remove the folder: processes that were killed take a moment to go.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// A folder that only its owner can enter.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: Option<TempDir>,
    places: Vec<PathBuf>,
}

impl PrivateFolder {
    /// Makes the folder, and in it a home folder, one for temporary files, and an empty file.
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sandcastle-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()?;
        let private = Self { folder: Some(folder), places: Vec::new() };
        for folder in [private.home(), private.temporary()] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        File::options().write(true).create_new(true).mode(0o444).open(private.blank())?;
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

    pub(super) fn blank(&self) -> PathBuf {
        self.path().join("blank")
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
            if fs::remove_dir_all(&path).is_ok() || !path.exists() {
                return;
            }
            make_removable(&path);
            std::thread::sleep(PAUSE);
        }
        tracing::warn!(folder = %path.display(), "the private folder of a sandbox could not be removed");
    }
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
}
