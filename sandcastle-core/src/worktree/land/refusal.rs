//! Why commits cannot land, in words, with the commands that finish by hand.

use std::path::{Path, PathBuf};

use super::Landing;
use crate::error::{Error, ErrorKind};
use crate::id::CommitId;
use crate::worktree::lag::Lag;

/// How many paths one error names.
const MAX_NAMED: usize = 20;
/// How many characters of a path are shown.
const MAX_SHOWN: usize = 200;

/// A path that could not be merged.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) path: Vec<u8>,
    pub(super) is_submodule: bool,
}

/// A reason not to land.
#[derive(Debug)]
pub(super) enum Refusal<'a> {
    Conflict(Vec<Conflict>),
    Unrelated,
    NoCommit(&'a CommitId),
    NoTarget,
    SymbolicTarget,
    /// The target is checked out in several work trees, of which only one could follow.
    ManyCheckouts(Vec<PathBuf>),
    /// The target is checked out in a work tree that is not where git says, or not as git says.
    BrokenCheckout(&'a Path),
    /// The target was moved behind the back of the work tree that it is checked out in.
    Lagging(&'a Lag),
    /// The user is in the middle of something in the work tree.
    Unfinished {
        tree: &'a Path,
        operation: &'static str,
    },
    Unmerged {
        tree: &'a Path,
        paths: Vec<Vec<u8>>,
    },
    /// Edits of the user are in the way.
    Edits {
        tree: &'a Path,
        paths: Vec<Vec<u8>>,
    },
    /// Files would have to go through a program that the repository names.
    Filtered {
        tree: &'a Path,
        paths: Vec<Vec<u8>>,
    },
}

impl Refusal<'_> {
    /// Puts the reason into words.
    pub(super) fn into_error(self, landing: &Landing<'_>) -> Error {
        let error = Error::new(
            ErrorKind::Merge,
            format!("merge `{}` into `{}`: {}", landing.source, landing.target, self.reason(landing)),
        );
        let error = match self.advice(landing) {
            Some(advice) => error.with_hint(advice),
            None => error,
        };
        error.with_hint(how_to_finish(landing))
    }

    fn reason(&self, landing: &Landing<'_>) -> String {
        match self {
            Self::Conflict(conflicts) => {
                let paths = conflicts.iter().map(|conflict| {
                    let kind = if conflict.is_submodule { " (submodule)" } else { "" };
                    format!("`{}`{kind}", shown(&conflict.path))
                });
                format!("conflicts in {}", some_of(paths, conflicts.len()))
            }
            Self::Unrelated => "their histories have no commit in common".to_owned(),
            Self::NoCommit(commit) => format!("there is no commit `{commit}` in the repository"),
            Self::NoTarget => format!("there is no branch `{}` any more", landing.target),
            Self::SymbolicTarget => {
                format!("`{}` is another name of a branch, not a branch", landing.target)
            }
            Self::ManyCheckouts(trees) => {
                let places = trees.iter().map(|tree| place(tree));
                format!("it is checked out more than once: {}", some_of(places, trees.len()))
            }
            Self::BrokenCheckout(tree) => {
                format!("it is checked out in {}, which is not a work tree of the repository", place(tree))
            }
            Self::Lagging(lag) => format!(
                "it was moved by something else than this run, and the files in {}, where it is checked out, lag behind",
                place(lag.top())
            ),
            Self::Unfinished { tree, operation } => {
                format!("{operation} is unfinished in {}", place(tree))
            }
            Self::Unmerged { tree, paths } => {
                format!("conflicts of an earlier merge are unresolved in {}: {}", place(tree), listed(paths))
            }
            Self::Edits { tree, paths } => {
                format!("local edits in {} are in the way: {}", place(tree), listed(paths))
            }
            Self::Filtered { tree, paths } => format!(
                "files in {} need a filter that only the repository's own configuration names, and that is not run: {}",
                place(tree),
                listed(paths)
            ),
        }
    }

    fn advice(&self, landing: &Landing<'_>) -> Option<String> {
        let target = word(landing.target);
        Some(match self {
            Self::NoTarget => format!("bring the branch back first: `git branch {target} <commit>`"),
            Self::SymbolicTarget => "name the branch that it stands for".to_owned(),
            Self::BrokenCheckout(_) => {
                "`git worktree list` shows it; `git worktree repair` or `git worktree prune` \
                                        puts it right"
                    .to_owned()
            }
            Self::Lagging(lag) => lag.remedy(),
            Self::Unfinished { .. } | Self::Unmerged { .. } => {
                "finish or abort that first; `git status` in there says how".to_owned()
            }
            Self::Edits { .. } => "commit, stash or move these files first".to_owned(),
            Self::Filtered { .. } => "to have the filter run, set it up in your own configuration \
                                      (`git config --global`), or merge by hand"
                .to_owned(),
            Self::Conflict(_) | Self::Unrelated | Self::NoCommit(_) | Self::ManyCheckouts(_) => return None,
        })
    }
}

/// Says where the commits are, and the commands by which a person brings them to the target.
pub(super) fn how_to_finish(landing: &Landing<'_>) -> String {
    let source = landing.source;
    let place = landing.repository.top().unwrap_or_else(|_| landing.repository.git_dir());
    format!(
        "the commits are on the branch `{}`; to finish by hand: cd {} && git switch {} && git merge {}",
        source.escape_debug(),
        word(&place.to_string_lossy()),
        word(landing.target),
        word(source)
    )
}

/// Quotes a word for a shell, if it needs that.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@%+:,-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn place(path: &Path) -> String {
    format!("`{}`", shown(path.as_os_str().as_encoded_bytes()))
}

fn listed(paths: &[Vec<u8>]) -> String {
    some_of(paths.iter().map(|path| format!("`{}`", shown(path))), paths.len())
}

fn some_of(names: impl Iterator<Item = String>, count: usize) -> String {
    let mut names: Vec<String> = names.take(MAX_NAMED).collect();
    if count > MAX_NAMED {
        names.push(format!("{} more", count - MAX_NAMED));
    }
    names.join(", ")
}

/// Shows a path that an agent may have chosen: one line, printable, short.
fn shown(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        assert_eq!(word("agent/fix-42"), "agent/fix-42");
        assert_eq!(word("x$(touch y)"), "'x$(touch y)'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn paths_stay_on_one_line_and_short() {
        assert_eq!(shown(b"a\nb\x1b[1m"), "a\\nb\\u{1b}[1m");
        assert_eq!(shown("ä".as_bytes()), "ä");
        assert!(shown(&[b'x'; 5000]).len() < 300);
        assert_eq!(listed(&vec![b"p".to_vec(); 22]).matches("`p`").count(), 20);
    }
}
