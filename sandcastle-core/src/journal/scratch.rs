//! The scratch folder of a run: outside of the work tree, private, and there for a moment only.
//!
//! It has the schema that a program reads. A run removes its own; here is how it is called, and how what is left of a run that was
//! killed is removed. Since a journal is a claim, nothing goes but a folder of that name with nothing else in it.

use std::fs;
use std::io;
use std::path::Path;

use crate::id::RunId;

/// The only file in it.
pub(crate) const FILE: &str = "schema.json";

/// Returns the name of a run's scratch folder.
pub(crate) fn name(run: &RunId) -> String {
    format!("sandcastle-schema-{run}")
}

/// Tells whether there is a scratch folder of this run at `path`.
pub(super) fn is_there(path: &Path, run: &RunId) -> bool {
    let is_ours = path.is_absolute() && path.file_name().is_some_and(|found| *found == *name(run));
    is_ours && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Removes a scratch folder with its file.
///
/// # Errors
/// When it is no folder, or has more in it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    match fs::remove_file(path.join(FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir(path),
    }
}
