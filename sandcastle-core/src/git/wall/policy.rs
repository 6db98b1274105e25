//! Which changes of what git reads are harmless.
//!
//! Programs of good faith write some settings by the way, `git push -u` for one. A change is harmless if no value that
//! the setting can have makes git execute anything, read or write at another place, or change content. What is not
//! known is not harmless.

use crate::git::overrides::Key;

/// Says what a change means for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// It is worth a sentence.
    None,
    /// The host's git must not be used with it.
    Possible,
}

impl Harm {
    /// Judges the change of a setting, its coming and its going.
    pub(super) fn of_setting(key: &[u8]) -> Self {
        let Some(Key { section, subsection, name }) = Key::parse(key) else { return Self::Possible };
        let nested = subsection.is_some();
        let harmless = match section {
            // Not `mergeoptions`: a strategy is a program.
            "branch" => {
                matches!(name, "remote" | "merge" | "pushremote" | "rebase" | "description")
                    || name.ends_with("-merge-base")
            }
            // Whose name is under a commit is shown by the commit.
            "user" | "author" | "committer" => matches!(name, "name" | "email"),
            "remote" => nested && name == "gh-resolved",
            "lfs" => matches!(name, "access" | "repositoryformatversion"),
            "pull" => matches!(name, "rebase" | "ff"),
            "push" => matches!(name, "default" | "autosetupremote"),
            "advice" | "color" => true,
            // Git reads it in the user's own configuration only.
            "safe" => name == "directory",
            _ => false,
        };
        if harmless { Self::None } else { Self::Possible }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_by_the_way_is_harmless_and_the_rest_is_not() {
        for key in ["branch.agent/x.y.remote", "branch.a.merge", "branch.a.vscode-merge-base", "user.email"] {
            assert_eq!(Harm::of_setting(key.as_bytes()), Harm::None, "{key}");
        }
        let harmful = [
            "branch.a.mergeoptions",
            "remote.origin.url",
            // Could name branches of the user as the place to fetch into.
            "remote.origin.fetch",
            "core.hookspath",
            "core.worktree",
            "filter.x.clean",
            "include.path",
            "alias.st",
            "user.signingkey",
            "lfs.customtransfer.x.path",
            "extensions.worktreeconfig",
            "nodot",
        ];
        for key in harmful {
            assert_eq!(Harm::of_setting(key.as_bytes()), Harm::Possible, "{key}");
        }
    }

    #[test]
    fn nothing_that_is_overruled_is_harmless() {
        for key in ["filter.a.process", "core.sshcommand", "credential.helper", "lfs.extension.a.clean"] {
            assert!(Key::parse(key.as_bytes()).unwrap().harmless_value().is_some());
            assert_eq!(Harm::of_setting(key.as_bytes()), Harm::Possible, "{key}");
        }
    }
}
