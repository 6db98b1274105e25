//! Agents that plant things for the host's git to run, or for the host to delete.
//!
//! Each vector is a row of `vectors`: what the agent plants as its last deed, and a command that shows that plain git would
//! have fallen for it. A run with the vector and a run after it must set off nothing; only then the command sets it off.

mod deletion;
pub(crate) mod vectors;

use std::path::{Path, PathBuf};

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchStrategy, ErrorKind, Logging, NoSandbox, RunOptions};
use tempfile::TempDir;

use self::vectors::{VECTORS, Vector};
use crate::support::process::Invocation;
use crate::support::real_agent;

/// A repository, and the program that an agent wants the host to run.
pub(crate) struct Trap {
    pub(crate) repository: ScratchRepo,
    pub(crate) outside: TempDir,
}

impl Trap {
    pub(crate) async fn new() -> Self {
        let trap = Self { repository: ScratchRepo::new().await.unwrap(), outside: TempDir::new().unwrap() };
        let evil = format!("#!/bin/sh\necho \"$0 $*\" >>'{}'\nexit 0\n", trap.mark().display());
        std::fs::write(trap.evil(), evil).unwrap();
        std::fs::set_permissions(trap.evil(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        // Something to merge with, to check out and to clean.
        trap.repository.write("both.txt", "one\ntwo\nthree\n").unwrap();
        trap.repository.git(["add", "--all"]).await.unwrap();
        trap.repository.git(["commit", "-qm", "both"]).await.unwrap();
        let origin = trap.outside.path().join("origin.git");
        trap.repository.git(["clone", "-q", "--bare", ".", origin.to_str().unwrap()]).await.unwrap();
        trap.repository.git(["remote", "add", "origin", origin.to_str().unwrap()]).await.unwrap();
        trap
    }

    pub(crate) fn evil(&self) -> PathBuf {
        self.outside.path().join("evil")
    }

    fn mark(&self) -> PathBuf {
        self.outside.path().join("mark")
    }

    /// What has been set off by now.
    pub(crate) fn executed(&self) -> String {
        std::fs::read_to_string(self.mark()).unwrap_or_default()
    }

    pub(crate) fn script(&self, text: &str) -> String {
        let root = self.repository.path().display();
        format!(
            "EVIL='{}'; ROOT='{root}'; OUT='{}'\n{text}",
            self.evil().display(),
            self.outside.path().display()
        )
    }

    fn options(&self, turn: Turn, strategy: BranchStrategy) -> RunOptions {
        let agent = Scripted::new(Script::new().turn(turn)).state_dir(self.outside.path().join("sessions"));
        RunOptions::new(agent, NoSandbox::new())
            .cwd(self.repository.path())
            .branch_strategy(strategy)
            .logging(Logging::off())
            .prompt("x")
    }

    /// Runs a shell command with plain git, as a user would afterwards.
    pub(crate) fn as_a_user(&self, command: &str) {
        let variables = [
            ("PATH", real_agent::search_path()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("HOME", self.outside.path().display().to_string()),
        ];
        Invocation::new("sh", self.repository.path())
            .arguments(["-c".to_owned(), self.script(command)])
            .environment(variables.map(|(name, value)| (name.to_owned(), value)))
            .run();
    }
}

fn strategies() -> [BranchStrategy; 2] {
    [BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/hostile")]
}

async fn spring(vector: &Vector, strategy: BranchStrategy) {
    let trap = Trap::new().await;
    let host = "(cd \"$ROOT\" && echo host >>both.txt && git commit -qam Host)";
    let work = "sed -i 's/one/ONE/' both.txt; echo made >made.txt; git add --all; git commit -qm Work";
    let turn = Turn::new()
        .shell(trap.script(&format!("set -e; {work}; {host}; echo loose >loose.txt; echo more >>made.txt")))
        .shell(trap.script(vector.plant))
        .say("ok");
    let first = sandcastle::run(trap.options(turn, strategy.clone())).await;
    assert_eq!(trap.executed(), "", "{}: set off by the run that planted it", vector.name);
    if let Err(error) = &first {
        let expected =
            matches!(error.kind(), ErrorKind::RepositoryChanged | ErrorKind::Merge | ErrorKind::Git);
        assert!(expected, "{}: {error:#}", vector.name);
        let work = error.work().unwrap();
        assert!(!work.commits.is_empty() || !work.warnings.is_empty(), "{}: {work:?}", vector.name);
    }
    if vector.is_a_change_of_the_repository {
        let error = first.expect_err("a change of what git executes is refused");
        assert_eq!(error.kind(), ErrorKind::RepositoryChanged, "{}: {error:#}", vector.name);
    }
    let again = Turn::new().write_file("again.txt", "1").say("ok");
    let _ = sandcastle::run(trap.options(again, strategy)).await;
    assert_eq!(trap.executed(), "", "{}: set off by the next run", vector.name);
    if let Some(fires) = vector.fires {
        trap.as_a_user(fires);
        assert_ne!(
            trap.executed(),
            "",
            "{}: a vector that plain git does not fall for shows nothing",
            vector.name
        );
    }
}

#[tokio::test]
async fn w_1_nothing_that_an_agent_plants_is_executed_by_the_host() {
    for vector in VECTORS {
        for strategy in strategies() {
            spring(vector, strategy).await;
        }
    }
}

#[tokio::test]
async fn w_14_no_global_configuration_is_written() {
    let trap = Trap::new().await;
    let home = trap.outside.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let turn = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let options = trap.options(turn, BranchStrategy::merge_to_head()).env("HOME", &home);
    sandcastle::run(options).await.unwrap();
    assert_eq!(files_below(&home), Vec::<PathBuf>::new());
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.collect()
}
