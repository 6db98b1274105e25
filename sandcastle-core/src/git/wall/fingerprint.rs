//! What git of the host reads in a repository, reduced to names and digests.
//!
//! Files are read here; what a configuration file means is asked of git, which executes nothing for that.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::reading::Found;
use crate::error::Result;
use crate::git::command::Git;
use crate::git::overrides::{entries, is_of_repository};
use crate::git::repository::Repository;
use crate::git::submodules::nested_git_dir;

/// How long git may need to read a configuration; one that includes a pipe is never read to its end.
const CONFIG_LIMIT: Duration = Duration::from_secs(10);
/// How many files of a folder are looked at.
const MAX_ENTRIES: usize = 5000;
/// How deep folders of hooks and of submodules are looked into.
const MAX_DEPTH: usize = 8;

/// How many repositories in a work tree are looked into.
const MAX_NESTED: usize = 200;

/// The name of something git reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// A file, a folder or a link, wherever it is.
    Path(PathBuf),
    /// A key of a configuration file and of what that includes.
    Setting(PathBuf, Vec<u8>),
    /// A reference under which one object stands in the place of another.
    Replacement(Vec<u8>),
}

/// Digests by name. They are made with keys of this process, so that nobody can aim at one.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprint {
    pub(super) items: BTreeMap<Item, u64>,
    hasher: RandomState,
}

impl Fingerprint {
    /// Makes one to be compared with others of the same hasher.
    pub(super) fn like(other: &Self) -> Self {
        Self { items: BTreeMap::new(), hasher: other.hasher.clone() }
    }

    /// Takes the fingerprint of the repository, seen from the work tree that it is aimed at.
    pub(super) async fn take(&mut self, repository: &Repository) -> Result<()> {
        let common = repository.common_dir();
        if let Ok(top) = repository.top() {
            self.look_at(&top.join(".git"));
        }
        for name in ["", "hooks", "info", "objects", "objects/info", "worktrees", "modules"] {
            self.note_kind(&common.join(name));
        }
        for name in STEERING {
            self.look_at(&common.join(name));
        }
        self.look_into(&common.join("hooks"), 0);
        self.read_settings(repository).await?;
        for admin in self.folders_in(&common.join("worktrees")) {
            if admin != repository.git_dir() && is_being_made(&admin) {
                continue;
            }
            self.look_at(&admin.join("gitdir"));
            self.look_at(&admin.join("commondir"));
            self.read_file(&admin.join("config.worktree")).await?;
        }
        for module in self.modules_in(&common.join("modules"), 0) {
            self.look_into(&module.join("hooks"), 0);
            self.read_file(&module.join("config")).await?;
        }
        if let Ok(top) = repository.top() {
            self.read_nested(repository.git(), top, common).await?;
        }
        self.read_replacements(common).await
    }

    /// Reads what steers git in repositories that are part of the work tree, and are not those of submodules: git goes into
    /// each that is staged whenever it looks at the state of the whole.
    async fn read_nested(&mut self, git: &Git, top: &Path, common: &Path) -> Result<()> {
        let mut open = vec![(git.clone(), top.to_path_buf())];
        for _ in 0..MAX_NESTED {
            let Some((git, top)) = open.pop() else { break };
            let args = ["ls-files", "--stage", "-z"];
            // Where git cannot tell what is staged, the user's goes nowhere either.
            let listed = git.timeout(CONFIG_LIMIT).ask(args).await?;
            let nested = listed.stdout.split(|byte| *byte == 0).filter(|line| line.starts_with(b"160000 "));
            let paths = nested.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
            for folder in paths.map(|path| top.join(crate::git::path_from(path))) {
                let Some(own) = nested_git_dir(&folder).filter(|own| !own.starts_with(common)) else {
                    continue;
                };
                self.look_into(&own.join("hooks"), 0);
                self.read_file(&own.join("config")).await?;
                let git = Git::at(&folder).env("GIT_DIR", &own).env("GIT_WORK_TREE", &folder);
                open.push((git, folder));
            }
        }
        Ok(())
    }

    /// Reads the configuration that all work trees share, and the main work tree's own.
    async fn read_settings(&mut self, repository: &Repository) -> Result<()> {
        let common = repository.common_dir();
        let file = common.join("config");
        let readable = self.note_kind(&file) & self.note_kind(&common.join("config.worktree"));
        if !readable {
            return Ok(());
        }
        let listing = repository.beside_work_trees().timeout(CONFIG_LIMIT).listing().await?;
        let own = entries(&listing.output).filter(|(scope, ..)| is_of_repository(scope));
        self.note_settings(&file, own.map(|(_, key, value)| (key, value)));
        self.look_into_hooks_path(common, &listing.output);
        Ok(())
    }

    /// A folder of hooks outside of all work trees is looked into; one inside is content, which is reviewed as such.
    fn look_into_hooks_path(&mut self, common: &Path, listing: &[u8]) {
        let named = entries(listing)
            .filter(|(scope, key, _)| is_of_repository(scope) && *key == b"core.hookspath")
            .last();
        let Some((.., path)) = named else { return };
        let path = crate::git::path_from(path);
        if path.is_absolute() && !path.starts_with(common.parent().unwrap_or(common)) {
            self.look_into(&path, 0);
        }
    }

    /// Reads one configuration file.
    async fn read_file(&mut self, file: &Path) -> Result<()> {
        if !self.note_kind(file) || !file.exists() {
            return Ok(());
        }
        let folder = file.parent().unwrap_or(file);
        let git = Git::at(folder).env("GIT_DIR", folder).timeout(CONFIG_LIMIT);
        let args = ["config", "--list", "-z", "--show-scope", "--includes", "--file"];
        let args = args.iter().map(AsRef::as_ref).chain([file.as_os_str()]);
        let answer = git.does("read the repository's configuration", args).await?;
        self.note_settings(file, entries(&answer.stdout).map(|(_, key, value)| (key, value)));
        Ok(())
    }

    async fn read_replacements(&mut self, common: &Path) -> Result<()> {
        let git = Git::at(common).env("GIT_DIR", common).timeout(CONFIG_LIMIT);
        let args = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/replace"];
        let answer = git.does("list what replaces objects", args).await?;
        for line in answer.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let name = line.split(|byte| *byte == b' ').next().unwrap_or(line);
            self.items.insert(Item::Replacement(name.to_vec()), self.hasher.hash_one(line));
        }
        Ok(())
    }

    fn note_settings<'a>(&mut self, file: &Path, settings: impl Iterator<Item = (&'a [u8], &'a [u8])>) {
        let mut values: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
        for (key, value) in settings {
            values.entry(key).or_default().push(value);
        }
        for (key, values) in values {
            let digest = self.hasher.hash_one(values);
            self.items.insert(Item::Setting(file.to_path_buf(), key.to_vec()), digest);
        }
    }

    /// Notes what is at a path, content and mode included. A folder is what is in it.
    pub(super) fn look_at(&mut self, path: &Path) {
        let found = Found::at(path);
        if !matches!(found, Found::Nothing | Found::Folder) {
            self.items.insert(Item::Path(path.to_path_buf()), self.hasher.hash_one(found));
        }
    }

    /// Notes a path that is neither a file nor a folder, and tells whether git can open it without waiting for anybody.
    fn note_kind(&mut self, path: &Path) -> bool {
        let Ok(metadata) = fs::symlink_metadata(path) else { return true };
        if metadata.is_file() || metadata.is_dir() {
            return true;
        }
        self.look_at(path);
        fs::metadata(path).is_ok_and(|target| target.is_file() || target.is_dir())
    }

    fn look_into(&mut self, folder: &Path, depth: usize) {
        for path in paths_in(folder) {
            self.look_at(&path);
            if depth < MAX_DEPTH && is_folder(&path) {
                self.look_into(&path, depth + 1);
            }
        }
    }

    fn folders_in(&self, folder: &Path) -> Vec<PathBuf> {
        paths_in(folder).into_iter().filter(|path| is_folder(path)).collect()
    }

    /// Finds the git folders of submodules; a name may have slashes, and a submodule submodules.
    fn modules_in(&self, folder: &Path, depth: usize) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for path in self.folders_in(folder) {
            let is_module = path.join("HEAD").is_file();
            let inner = if is_module { path.join("modules") } else { path.clone() };
            if depth < MAX_DEPTH {
                found.extend(self.modules_in(&inner, depth + 1));
            }
            if is_module {
                found.push(path);
            }
        }
        found
    }
}

/// Files of the common folder that steer what git reads and does.
const STEERING: &[&str] = &[
    "commondir",
    "gitdir",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "shallow",
];

/// Tells whether git is just about to make a work tree, which happens in several steps.
fn is_being_made(admin: &Path) -> bool {
    let lock = super::read_bounded(&admin.join("locked"), 64).ok().flatten();
    lock.is_some_and(|reason| reason.starts_with(b"initializing")) || !admin.join("commondir").exists()
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Lists a folder, in the order of names. A link to a folder is none.
fn paths_in(folder: &Path) -> Vec<PathBuf> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).take(MAX_ENTRIES).collect();
    paths.sort();
    paths
}
