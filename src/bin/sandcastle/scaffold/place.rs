//! Putting a scaffold into its folder: all of it or nothing, and never over something that is there.
//!
//! A folder that only runs have used, with logs, journals, worktrees and an `.env`, is no obstacle. A link is: whoever made
//! it would choose where the files land.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::File;
use super::file_list::MANIFEST;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where GitHub looks for workflows.
const WORKFLOWS: &str = ".github/workflows";

/// The folder that a scaffold goes into.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not there.
    Absent,
    /// It is there, and no scaffold is in it.
    Used,
}

impl Place {
    /// Looks at the folder; one that holds a scaffold is refused.
    pub(crate) fn find(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display();
        let state = match folder.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::Absent,
            Err(error) => return Err(Failure::input(format_args!("look at `{shown}`"), error)),
            Ok(it) if !it.is_dir() => return Err(refused(folder, "it is not a folder")),
            Ok(_) if folder.join(MANIFEST.0).symlink_metadata().is_ok() => {
                return Err(refused(folder, "it holds a scaffold already")
                    .with_hint("change it by hand, or move it away and begin again"));
            }
            Ok(_) => State::Used,
        };
        Ok(Self { folder: folder.to_path_buf(), state })
    }

    /// Refuses what is in the way of these files. A file with the same content is not.
    pub(crate) fn check(&self, files: &[File]) -> Result<(), Failure> {
        let in_the_way: Vec<String> = files
            .iter()
            .filter(|file| is_in_the_way(&self.folder, file))
            .map(|file| format!("`{}`", file.path.display()))
            .collect();
        if in_the_way.is_empty() {
            return Ok(());
        }
        Err(refused(&self.folder, &format!("there are {} in it", in_the_way.join(", ")))
            .with_hint("move them away and begin again"))
    }

    /// Writes the files, or none of them.
    pub(crate) fn fill(&self, files: &[File]) -> Result<(), Failure> {
        self.check(files)?;
        let written = match self.state {
            State::Absent => self.make(files),
            State::Used => self.add(files),
        };
        written.map_err(|error| Failure::io(format_args!("write `{}`", self.folder.display()), error))
    }

    /// Makes the folder beside its place, and moves it there as a whole.
    fn make(&self, files: &[File]) -> io::Result<()> {
        let beside = self.folder.parent().unwrap_or(&self.folder);
        let made = tempfile::Builder::new()
            .prefix(".sandcastle-new-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(beside)?;
        for file in files {
            let path = made.path().join(&file.path);
            fs::create_dir_all(path.parent().unwrap_or(made.path()))?;
            fs::write(path, &file.content)?;
        }
        // An empty folder would be replaced, one with anything in it is not.
        fs::rename(made.path(), &self.folder)?;
        let _ = made.keep();
        Ok(())
    }

    /// Adds the files one by one, and takes them away again if one fails.
    fn add(&self, files: &[File]) -> io::Result<()> {
        let mut added = Vec::new();
        for file in files {
            if let Err(error) = self.add_one(file, &mut added) {
                take_away(&added);
                return Err(error);
            }
        }
        Ok(())
    }

    fn add_one(&self, file: &File, added: &mut Vec<PathBuf>) -> io::Result<()> {
        let path = self.folder.join(&file.path);
        let parent = path.parent().unwrap_or(&self.folder);
        if !parent.exists() {
            fs::create_dir(parent)?;
            added.push(parent.to_path_buf());
        }
        if !path.exists() {
            write_new(&path, &file.content)?;
            added.push(path);
        }
        Ok(())
    }
}

/// Writes the workflow, unless there is one of that name. Returns where it is, if it was written.
pub(crate) fn write_workflow(repository: &Path, content: &str) -> Result<Option<PathBuf>, Failure> {
    let relative = Path::new(".github/workflows/sandcastle.yml");
    let path = repository.join(relative);
    let failed = |error| Failure::io(format_args!("write `{}`", relative.display()), error);
    if path.symlink_metadata().is_ok() {
        return Ok(None);
    }
    check_no_links(repository).map_err(failed)?;
    fs::create_dir_all(path.parent().unwrap_or(repository)).map_err(failed)?;
    write_new(&path, content).map_err(failed)?;
    Ok(Some(relative.to_path_buf()))
}

/// Writes workflows, or none of them if one of another content is there. Returns those that were written.
pub(crate) fn write_workflows(repository: &Path, files: &[File]) -> Result<Vec<PathBuf>, Failure> {
    let folder = repository.join(WORKFLOWS);
    let failed = |error| Failure::io(format_args!("write `{WORKFLOWS}`"), error);
    check_no_links(repository).map_err(failed)?;
    let in_the_way: Vec<String> = files
        .iter()
        .filter(|file| is_in_the_way(repository, file))
        .map(|file| format!("`{}`", file.path.display()))
        .collect();
    if !in_the_way.is_empty() {
        return Err(refused(&folder, &format!("there are {}", in_the_way.join(", ")))
            .with_hint("move them away and begin again"));
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    add_all(repository, files).map_err(failed)
}

/// Adds those files to `.sandcastle/` that are not there; whatever is there stays.
pub(crate) fn add_missing(folder: &Path, files: &[File]) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::io(format_args!("write `{}`", folder.display()), error);
    match folder.symlink_metadata() {
        Ok(it) if !it.is_dir() => return Err(refused(folder, "it is not a folder")),
        _ => fs::create_dir_all(folder).map_err(failed)?,
    }
    let missing = files.iter().filter(|file| folder.join(&file.path).symlink_metadata().is_err());
    add_all(folder, &missing.cloned().collect::<Vec<_>>()).map_err(failed)
}

/// Writes files that are not there, and takes them away again if one fails. Returns those that were written.
fn add_all(folder: &Path, files: &[File]) -> io::Result<Vec<PathBuf>> {
    let (mut added, mut written) = (Vec::new(), Vec::new());
    for file in files {
        let path = folder.join(&file.path);
        if path.exists() {
            continue;
        }
        if let Err(error) = write_new(&path, &file.content) {
            take_away(&added);
            return Err(error);
        }
        added.push(path);
        written.push(file.path.clone());
    }
    Ok(written)
}

/// Refuses a folder of workflows that is elsewhere.
fn check_no_links(repository: &Path) -> io::Result<()> {
    let is_link = |folder: &&str| repository.join(folder).is_symlink();
    match [".github", WORKFLOWS].into_iter().find(is_link) {
        Some(link) => Err(io::Error::other(format!("`{link}` is a link"))),
        None => Ok(()),
    }
}

/// Writes a file that must not be there; nobody ever sees a part of it.
fn write_new(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

fn take_away(added: &[PathBuf]) {
    for path in added.iter().rev() {
        let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    }
}

/// Tells whether something else is where a file is to be, or where its folder is to be.
fn is_in_the_way(folder: &Path, file: &File) -> bool {
    let path = folder.join(&file.path);
    let is_no_folder = |path: &Path| path.symlink_metadata().is_ok_and(|it| !it.is_dir());
    if path.parent().is_some_and(is_no_folder) {
        return true;
    }
    match path.symlink_metadata() {
        Err(_) => false,
        Ok(it) => !it.is_file() || fs::read(&path).ok().as_deref() != Some(file.content.as_bytes()),
    }
}

fn refused(folder: &Path, why: &str) -> Failure {
    Failure::of_kind(Exit::Usage, "usage", format_args!("make `{}`: {why}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn files(names: &[&str]) -> Vec<File> {
        names.iter().map(|name| File { path: name.into(), content: format!("of {name}") }).collect()
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_folder_that_is_not_there_is_made_in_one_step() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".sandcastle");
        let place = Place::find(&folder).unwrap();
        place.fill(&files(&["src/main.rs", ".gitignore", "Cargo.toml"])).unwrap();
        assert_eq!(names_in(&folder), [".gitignore", "Cargo.toml", "src"]);
        assert_eq!(names_in(home.path()), [".sandcastle"]);
        assert_eq!(fs::read_to_string(folder.join("src/main.rs")).unwrap(), "of src/main.rs");
        let refused = Place::find(&folder).unwrap_err();
        assert!(refused.text.contains("a scaffold already"), "{}", refused.text);
    }

    #[test]
    fn w_46_a_second_try_after_a_failure_finds_nothing_in_its_way() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".sandcastle");
        // A file cannot be made in a file.
        let wrong = files(&["a", "src/main.rs", "a/b"]);
        for state in ["absent", "used"] {
            let failure = Place::find(&folder).unwrap().fill(&wrong).unwrap_err();
            assert_eq!(failure.exit, Exit::Failed, "{state}: {}", failure.text);
            let left = if state == "absent" { vec![] } else { vec![".sandcastle".to_owned()] };
            assert_eq!(names_in(home.path()), left);
            fs::create_dir_all(folder.join("logs")).unwrap();
        }
        assert_eq!(names_in(&folder), ["logs"]);
        Place::find(&folder).unwrap().fill(&files(&["a", "src/main.rs", "Cargo.toml"])).unwrap();
        assert_eq!(names_in(&folder), ["Cargo.toml", "a", "logs", "src"]);
    }

    #[test]
    fn what_is_there_stays_and_what_is_the_same_is_no_obstacle() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".sandcastle");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(".env"), "KEY=1").unwrap();
        fs::write(folder.join("a"), "of a").unwrap();
        fs::write(folder.join("b"), "mine").unwrap();
        let place = Place::find(&folder).unwrap();
        let failure = place.fill(&files(&["a", "b", "Cargo.toml"])).unwrap_err();
        assert!(failure.text.contains("`b`") && !failure.text.contains("`a`"), "{}", failure.text);
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(names_in(&folder), [".env", "a", "b"]);
        place.fill(&files(&["a", "Cargo.toml"])).unwrap();
        assert_eq!(fs::read_to_string(folder.join(".env")).unwrap(), "KEY=1");
    }

    #[test]
    fn links_are_not_followed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = home.path().join(".sandcastle");
        symlink(elsewhere.path(), &folder).unwrap();
        assert!(Place::find(&folder).is_err());
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(elsewhere.path(), folder.join("src")).unwrap();
        assert!(Place::find(&folder).unwrap().fill(&files(&["src/main.rs"])).is_err());
        symlink(elsewhere.path(), home.path().join(".github")).unwrap();
        assert!(write_workflow(home.path(), "text").is_err());
        assert_eq!(names_in(elsewhere.path()), [""; 0]);
    }
}
