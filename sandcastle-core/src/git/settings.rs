//! The configuration as git lists it, asked for once and again when a file that it was read from has changed.
//!
//! An agent writes these files between two calls, so they are read before every use and compared byte by byte; times and
//! lengths can be made to fit. What is said in other files, because the repository includes them, is asked for each time.
//! The user's own configuration is taken to stay as it is for as long as a repository is looked at.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::overrides::{Key, Overrides, entries, is_of_repository};
use super::wall::read_bounded;
use crate::error::Result;

/// The longest file that is compared; a longer one is read by git each time.
const MAX_FILE: u64 = 1024 * 1024;

/// What git lists, and what outranks it.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    /// What `git config --list -z --show-scope` printed.
    pub(super) output: Vec<u8>,
    pub(super) overrides: Overrides,
}

/// The files that the settings of a repository are in, and what git said when they were last read.
#[derive(Clone)]
pub(super) struct Settings {
    shared: PathBuf,
    own: PathBuf,
    /// One for all work trees of a repository.
    known: Arc<Mutex<Option<Known>>>,
}

/// What was in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    shared: Option<Vec<u8>>,
    own: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Known {
    content: Content,
    /// The work tree for which alone it is true, if the user's configuration makes a difference between them.
    only_for: Option<PathBuf>,
    listing: Arc<Listing>,
}

impl fmt::Debug for Settings {
    /// Names the files and shows nothing of what is in them: that may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("shared", &self.shared)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Names the file that all work trees share, and the work tree's own.
    pub(super) fn new(shared: PathBuf, own: PathBuf) -> Self {
        Self { shared, own, known: Arc::default() }
    }

    /// Names the files of another work tree of the same repository.
    pub(super) fn with_own(&self, own: PathBuf) -> Self {
        Self { own, ..self.clone() }
    }

    /// Reads the files; `None` if they are something else or too long.
    pub(super) fn content(&self) -> Option<Content> {
        let read = |file| read_bounded(file, MAX_FILE).ok();
        Some(Content { shared: read(&self.shared)?, own: read(&self.own)? })
    }

    /// Returns what git said of this content.
    pub(super) fn known(&self, content: &Content) -> Option<Arc<Listing>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref().filter(|known| known.content == *content)?;
        let is_for_this = known.only_for.as_ref().is_none_or(|own| *own == self.own);
        is_for_this.then(|| Arc::clone(&known.listing))
    }

    /// Keeps what git said, if the files were the same before and after, and nothing else can have been asked.
    pub(super) fn learn(&self, before: Content, listing: &Arc<Listing>) {
        let Some(dependence) = Dependence::of(&listing.output) else { return };
        if self.content().as_ref() != Some(&before) {
            return;
        }
        let only_for = (dependence == Dependence::OnWorktree).then(|| self.own.clone());
        let known = Known { content: before, only_for, listing: Arc::clone(listing) };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }
}

/// What a listing depends on beside the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependence {
    OnNothing,
    OnWorktree,
}

impl Dependence {
    /// Tells what it is; `None` if it may be anything.
    fn of(listing: &[u8]) -> Option<Self> {
        let mut found = Self::OnNothing;
        for (scope, key, _) in entries(listing) {
            let Some(Key { section, subsection, .. }) = Key::parse(key) else { continue };
            match section {
                "include" | "includeif" if is_of_repository(scope) => return None,
                "includeif" if subsection.is_some_and(|condition| condition.starts_with(b"gitdir")) => {
                    found = Self::OnWorktree;
                }
                "includeif" => return None,
                _ => {}
            }
        }
        Some(found)
    }
}

impl Listing {
    /// Reads what git printed.
    ///
    /// # Errors
    /// As [`Overrides::against`].
    pub(super) fn read(output: Vec<u8>) -> Result<Self> {
        Ok(Self { overrides: Overrides::against(&output)?, output })
    }

    /// Returns the value that counts, the last one of its key. The key is as git prints it.
    pub(super) fn value(&self, key: &str) -> Option<&[u8]> {
        entries(&self.output).filter(|(_, known, _)| *known == key.as_bytes()).map(|(.., value)| value).last()
    }

    /// Tells whether there is a setting of a kind.
    #[cfg(feature = "review")]
    pub(super) fn has(&self, wanted: impl Fn(Key<'_>) -> bool) -> bool {
        entries(&self.output).any(|(_, key, _)| Key::parse(key).is_some_and(&wanted))
    }

    /// As [`Listing::value`], of the repository's own settings alone.
    pub(super) fn own_value(&self, key: &str) -> Option<&[u8]> {
        let own = entries(&self.output).filter(|(scope, ..)| is_of_repository(scope));
        own.filter(|(_, known, _)| *known == key.as_bytes()).map(|(.., value)| value).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repository;
    use crate::testing::ScratchRepo;

    #[test]
    fn what_depends_on_more_than_the_files_is_not_kept() {
        let depends = |listing: &str| Dependence::of(listing.replace('|', "\0").as_bytes());
        assert_eq!(depends("global|include.path\n/x|local|user.name\nA|"), Some(Dependence::OnNothing));
        assert_eq!(depends("global|includeif.gitdir/i:/w/.path\n/x|"), Some(Dependence::OnWorktree));
        for listing in [
            "local|include.path\n/x|",
            "worktree|includeif.gitdir:/w/.path\n/x|",
            "global|includeif.onbranch:main.path\n/x|",
            "global|includeif.hasconfig:remote.*.url:x.path\n/x|",
        ] {
            assert_eq!(depends(listing), None, "{listing}");
        }
    }

    #[test]
    fn a_listing_is_known_for_the_very_same_bytes_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, own) = (folder.path().join("config"), folder.path().join("config.worktree"));
        let settings = Settings::new(shared.clone(), own.clone());
        std::fs::write(&shared, "[a]\nb = 1\n").unwrap();
        let listing = Arc::new(Listing::read(b"local\0a.b\n1\0".to_vec()).unwrap());
        let before = settings.content().unwrap();
        settings.learn(before.clone(), &listing);
        let other = settings.with_own(folder.path().join("other"));
        assert!(settings.known(&before).is_some() && other.known(&other.content().unwrap()).is_some());
        std::fs::write(&shared, "[a]\nb = 2\n").unwrap();
        assert!(settings.known(&settings.content().unwrap()).is_none());
        settings.learn(before.clone(), &listing);
        assert!(settings.known(&settings.content().unwrap()).is_none(), "it changed while git read it");
        std::fs::write(&shared, "[a]\nb = 1\n").unwrap();
        std::fs::write(&own, "").unwrap();
        assert!(settings.known(&settings.content().unwrap()).is_none());
        std::fs::remove_file(&shared).unwrap();
        std::os::unix::fs::symlink("/dev/null", &shared).unwrap();
        assert!(settings.content().is_none());
    }

    #[tokio::test]
    async fn what_an_agent_wrote_since_is_overruled_also_in_a_file_that_is_included() {
        let scratch = ScratchRepo::new().await.unwrap();
        scratch.git(["config", "core.aaaa", "x"]).await.unwrap();
        let repository = Repository::discover(scratch.path()).await.unwrap();
        let trap = scratch.path().join(".git/trapped");
        let filter = format!("[filter \"t\"]\n\tclean = touch {}; cat\n", trap.display());
        let config = scratch.path().join(".git/config");
        let harmless = std::fs::read_to_string(&config).unwrap();
        let included = scratch.path().join(".git/more");
        let inclusion = format!("{harmless}[include]\n\tpath = {}\n", included.display());
        scratch.write(".gitattributes", "* filter=t\n").unwrap();
        let look = async || {
            // Of the same length, so that git has to read it.
            scratch.write("README.md", format!("# {} scratch repository\n", fastrand::lowercase())).unwrap();
            repository.status().await.unwrap();
            assert!(!trap.exists());
        };
        look().await;
        for (content, more) in
            [(format!("{harmless}{filter}"), ""), (inclusion.clone(), ""), (inclusion, &filter)]
        {
            std::fs::write(&included, more).unwrap();
            std::fs::write(&config, content).unwrap();
            look().await;
        }
        scratch.git(["status", "--short"]).await.unwrap();
        assert!(trap.exists(), "the trap is none");
    }
}
