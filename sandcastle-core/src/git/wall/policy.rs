//! Which changes of what git reads are harmless.
//!
//! Programs of good faith write some settings by the way, `git push -u` for one. A change is harmless if no value that
//! the setting can have makes git execute anything, read or write at another place, or change content. What is not
//! known is not harmless.

use std::path::Path;

use crate::git::overrides::Key;

/// Says what a change means for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// It is worth a sentence.
    None,
    /// The host's git must not be used with it.
    Possible,
}

/// Says how something differs from before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    Added,
    Changed,
    Removed,
}

impl Difference {
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl Harm {
    fn unless(is_harmless: bool) -> Self {
        if is_harmless { Self::None } else { Self::Possible }
    }

    /// Judges a difference in a setting of the repository.
    pub(super) fn of_setting(key: &[u8], difference: Difference) -> Self {
        let Some(Key { section, subsection, name }) = Key::parse(key) else { return Self::Possible };
        let nested = subsection.is_some();
        Self::unless(match section {
            // Not `mergeoptions`: a strategy is a program.
            "branch" => {
                matches!(name, "remote" | "merge" | "pushremote" | "rebase" | "description")
                    || name.ends_with("-merge-base")
            }
            // Whose name is under a commit is shown by the commit.
            "user" | "author" | "committer" => matches!(name, "name" | "email"),
            "remote" => nested && name == "gh-resolved",
            // `git submodule init` copies them from a file that is reviewed with the rest of the tree.
            "submodule" => matches!(name, "active" | "url") && difference == Difference::Added,
            "lfs" => matches!(name, "access" | "repositoryformatversion"),
            "pull" => matches!(name, "rebase" | "ff"),
            "push" => matches!(name, "default" | "autosetupremote"),
            "advice" | "color" => true,
            // Git reads it in the user's own configuration only.
            "safe" => name == "directory",
            _ => false,
        })
    }

    /// Judges a setting of a submodule that was populated during the run.
    pub(super) fn of_new_submodule(key: &[u8]) -> Self {
        let Some(Key { section, name, .. }) = Key::parse(key) else { return Self::Possible };
        let written_by_git = match section {
            "core" => matches!(
                name,
                "repositoryformatversion"
                    | "filemode"
                    | "bare"
                    | "logallrefupdates"
                    | "worktree"
                    | "ignorecase"
                    | "precomposeunicode"
                    | "symlinks"
            ),
            "remote" => matches!(name, "url" | "fetch"),
            "extensions" => matches!(name, "objectformat" | "refstorage"),
            _ => false,
        };
        if written_by_git { Self::None } else { Self::of_setting(key, Difference::Added) }
    }

    /// Judges a difference in a file of the common folder.
    pub(super) fn of_file(path: &Path) -> Self {
        let is_sample = path.extension().is_some_and(|extension| extension == "sample");
        // What is not seen as untracked: a work tree is kept if in doubt, so nothing is lost by it. Where the history of
        // a shallow clone ends: it moves with every fetch that is told a depth.
        Self::unless(is_sample || path.ends_with("info/exclude") || path.ends_with("shallow"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_by_the_way_is_harmless_and_the_rest_is_not() {
        for key in ["branch.agent/x.y.remote", "branch.a.merge", "branch.a.vscode-merge-base", "user.email"] {
            assert_eq!(Harm::of_setting(key.as_bytes(), Difference::Changed), Harm::None, "{key}");
        }
        let harmful = [
            "branch.a.mergeoptions",
            "core.hookspath",
            "core.fsmonitor",
            "filter.x.clean",
            "include.path",
            "alias.st",
            "user.signingkey",
            "lfs.customtransfer.x.path",
            "extensions.worktreeconfig",
            "nodot",
        ];
        // Where git works, from where the user pulls, and into which of the user's branches.
        for key in ["core.worktree", "remote.origin.url", "remote.origin.fetch", "submodule.a.url"] {
            assert_eq!(Harm::of_setting(key.as_bytes(), Difference::Changed), Harm::Possible, "{key}");
        }
        for key in harmful {
            assert_eq!(Harm::of_setting(key.as_bytes(), Difference::Added), Harm::Possible, "{key}");
            assert_eq!(Harm::of_new_submodule(key.as_bytes()), Harm::Possible, "{key}");
        }
    }

    #[test]
    fn nothing_that_is_overruled_is_harmless() {
        for key in ["filter.a.process", "core.sshcommand", "credential.helper", "lfs.extension.a.clean"] {
            assert!(Key::parse(key.as_bytes()).unwrap().harmless_value().is_some());
            assert_eq!(Harm::of_setting(key.as_bytes(), Difference::Added), Harm::Possible, "{key}");
            assert_eq!(Harm::of_new_submodule(key.as_bytes()), Harm::Possible, "{key}");
        }
    }
}
