//! A git folder of our own that works with the objects of a repository.
//!
//! None of the repository's configuration, attributes, hooks or references exist in it, so nothing in the repository can
//! steer what git does there. Objects that are made there are made in the repository. The folder is removed when it is
//! dropped.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::access;
use super::command::{Configuration, Git};
use super::overrides::{Key, Overrides};
use super::repository::Repository;
use super::wall::read_bounded;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Token;

/// How git fetches into a folder of ours: nothing but what is asked for, and nothing afterwards. More options may follow, then
/// `--`, an address and what to fetch.
pub(super) const FETCH: [&str; 9] = [
    "-c",
    "fetch.writeCommitGraph=false",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-show-forced-updates",
];
/// How long the list of commits may be at which a shallow clone ends.
const MAX_SHALLOW: u64 = 16 * 1024 * 1024;

/// A temporary git folder over the objects of a repository.
#[derive(Debug)]
pub(crate) struct Borrowed {
    folder: TempDir,
    git: Git,
    /// The folder of the objects, and what is carried of the repository's settings.
    objects: PathBuf,
    settings: Overrides,
}

impl Borrowed {
    /// Makes the folder.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the repository cannot be read, [`ErrorKind::Io`] when the folder cannot be made.
    pub(crate) async fn from(repository: &Repository) -> Result<Self> {
        let listing = repository.git().listing().await?;
        let settings = Overrides::carried(&listing.output, is_carried);
        let format = listing.own_value("extensions.objectformat").unwrap_or(b"sha1");
        let folder = lay_out(format, repository.common_dir())
            .map_err(|error| Error::new(ErrorKind::Io, "make a temporary git folder").with_source(error))?;
        let objects = repository.common_dir().join("objects");
        let git = aimed(repository.home(), folder.path(), &objects, &settings);
        Ok(Self { folder, git, objects, settings })
    }

    /// Has a token sent to the address and nothing else: no header of the repository's, and not to where the address leads on.
    pub(super) fn opened_by(mut self, token: &Token, address: &str) -> Self {
        if let Some(grant) = access::grant(token, address) {
            self.settings.replace(access::is_header, grant);
            self.git = self.git.configuration(Configuration::Ours(self.settings.clone()));
        }
        self
    }

    /// Returns the folder.
    #[cfg(feature = "review")]
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// As [`Borrowed::from`], with the branches of the repository, so that only what it does not have is fetched.
    pub(super) async fn knowing(repository: &Repository) -> Result<Self> {
        let borrowed = Self::from(repository).await?;
        let args =
            ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes", "refs/tags"];
        borrowed.set_references(&repository.git().does("list the branches", args).await?.stdout)?;
        Ok(borrowed)
    }

    /// Makes a folder that has the objects in `objects` and makes new ones in itself, to be fetched from.
    pub(super) async fn passage(repository: &Repository, objects: &[PathBuf]) -> Result<(TempDir, Git)> {
        let Self { folder, git, .. } = Self::from(repository).await?;
        let lines =
            objects.iter().flat_map(|folder| [folder.as_os_str().as_bytes(), b"\n"]).collect::<Vec<_>>();
        let write = || {
            fs::create_dir_all(folder.path().join("objects/info"))?;
            fs::write(folder.path().join("objects/info/alternates"), lines.concat())
        };
        write()
            .map_err(|error| Error::new(ErrorKind::Io, "make a temporary git folder").with_source(error))?;
        let git = git.env("GIT_OBJECT_DIRECTORY", folder.path().join("objects"));
        Ok((folder, git))
    }

    /// Returns git, aimed at the folder.
    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns git, aimed at the folder and at a work tree. No index is named.
    pub(super) fn git_in(&self, top: &Path) -> Git {
        let content = [".gitignore", ".gitattributes"].map(|file| top.join(file));
        aimed(top, self.path(), &self.objects, &self.settings).env("GIT_WORK_TREE", top).reads_first(content)
    }

    /// Returns the folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the references of the folder: lines of an object id and a name.
    fn set_references(&self, lines: &[u8]) -> Result<()> {
        fs::write(self.folder.path().join("packed-refs"), lines).map_err(|error| {
            Error::new(ErrorKind::Io, "write references to a temporary git folder").with_source(error)
        })
    }
}

fn aimed(cwd: &Path, folder: &Path, objects: &Path, settings: &Overrides) -> Git {
    Git::at(cwd)
        .env("GIT_DIR", folder)
        .env("GIT_OBJECT_DIRECTORY", objects)
        .configuration(Configuration::Ours(settings.clone()))
}

/// Names the settings that are as much the repository's as its objects, and cannot make git run anything.
fn is_carried(key: Key<'_>) -> bool {
    match (key.section, key.name) {
        ("core", "sharedrepository" | "compression" | "bigfilethreshold") => true,
        ("merge", "renames" | "renamelimit" | "directoryrenames") => key.subsection.is_none(),
        // How build servers hand over their access to a remote.
        _ => access::is_header(key),
    }
}

/// Reads the list of commits at which the history of a shallow clone ends; `None` when it is whole.
pub(super) fn read_shallow(git_dir: &Path) -> std::io::Result<Option<Vec<u8>>> {
    read_bounded(&git_dir.join("shallow"), MAX_SHALLOW)
}

fn lay_out(format: &[u8], common_dir: &Path) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("sandcastle-git-").tempdir()?;
    let root = folder.path();
    fs::create_dir(root.join("refs"))?;
    fs::create_dir(root.join("objects"))?;
    fs::write(root.join("HEAD"), "ref: refs/heads/nothing\n")?;
    let config = match format {
        b"sha1" => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        b"sha256" => {
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
        }
        other => {
            let other = String::from_utf8_lossy(other);
            return Err(std::io::Error::other(format!("the format of objects `{other:.20}` is not known")));
        }
    };
    fs::write(root.join("config"), config)?;
    if let Some(shallow) = read_shallow(common_dir)? {
        fs::write(root.join("shallow"), shallow)?;
    }
    Ok(folder)
}
