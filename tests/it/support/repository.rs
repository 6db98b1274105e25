//! A scratch git repository with one commit, gone when dropped.

use std::path::Path;

use tempfile::TempDir;

use super::process::Invocation;
use super::real_agent;

/// A repository in a temporary folder, on branch `main`, with an identity of its own.
#[derive(Debug)]
pub(crate) struct Repository {
    folder: TempDir,
}

impl Repository {
    /// Creates the repository with a first commit that holds `README.md`.
    pub(crate) fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        repository.git(["init", "--quiet", "--initial-branch=main"]);
        repository.git(["config", "user.name", "Scratch"]);
        repository.git(["config", "user.email", "scratch@example.invalid"]);
        repository.write("README.md", "scratch\n");
        repository.git(["add", "README.md"]);
        repository.git(["commit", "--quiet", "--message=first"]);
        repository
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of the work tree.
    pub(crate) fn write(&self, name: &str, contents: &str) {
        std::fs::write(self.path().join(name), contents).expect("a file in the scratch repository");
    }

    /// Reads a file of the work tree, if it is there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path().join(name)).ok()
    }

    /// The subjects of the commits, newest first.
    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Runs git here, without anyone's configuration, and gives its standard output.
    pub(crate) fn git<const N: usize>(&self, arguments: [&str; N]) -> String {
        let variables = [
            ("PATH", real_agent::search_path()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ];
        let finished = Invocation::new("git", self.path())
            .arguments(arguments)
            .environment(variables.map(|(name, value)| (name.to_owned(), value)))
            .run();
        assert!(finished.status.success(), "git {arguments:?}: {finished:#?}");
        finished.stdout
    }
}
