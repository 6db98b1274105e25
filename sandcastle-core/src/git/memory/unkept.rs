//! What git keeps no copy of: files that it ignores, and other repositories in the work tree.
//!
//! None of it is read, and none can be put back: what is ignored may be secret or of any size, and must get on no branch. How each
//! place looks is known all the same, by the kinds, sizes and times of what is in it, so that a change is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::git::submodules::nested_git_dir;
use crate::git::{Git, path_from};

/// How many files and folders are looked at, all together.
const MAX_ENTRIES: usize = 200_000;
/// What of a git folder tells of commits.
const NAMES: [&str; 3] = ["HEAD", "packed-refs", "refs"];

/// How each place looked: the sum of what was in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unkept(BTreeMap<PathBuf, u64>);

impl Unkept {
    /// Looks at what `git` says is not its own in the work tree at `top`, and at its `submodules`. What is at `ours` changes
    /// while it is looked.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git cannot list it.
    pub(super) async fn of(git: &Git, top: &Path, ours: &Path, submodules: Vec<PathBuf>) -> Result<Self> {
        let mut places: BTreeSet<PathBuf> = submodules.into_iter().collect();
        for (args, only_folders) in [(&IGNORED[..], false), (&OTHERS[..], true)] {
            let listing = git.does("list what git does not keep", args).await?.stdout;
            let names = listing.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            let names = names.filter(|name| !only_folders || name.ends_with(b"/"));
            // The slash at the end would have a link followed.
            places.extend(names.map(|name| path_from(name.strip_suffix(b"/").unwrap_or(name))));
        }
        let (top, ours) = (top.to_path_buf(), ours.to_path_buf());
        places.retain(|place| !top.join(place).starts_with(&ours));
        let looking = tokio::task::spawn_blocking(move || {
            let mut walk = Walk { ours, left: MAX_ENTRIES };
            places.into_iter().map(|place| (place.clone(), walk.look(&top.join(place)))).collect()
        });
        let failed = |error| Error::new(ErrorKind::Io, "look at what git does not keep").with_source(error);
        looking.await.map(Self).map_err(failed)
    }

    /// Lists the places that look different now, and takes them as they are from here on.
    pub(super) fn now(&mut self, now: Self) -> Vec<PathBuf> {
        let then = std::mem::replace(self, now);
        let places: BTreeSet<&PathBuf> = then.0.keys().chain(self.0.keys()).collect();
        places.into_iter().filter(|place| then.0.get(*place) != self.0.get(*place)).cloned().collect()
    }
}

/// Lists what is ignored; of a folder that is so as a whole, its name.
const IGNORED: [&str; 6] = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
/// Lists what is untracked: the name of a folder if that is a repository of its own, and files.
const OTHERS: [&str; 4] = ["ls-files", "-z", "--others", "--exclude-standard"];

/// A look at one place after another.
struct Walk {
    ours: PathBuf,
    /// What may still be looked at.
    left: usize,
}

impl Walk {
    /// Sums up what is at a place, in whatever order it is found. Links are not followed.
    fn look(&mut self, place: &Path) -> u64 {
        let mut sum = self.folders(vec![place.to_path_buf()]);
        if let Some(own) = nested_git_dir(place) {
            sum = sum.wrapping_add(self.folders(NAMES.map(|name| own.join(name)).into()));
        }
        sum
    }

    fn folders(&mut self, mut open: Vec<PathBuf>) -> u64 {
        let mut sum = 0_u64;
        while let Some(path) = open.pop() {
            let Ok(found) = path.symlink_metadata() else { continue };
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            if found.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                // What is in git's own folder changes whenever git looks at files.
                let is_content = |path: &PathBuf| *path != self.ours && !path.ends_with(".git");
                open.extend(entries.map(|entry| entry.path()).filter(is_content).take(self.left));
            }
            sum = sum.wrapping_add(summed(&path, &found));
        }
        sum
    }
}

/// Sums up one file. Of a folder only its being there counts: it gets another time when a file comes and goes.
fn summed(path: &Path, found: &Metadata) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, found.mode()).hash(&mut hasher);
    if !found.is_dir() {
        (found.ino(), found.size(), found.ctime(), found.ctime_nsec()).hash(&mut hasher);
    }
    hasher.finish()
}
