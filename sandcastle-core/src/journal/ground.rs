//! What git says of the things that a journal names. All questions to git that this room has are here.
//!
//! The repository may have been in the hands of an agent that means harm. So its filters are switched off, a worktree is
//! looked at through the state that the repository itself keeps of it and not through the file `.git` in it, and what
//! hides changes from git makes a worktree unclear instead of clean.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{ConfigDir, Kept};
use crate::error::Result;
use crate::git::{Git, Repository, path_from};
use crate::id::CommitId;
use crate::work::Commit;

/// The most commits that are listed.
const MAX_COMMITS: usize = 1000;
/// How long git may take with the files of a worktree.
const PATIENCE: Duration = Duration::from_secs(600);
/// Files and folders in the state of a worktree that are there while git is in the middle of something.
const UNDER_WAY: &[(&str, &str)] = &[
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase is under way"),
    ("MERGE_HEAD", "a merge is under way"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
    ("REVERT_HEAD", "a revert is under way"),
    ("BISECT_LOG", "a bisection is under way"),
];

/// A repository and its worktrees, as they were when somebody looked.
#[derive(Debug)]
pub(super) struct Ground {
    repository: Repository,
    /// The folder that worktrees of runs are in, without links.
    worktrees: Option<PathBuf>,
    /// Settings that switch off the programs which the repository names for its files.
    quiet: Vec<(String, String)>,
    listed: Vec<Listed>,
}

/// A worktree that git lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    pub(super) head: Option<String>,
    /// The branch without `refs/heads/`.
    pub(super) branch: Option<String>,
    /// Why it is locked.
    pub(super) locked: Option<String>,
}

impl Listed {
    /// Tells whether git is making it, or was ended while it did.
    pub(super) fn is_half_made(&self) -> bool {
        self.locked.as_deref() == Some("initializing")
    }
}

/// What is in a worktree.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) changed: Vec<PathBuf>,
    pub(super) unclear: Vec<String>,
}

impl Ground {
    /// Asks git for its worktrees.
    pub(super) async fn look(repository: &Repository, config: &ConfigDir) -> Result<Self> {
        let list = ["worktree", "list", "--porcelain", "-z"];
        let answer = repository.git().does("list the worktrees", list).await?;
        Ok(Self {
            worktrees: real_folder(&config.place_of(Kept::Worktrees)),
            quiet: quieting(repository.git()).await?,
            listed: listed(&answer.stdout),
            repository: repository.clone(),
        })
    }

    /// Finds a worktree that a journal names: one that git lists, and that is where runs have their worktrees.
    pub(super) fn find(&self, path: &Path) -> Option<&Listed> {
        let folder = self.worktrees.as_deref()?;
        let real = real_folder(path)?;
        if real == folder || !real.starts_with(folder) {
            return None;
        }
        // The first one is the main work tree, wherever it is.
        self.listed.iter().skip(1).find(|listed| real_folder(&listed.path).as_ref() == Some(&real))
    }

    /// Tells whether a branch is checked out anywhere.
    pub(super) fn is_checked_out(&self, branch: &str) -> bool {
        let mut there = self.listed.iter().filter(|listed| listed.path.exists());
        there.any(|listed| listed.branch.as_deref() == Some(branch))
    }

    /// Returns the commit that a branch leads to; `None` if there is no such branch.
    pub(super) async fn tip(&self, branch: &str) -> Result<Option<String>> {
        let name = format!("refs/heads/{branch}");
        let answer = self.git().ask(["show-ref", "--verify", "--hash", &name]).await?;
        Ok(answer.line().filter(|line| is_object_id(line)).map(str::to_owned))
    }

    /// Tells whether a commit is there.
    pub(super) async fn is_there(&self, commit: &str) -> Result<bool> {
        Ok(is_object_id(commit)
            && self.git().ask(["cat-file", "-e", &format!("{commit}^{{commit}}")]).await?.is_success())
    }

    /// Names a branch or tag that leads to a commit, other than the branch `except`.
    pub(super) async fn holder(&self, commit: &str, except: Option<&str>) -> Result<Option<String>> {
        let contains = format!("--contains={commit}");
        let args = ["for-each-ref", &contains, "--count=2", "--format=%(refname)"];
        let places = ["refs/heads", "refs/remotes", "refs/tags"];
        let answer = self.git().does("find who holds a commit", args.into_iter().chain(places)).await?;
        let except = except.map(|branch| format!("refs/heads/{branch}"));
        let names = String::from_utf8_lossy(&answer.stdout).into_owned();
        let other = names.lines().find(|name| Some(*name) != except.as_deref());
        Ok(other.map(|name| name.trim_start_matches("refs/heads/").trim_start_matches("refs/").to_owned()))
    }

    /// Tells whether `target` has `commit`.
    pub(super) async fn has(&self, target: &str, commit: &str) -> Result<bool> {
        Ok(self.git().ask(["merge-base", "--is-ancestor", commit, target]).await?.is_success())
    }

    /// Lists the commits that lead to `tip` and not to `without`, oldest first.
    pub(super) async fn commits(&self, tip: &str, without: Option<&str>) -> Result<Vec<Commit>> {
        let without: Vec<&str> = without.into_iter().flat_map(|without| ["--not", without]).collect();
        self.log(tip, &without).await
    }

    /// Lists the commits that lead to `tip` and to no branch or tag, oldest first.
    pub(super) async fn unreachable(&self, tip: &str) -> Result<Vec<Commit>> {
        self.log(tip, &["--not", "--branches", "--remotes", "--tags"]).await
    }

    async fn log(&self, tip: &str, without: &[&str]) -> Result<Vec<Commit>> {
        let most = format!("--max-count={MAX_COMMITS}");
        let mut args = vec!["log", "-z", "--topo-order", "--no-color", &most, "--format=%H %s", tip];
        args.extend(without);
        args.push("--");
        let answer = self.git().does("list commits", args).await?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let commits = text.split('\0').filter_map(|entry| entry.split_once(' '));
        let mut commits: Vec<Commit> =
            commits.map(|(sha, subject)| Commit::new(CommitId::from_git(sha), subject)).collect();
        commits.reverse();
        Ok(commits)
    }

    /// Looks at the files of a worktree.
    pub(super) async fn contents(&self, listed: &Listed) -> Result<Contents> {
        let Some((git, state)) = self.inside(listed) else {
            let unclear = vec!["the repository has no state of it".to_owned()];
            return Ok(Contents { changed: Vec::new(), unclear });
        };
        let args = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let answer = git.does("look for changes", args).await?;
        let entries = answer.stdout.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let changed = entries.map(path_from).collect();
        let is_there = |(file, why): &(&str, &str)| state.join(file).exists().then(|| (*why).to_owned());
        let mut unclear: Vec<String> = UNDER_WAY.iter().filter_map(is_there).collect();
        unclear.extend(hidden(&git, &listed.path).await?);
        Ok(Contents { changed, unclear })
    }

    /// Aims git at a worktree through the state that the repository keeps of it, and returns where that is.
    pub(super) fn inside(&self, listed: &Listed) -> Option<(Git, PathBuf)> {
        let path = real_folder(&listed.path)?;
        let states = fs::read_dir(self.repository.common_dir().join("worktrees")).ok()?;
        let state = states.flatten().map(|entry| entry.path()).find(|state| leads_to(state, &path))?;
        let git = self.repository.aimed_at(&path, &state).git().clone().timeout(PATIENCE);
        Some((self.quieted(git), state))
    }

    /// Makes a branch, or finds that it leads to the same commit already. `false` if it leads elsewhere.
    pub(super) async fn make_branch(&self, name: &str, commit: &str) -> Result<bool> {
        let reference = format!("refs/heads/{name}");
        // The old value of nothing makes git refuse if there is one.
        let nothing = "0".repeat(commit.len());
        let args = ["update-ref", "-m", "sandcastle: rescue", &reference, commit, &nothing];
        let answer = self.git().ask(args).await?;
        if answer.is_success() {
            return Ok(true);
        }
        match self.tip(name).await? {
            Some(tip) => Ok(tip == commit),
            None => Err(answer.refused(&format!("make the branch `{name}`"), self.git().cwd())),
        }
    }

    /// Removes a branch if it still leads to `tip`.
    pub(super) async fn remove_branch(&self, name: &str, tip: &str) -> Result<()> {
        let args = ["update-ref", "-d", &format!("refs/heads/{name}"), tip];
        self.git().does(&format!("remove the branch `{name}`"), args).await.map(drop)
    }

    /// Removes a worktree. Unless it is forced, git itself looks once more for changes and refuses if there are any. A lock
    /// of the user's is respected either way.
    pub(super) async fn remove_worktree(&self, listed: &Listed, force: Force) -> Result<()> {
        let args = ["worktree", "remove"].map(OsStr::new).into_iter();
        let times = match force {
            Force::No => 0,
            // Git itself has it locked until it is made, and asks twice.
            Force::Yes => 1 + usize::from(listed.is_half_made()),
        };
        let force = std::iter::repeat_n(OsStr::new("--force"), times);
        let args = args.chain(force).chain([OsStr::new("--"), listed.path.as_os_str()]);
        let git = self.quieted(self.git().clone().timeout(PATIENCE));
        git.does(&format!("remove the worktree `{}`", listed.path.display()), args).await.map(drop)
    }

    fn git(&self) -> &Git {
        self.repository.git()
    }

    fn quieted(&self, git: Git) -> Git {
        let git = git.env("GIT_CONFIG_COUNT", self.quiet.len().to_string());
        self.quiet.iter().enumerate().fold(git, |git, (number, (key, value))| {
            git.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value)
        })
    }
}

/// Says whether something is removed although it may be of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Yes,
    No,
}

/// Tells whether a text is the full id of an object, and nothing that git would take for a name or an option.
pub(super) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Resolves links above a folder. A link in its place is not a folder.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    is_folder.then(|| path.canonicalize().ok()).flatten()
}

/// Tells whether the state of a worktree, below `.git/worktrees/`, is that of the worktree at `path`.
fn leads_to(state: &Path, path: &Path) -> bool {
    let Ok(bytes) = fs::read(state.join("gitdir")) else { return false };
    let link = state.join(path_from(bytes.trim_ascii_end()));
    link.parent().and_then(real_folder).is_some_and(|folder| folder == path)
}

/// Lists settings that outrank those which name programs for the files of a worktree.
async fn quieting(git: &Git) -> Result<Vec<(String, String)>> {
    let pattern = r"^filter\..*\.(clean|smudge|process|required)$";
    let answer = git.ask(["config", "--name-only", "-z", "--get-regexp", pattern]).await?;
    let mut quiet = vec![
        ("core.safecrlf".to_owned(), "false".to_owned()),
        ("core.untrackedCache".to_owned(), "false".to_owned()),
        ("core.splitIndex".to_owned(), "false".to_owned()),
        ("core.ignoreStat".to_owned(), "false".to_owned()),
    ];
    for key in answer.stdout.split(|byte| *byte == 0).filter_map(|key| std::str::from_utf8(key).ok()) {
        match key.rsplit('.').next() {
            Some("required") => quiet.push((key.to_owned(), "false".to_owned())),
            Some("clean" | "smudge" | "process") => quiet.push((key.to_owned(), String::new())),
            _ => {}
        }
    }
    Ok(quiet)
}

fn listed(output: &[u8]) -> Vec<Listed> {
    let mut all = Vec::new();
    for line in output.split(|byte| *byte == 0) {
        let (key, value) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match (key, all.last_mut()) {
            (b"worktree", _) => all.push(Listed { path: path_from(value), ..Listed::default() }),
            (b"HEAD", Some(last)) => last.head = Some(text()).filter(|head| is_object_id(head)),
            (b"branch", Some(last)) => last.branch = text().strip_prefix("refs/heads/").map(str::to_owned),
            (b"locked", Some(last)) => last.locked = Some(text()),
            _ => {}
        }
    }
    all
}

/// Looks for what keeps git from seeing changes: flags that hide files, and submodules.
async fn hidden(git: &Git, top: &Path) -> Result<Vec<String>> {
    let files = git.does("list the files", ["ls-files", "-z", "-v", "--stage"]).await?;
    let (mut flagged, mut unclear) = (0_usize, Vec::new());
    for entry in files.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        // A lower-case letter is a file that is assumed to be unchanged, `S` one that is skipped.
        if (entry[0].is_ascii_lowercase() || entry[0] == b'S') && !entry.starts_with(b"S 160000 ") {
            flagged += 1;
        }
        let is_submodule = entry.get(2..).is_some_and(|entry| entry.starts_with(b"160000 "));
        let name = entry.iter().position(|byte| *byte == b'\t').map(|at| &entry[at + 1..]);
        if let Some(name) = name.filter(|_| is_submodule) {
            let name = Path::new(OsStr::from_bytes(name));
            if fs::read_dir(top.join(name)).is_ok_and(|mut entries| entries.next().is_some()) {
                unclear.push(format!("the submodule `{}` is not looked into", name.display()));
            }
        }
    }
    if flagged > 0 {
        unclear.push(format!("git was told not to look at {flagged} of its files"));
    }
    Ok(unclear)
}
