//! The wall between an agent and the git of the host.
//!
//! A work tree shares its repository's configuration, hooks and attributes with the host; an agent that can commit can
//! write them. [`Wall::before`] takes a fingerprint of all that git executes or is steered by, [`Wall::check`] compares.
//! Branches are not part of it: that they move is what a run is for.
//!
//! A driver checks before anything else it does with the repository after a run. When the check fails it does not land
//! and does not clean up: it asks for commits and branches (`rev-list`, `for-each-ref`, `rev-parse`), reports, and leaves
//! the rest to a person. Every call of [`Git`](super::Git) overrules what the repository names, also what was named since;
//! the wall is there for the user's own git, which does not.

mod fingerprint;
mod policy;
mod reading;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use self::reading::read_bounded;

use self::fingerprint::{Fingerprint, Item};
use self::policy::{Difference, Harm};
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};

/// How often is looked again at what another run may just be changing.
const SECOND_LOOKS: u32 = 10;
/// How long it is waited before that.
const PAUSE: Duration = Duration::from_millis(50);
/// How many changes one error names.
const MAX_NAMED: usize = 20;
/// How much of a name is shown.
const MAX_SHOWN: usize = 200;

/// What git of the host read in a repository before a run.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    repository: Repository,
    before: Fingerprint,
}

/// One difference between before and after.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    item: &'a Item,
    difference: Difference,
}

impl Wall {
    /// Takes the fingerprint of a repository, aimed at the work tree in which the agent will be.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git cannot read the configuration.
    pub(crate) async fn before(repository: &Repository) -> Result<Self> {
        let mut before = Fingerprint::default();
        before.take(repository).await?;
        Ok(Self { repository: repository.clone(), before })
    }

    /// Compares, and returns a sentence for each harmless change.
    ///
    /// # Errors
    /// [`ErrorKind::RepositoryChanged`] with the names of all other changes, never with values, which may be secrets.
    pub(crate) async fn check(&self) -> Result<Vec<String>> {
        let mut looks_left = SECOND_LOOKS;
        loop {
            let mut after = Fingerprint::like(&self.before);
            let unread = after.take(&self.repository).await.err();
            let changes = self.changes(&after, unread.is_some());
            let (harmless, harmful): (Vec<_>, Vec<_>) =
                changes.into_iter().partition(|change| self.harm(change) == Harm::None);
            // Other runs make and remove work trees meanwhile, each in several steps.
            let may_pass = |change: &Change<'_>| self.other_admin(change.item).is_some();
            if !harmful.is_empty() && harmful.iter().all(may_pass) && looks_left > 0 {
                looks_left -= 1;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            return match (harmful.is_empty(), unread) {
                (true, None) => Ok(harmless.iter().map(|change| self.named(change)).collect()),
                (true, Some(error)) => Err(self.refused("it cannot be read any more").with_source(error)),
                (false, unread) => {
                    let refused = self.refused(&self.listed(&harmful));
                    Err(if let Some(error) = unread { refused.with_source(error) } else { refused })
                }
            };
        }
    }

    /// Tells whether git ignores what it ignored before, as far as that is not said by files of the work tree, which are
    /// content: with other rules a work tree may look as if there was nothing in it.
    pub(crate) fn ignores_as_before(&self) -> bool {
        let rules = self.repository.common_dir().join("info/exclude");
        let mut now = Fingerprint::like(&self.before);
        now.look_at(&rules);
        let item = Item::Path(rules);
        now.items.get(&item) == self.before.items.get(&item)
    }

    /// Pairs what was with what is. What could not be read to its end has not gone for that.
    fn changes<'a>(&'a self, after: &'a Fingerprint, is_partial: bool) -> Vec<Change<'a>> {
        let (before, after) = (&self.before.items, &after.items);
        let names: BTreeSet<&Item> = before.keys().chain(after.keys()).collect();
        let changes = names.into_iter().filter_map(|item| {
            let difference = match (before.get(item), after.get(item)) {
                (Some(before), Some(after)) if before == after => return None,
                (Some(_), Some(_)) => Difference::Changed,
                (None, _) => Difference::Added,
                (Some(_), None) if is_partial => return None,
                (Some(_), None) => Difference::Removed,
            };
            (!self.is_of_another_run(item)).then_some(Change { item, difference })
        });
        changes.collect()
    }

    /// Work trees come and go with other runs; only what has been there all the time can have been changed.
    fn is_of_another_run(&self, item: &Item) -> bool {
        let Some(admin) = self.other_admin(item) else { return false };
        let was_there = self.before.items.contains_key(&Item::Path(admin.join("gitdir")));
        !was_there || !admin.exists()
    }

    /// Returns the folder of another work tree's own state that an item belongs to.
    fn other_admin(&self, item: &Item) -> Option<PathBuf> {
        let (Item::Path(path) | Item::Setting(path, _)) = item else { return None };
        let worktrees = self.repository.common_dir().join("worktrees");
        let name = path.strip_prefix(&worktrees).ok()?.iter().next()?;
        Some(worktrees.join(name)).filter(|admin| admin != self.repository.git_dir())
    }

    fn harm(&self, change: &Change<'_>) -> Harm {
        let common = self.repository.common_dir();
        let is_nested = |file: &Path| file.starts_with(common.join("modules")) || !file.starts_with(common);
        match change.item {
            Item::Setting(file, key) if is_nested(file) && !self.had_settings(file) => {
                Harm::of_new_submodule(key)
            }
            Item::Setting(_, key) => Harm::of_setting(key, change.difference),
            Item::Path(path) => Harm::of_file(path),
            Item::Replacement(_) => Harm::Possible,
        }
    }

    fn had_settings(&self, file: &Path) -> bool {
        self.before.items.keys().any(|item| matches!(item, Item::Setting(had, _) if had == file))
    }

    fn listed(&self, changes: &[Change<'_>]) -> String {
        let mut names: Vec<String> =
            changes.iter().take(MAX_NAMED).map(|change| self.named(change)).collect();
        if changes.len() > MAX_NAMED {
            names.push(format!("{} more", changes.len() - MAX_NAMED));
        }
        names.join(", ")
    }

    fn named(&self, change: &Change<'_>) -> String {
        let verb = change.difference.verb();
        match change.item {
            Item::Path(path) => format!("`{}` {verb}", self.place(path)),
            Item::Setting(file, key) => format!("`{}` {verb} in `{}`", shown(key), self.place(file)),
            Item::Replacement(name) => format!("`{}` {verb}", shown(name)),
        }
    }

    /// Names a path as seen from the folder of the repository.
    fn place(&self, path: &Path) -> String {
        let common = self.repository.common_dir();
        let near = match (path.strip_prefix(common), common.file_name()) {
            (Ok(rest), Some(name)) if rest.as_os_str().is_empty() => PathBuf::from(name),
            (Ok(rest), Some(name)) => Path::new(name).join(rest),
            _ => path.to_path_buf(),
        };
        shown(near.as_os_str().as_encoded_bytes())
    }

    fn refused(&self, changes: &str) -> Error {
        let what = format!("use the repository after the run: what its git executes was changed: {changes}");
        let common = self.repository.common_dir().display();
        Error::new(ErrorKind::RepositoryChanged, what)
            .with_hint(format!(
                "look at `{common}/config` and `{common}/hooks` in an editor before you run git there, and undo what you \
                 did not want; the commits are on their branch"
            ))
            .with_hint("if you made the change yourself while the run went on, run again")
    }
}

/// Shows a name that an agent may have chosen: one line, printable, short.
fn shown(name: &[u8]) -> String {
    let mut text: String =
        String::from_utf8_lossy(name).chars().flat_map(char::escape_debug).take(MAX_SHOWN + 1).collect();
    if text.chars().count() > MAX_SHOWN {
        text.pop();
        text.push('…');
    }
    text
}
