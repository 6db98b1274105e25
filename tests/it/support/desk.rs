//! The `sandcastle` command at somebody's desk: a repository, a home folder, nothing else.

use std::path::{Path, PathBuf};

use sandcastle::testing::ScratchRepo;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::{Finished, Invocation};
use super::real_agent::search_path;

/// A folder with a repository, and the command to run in it.
pub(crate) struct Desk {
    pub(crate) repository: ScratchRepo,
    pub(crate) home: TempDir,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        Self { repository: ScratchRepo::new().await.unwrap(), home: TempDir::new().unwrap() }
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self, args: &[&str]) -> Invocation {
        let environment = [("PATH", search_path()), ("HOME", self.home.path().display().to_string())];
        Invocation::new(env!("CARGO_BIN_EXE_sandcastle"), self.repository.path())
            .arguments(args)
            .environment(environment.map(|(key, value)| (key.to_owned(), value)))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        self.command(args).run()
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Finished {
        self.command(args).input(input).run()
    }

    /// The command that runs the scripted agent with this script.
    pub(crate) fn play(&self, script: &Value, args: &[&str]) -> Invocation {
        let script = self.file("script.json", script.to_string());
        let mut all =
            vec!["--format", "json", "run", "--agent", "scripted", "--model", script.to_str().unwrap()];
        all.extend(args);
        self.command(&all)
    }
}

/// The only thing on the standard output is one JSON object.
pub(crate) fn json_of(finished: &Finished) -> Value {
    assert_eq!(finished.stdout.lines().count(), 1, "{finished:?}");
    serde_json::from_str(&finished.stdout).unwrap()
}

pub(crate) fn one_turn(steps: &Value) -> Value {
    json!({ "turns": [{ "steps": steps }], "after": "repeat" })
}

impl Desk {
    /// What git prints in the repository.
    pub(crate) async fn git<const N: usize>(&self, args: [&str; N]) -> String {
        self.repository.git(args).await.unwrap()
    }

    /// The branches other than `main`.
    pub(crate) async fn branches(&self) -> Vec<String> {
        let branches = self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]).await;
        branches.lines().filter(|name| *name != "main").map(str::to_owned).collect()
    }

    /// The work trees other than the main one.
    pub(crate) async fn worktrees(&self) -> Vec<PathBuf> {
        let worktrees = self.git(["worktree", "list", "--porcelain"]).await;
        worktrees
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .skip(1)
            .map(PathBuf::from)
            .collect()
    }

    /// The subjects of the commits of a branch, the newest first.
    pub(crate) async fn subjects(&self, rev: &str) -> Vec<String> {
        self.git(["log", "--format=%s", rev]).await.lines().map(str::to_owned).collect()
    }

    /// Whether a file is in a commit.
    pub(crate) async fn has(&self, rev: &str, file: &str) -> bool {
        self.git(["ls-tree", "-r", "--name-only", rev]).await.lines().any(|name| name == file)
    }

    /// The checkout is as a user left it, and no merge is under way.
    pub(crate) async fn assert_whole(&self) {
        assert_eq!(self.git(["status", "--porcelain"]).await, "");
        assert!(!self.repository.path().join(".git/MERGE_HEAD").exists(), "half merged");
        assert!(!self.repository.path().join(".git/index.lock").exists(), "still locked");
    }

    /// What the command prints of runs.
    pub(crate) fn runs(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--format", "json", "runs"], args].concat());
        assert_eq!(ended.code(), Some(0), "{args:?}: {ended:?}");
        json_of(&ended)
    }

    /// Puts a program first on the search path of commands that are given [`Desk::with_programs`].
    pub(crate) fn program(&self, name: &str, script: &str) {
        let folder = self.home.path().join("programs");
        std::fs::create_dir_all(&folder).unwrap();
        let path = self.file(&format!("programs/{name}"), script);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Lets a command find the programs of [`Desk::program`].
    pub(crate) fn with_programs(&self, command: Invocation) -> Invocation {
        let path = format!("{}:{}", self.home.path().join("programs").display(), search_path());
        command.environment([("PATH".to_owned(), path)])
    }
}

/// Waits until a file is there, 30 seconds at most.
pub(crate) async fn wait_for(file: &Path) {
    let begun = std::time::Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "no `{}`", file.display());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
