//! The files of a work tree, byte for byte, in a git folder of our own.
//!
//! Everything that git would not ignore is in an index there, as it is on the disk: no attribute, filter or line ending of the
//! repository counts. What is clean in the repository's own index, and is not written in another way than it is kept, need not
//! be read for that. Objects are made in the repository, so that what was can be written again and what was undone be kept.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::unkept::Unkept;
use crate::error::{Error, ErrorKind, Result};
use crate::git::borrowed::Borrowed;
use crate::git::command::{Git, path_from};
use crate::git::{Repository, read_bounded, snapshot};

/// Files are taken as they are, whatever the repository says of them. An encoding cannot be refused, only left unsaid.
const ATTRIBUTES: &str = "* -text -filter -ident !working-tree-encoding !eol !crlf\n";
/// Lists tracked files that may be written in another way than they are kept.
const CONVERTED: [&str; 2] =
    [":(top)", ":(top,exclude,attr:!text !eol !crlf !filter !ident !working-tree-encoding)"];
/// How long lists of what is ignored may be.
const MAX_RULES: u64 = 16 * 1024 * 1024;
/// The largest file that is kept.
const MAX_FILE: u64 = 128 * 1024 * 1024;
/// How much is read of changed files, all together.
const MAX_ALL: u64 = 2 * 1024 * 1024 * 1024;

/// The files as they were.
#[derive(Debug)]
pub(super) struct Files {
    git: Git,
    top: PathBuf,
    /// The tree of the files.
    pub(super) tree: String,
    /// What is too large to be kept, and how it looked.
    large: BTreeSet<Large>,
    /// Who may do what with files that are in no commit, where that is not what git would say.
    modes: BTreeMap<PathBuf, u32>,
    folder: Borrowed,
}

/// A file that is too large to be kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Large {
    path: PathBuf,
    size: u64,
    changed: (i64, i64),
}

/// What is not what it was.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) changed: Option<Changed>,
    /// What has changed and is too large to be kept.
    pub(super) large: Vec<PathBuf>,
}

/// Files that are not what they were.
#[derive(Debug)]
pub(super) struct Changed {
    /// The tree of the files as they are now.
    pub(super) tree: String,
    pub(super) paths: Vec<PathBuf>,
    /// An index of that tree.
    index: PathBuf,
}

/// Paths that git names, by what is there.
#[derive(Debug, Default)]
struct Candidates {
    here: BTreeSet<PathBuf>,
    gone: BTreeSet<PathBuf>,
    large: BTreeSet<Large>,
}

impl Files {
    /// Looks at the files of the work tree that `repository` is aimed at. Each call of git may take `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git cannot read them, [`ErrorKind::Io`] when there are more bytes to be read than 2 GiB.
    pub(super) async fn of(repository: &Repository, limit: Duration) -> Result<Self> {
        let folder = Borrowed::from(repository).await?;
        let top = repository.top()?.to_path_buf();
        lay_out(folder.path(), repository).await?;
        let index = folder.path().join("index");
        take_index(repository, &index).await?;
        let git = folder.git_in(&top).timeout(limit);
        let (large, modes) = (BTreeSet::new(), BTreeMap::new());
        let mut files = Self { git, top, tree: String::new(), large, modes, folder };
        let git = files.with(&index);
        let mut paths = files.listed(&git, LISTED).await?;
        paths.extend(files.listed(&git, ["ls-files", "-z", "--unmerged"]).await?);
        paths.extend(converted(repository, limit).await?);
        // An agent may have told git not to look at them.
        paths.extend(repository.hidden().await?.files);
        let candidates = Candidates::of(&files.top, paths)?;
        candidates.enter(&git, &files.top).await?;
        files.tree = tree_of(&git).await?;
        files.modes = candidates.modes(&files.top);
        files.large = candidates.large;
        Ok(files)
    }

    /// Looks at what is kept nowhere: what is ignored, and other repositories.
    pub(super) async fn unkept(&self, ours: &Path, repositories: Vec<PathBuf>) -> Result<Unkept> {
        Unkept::of(&self.with(&self.index()), &self.top, ours, repositories).await
    }

    /// Looks what has changed since.
    pub(super) async fn look(&self) -> Result<Look> {
        let then = self.with(&self.index());
        let candidates = Candidates::of(&self.top, self.listed(&then, LISTED).await?)?;
        let is_other = |large: &&Large| Large::at(&self.top, &large.path).as_ref() != Some(*large);
        let before = self.large.iter().filter(is_other);
        let large: BTreeSet<&PathBuf> =
            before.chain(candidates.large.difference(&self.large)).map(|large| &large.path).collect();
        let large = large.into_iter().cloned().collect();
        Ok(Look { changed: self.changed(&candidates).await?, large })
    }

    async fn changed(&self, candidates: &Candidates) -> Result<Option<Changed>> {
        if candidates.here.is_empty() && candidates.gone.is_empty() {
            return Ok(None);
        }
        let index = self.index().with_extension("now");
        fs::copy(self.index(), &index)
            .map_err(|error| Error::new(ErrorKind::Io, "copy an index").with_source(error))?;
        let now = self.with(&index);
        candidates.enter(&now, &self.top).await?;
        let tree = tree_of(&now).await?;
        if tree == self.tree {
            return Ok(None);
        }
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", &self.tree, &tree];
        let names = self.git.does("compare the files", args).await?.stdout;
        Ok(Some(Changed { tree, paths: paths(&names), index }))
    }

    /// Writes the files as they were, or none of them: git refuses as a whole if one was changed meanwhile.
    pub(super) async fn write(&self, changed: &Changed) -> Result<()> {
        let is_in_the_way =
            |path: &&PathBuf| found(&self.top, path).is_some() && seen(&self.top, path).is_none();
        for odd in changed.paths.iter().filter(is_in_the_way) {
            // A pipe or the like holds nothing, and git would not write over it.
            let _ = fs::remove_file(self.top.join(odd));
        }
        let git = self.with(&changed.index);
        // Ends with 1 where a file was changed, which the next call finds.
        git.ask(["update-index", "-q", "--refresh"]).await?;
        let args = ["read-tree", "-m", "-u", &changed.tree, &self.tree];
        git.to_its_end().does("write the files as they were", args).await?;
        for (path, mode) in changed.paths.iter().filter_map(|path| self.modes.get_key_value(path)) {
            // One that was a link, or is none of git's any more, has no say about others.
            if seen(&self.top, path).is_some_and(|found| found.is_file()) {
                let _ = fs::set_permissions(self.top.join(path), fs::Permissions::from_mode(*mode));
            }
        }
        fs::rename(&changed.index, self.index())
            .map_err(|error| Error::new(ErrorKind::Io, "keep an index").with_source(error))
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn with(&self, index: &Path) -> Git {
        self.git.clone().env("GIT_INDEX_FILE", index)
    }

    async fn listed<const N: usize>(&self, git: &Git, args: [&str; N]) -> Result<Vec<PathBuf>> {
        let listing = git.does("list the changed files", args).await?.stdout;
        // Of what is not merged each line has more than a name.
        let lines = listing.split(|byte| *byte == 0);
        let names = lines.map(|line| match line.iter().position(|byte| *byte == b'\t') {
            Some(tab) if args.contains(&"--unmerged") => &line[tab + 1..],
            _ => line,
        });
        Ok(names.filter(|name| !name.is_empty() && !name.ends_with(b"/")).map(path_from).collect())
    }
}

/// Lists what is not as it is in an index.
const LISTED: [&str; 6] = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];

impl Candidates {
    /// # Errors
    /// [`ErrorKind::Io`] when there is more to be read than we are ready to read.
    fn of(top: &Path, paths: Vec<PathBuf>) -> Result<Self> {
        let mut candidates = Self::default();
        let mut left = MAX_ALL;
        for path in paths {
            match seen(top, &path) {
                None => drop(candidates.gone.insert(path)),
                Some(found) if found.is_dir() => {}
                Some(found) if found.is_file() && found.len() > MAX_FILE => {
                    candidates.large.extend(Large::at(top, &path));
                }
                Some(found) => {
                    left = left.checked_sub(found.len()).ok_or_else(|| {
                        let what = format!("look at what has changed: more than {MAX_ALL} bytes");
                        Error::new(ErrorKind::Io, what)
                    })?;
                    candidates.here.insert(path);
                }
            }
        }
        Ok(candidates)
    }

    /// Lists the files that more, or fewer, may read and write than git would let.
    fn modes(&self, top: &Path) -> BTreeMap<PathBuf, u32> {
        let mode = |path: &PathBuf| {
            let found = seen(top, path).filter(fs::Metadata::is_file)?;
            let mode = found.permissions().mode() & 0o777;
            (!matches!(mode, 0o644 | 0o755)).then(|| (path.clone(), mode))
        };
        self.here.iter().filter_map(mode).collect()
    }

    /// Brings them into an index, whatever stood there in their places.
    async fn enter(&self, git: &Git, top: &Path) -> Result<()> {
        let ended = |path: &PathBuf| [path.as_os_str().as_bytes(), b"\0"].concat();
        let here: Vec<u8> = self.here.iter().flat_map(ended).collect();
        // What is taken for clean would not be read, so it is taken out as well.
        let gone = self.gone.iter().flat_map(ended).chain(here.iter().copied()).collect();
        snapshot::enter(git, top, gone, here).await
    }
}

impl Large {
    fn at(top: &Path, path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = seen(top, path)?;
        let changed = (found.ctime(), found.ctime_nsec());
        Some(Self { path: path.to_path_buf(), size: found.len(), changed })
    }
}

/// Looks at what git can keep, or go into.
fn seen(top: &Path, path: &Path) -> Option<fs::Metadata> {
    found(top, path).filter(|found| found.is_file() || found.is_symlink() || found.is_dir())
}

/// Looks at whatever is there, unless it is in a folder to which a link leads.
fn found(top: &Path, path: &Path) -> Option<fs::Metadata> {
    let mut folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let is_folder = |folder: &Path| top.join(folder).symlink_metadata().is_ok_and(|found| found.is_dir());
    folders.all(is_folder).then(|| top.join(path).symlink_metadata().ok()).flatten()
}

/// Has the folder ignore what the repository ignores, and nothing else be as the repository wants it.
async fn lay_out(folder: &Path, repository: &Repository) -> Result<()> {
    let mut rules = Vec::new();
    let listing = repository.git().listing().await?;
    let named = listing.own_value("core.excludesfile").map(OsStr::from_bytes).map(Path::new);
    let named = named.map(|path| repository.top().map(|top| top.join(path))).transpose()?;
    let write = || {
        for file in named.into_iter().chain([repository.common_dir().join("info/exclude")]) {
            rules.extend(read_bounded(&file, MAX_RULES)?.unwrap_or_default());
            rules.push(b'\n');
        }
        fs::create_dir_all(folder.join("info"))?;
        fs::write(folder.join("info/exclude"), &rules)?;
        fs::write(folder.join("info/attributes"), ATTRIBUTES)
    };
    write().map_err(|error: std::io::Error| {
        Error::new(ErrorKind::Io, "lay out a temporary git folder").with_source(error)
    })
}

/// Copies the repository's index, so that only files are read which are not clean.
async fn take_index(repository: &Repository, index: &Path) -> Result<()> {
    let own = repository.git_dir().join("index");
    if !fs::symlink_metadata(&own).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    fs::copy(&own, index).map_err(|error| Error::new(ErrorKind::Io, "copy the index").with_source(error))?;
    // A part of it may be in another file, which is beside the original.
    let git = repository.git().clone().env("GIT_INDEX_FILE", index);
    git.does("read the index", ["update-index", "--no-split-index"]).await.map(drop)
}

/// Lists tracked files that may be written in another way than they are kept: their bytes are known only by reading them.
async fn converted(repository: &Repository, limit: Duration) -> Result<Vec<PathBuf>> {
    let git = repository.git().clone().timeout(limit);
    let setting = git.ask(["config", "--get", "core.autocrlf"]).await?;
    let is_for_all = setting.line().is_some_and(|value| !value.eq_ignore_ascii_case("false"));
    let which = if is_for_all { &CONVERTED[..1] } else { &CONVERTED[..] };
    let args = ["ls-files", "-z", "--full-name", "--"].iter().chain(which);
    Ok(paths(&git.does("list the files", args).await?.stdout))
}

async fn tree_of(git: &Git) -> Result<String> {
    let answer = git.does("write the tree", ["write-tree"]).await?;
    Ok(answer.line().unwrap_or_default().to_owned())
}

fn paths(names: &[u8]) -> Vec<PathBuf> {
    names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_from).collect()
}
