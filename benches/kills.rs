//! Kills of the command at random moments of a `merge-to-head` run that commits.
//!
//! `cargo bench --bench kills [-- COUNT]` kills the command with `SIGKILL` so many times (100 by default), each in a fresh
//! repository, and checks what is left: every commit of the agent is on a branch, every file that it had finished is
//! somewhere, the checkout is never half merged, `sandcastle runs recover` names all of it and ends what still runs, and the
//! next run lands as if nothing had happened.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, stops on trouble, and kills what it starts itself"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How many files the agent makes; each second one is committed.
const FILES: usize = 6;

fn main() {
    let count = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100);
    // The first ones warm up what the others share.
    let mut times: Vec<Duration> = (0..7).map(|_| whole_run()).collect();
    times.sort_unstable();
    let whole = times[times.len() / 2];
    println!("an undisturbed run takes {} ms", whole.as_millis());
    let mut states = BTreeMap::new();
    for number in 0..count {
        let at = whole.mul_f64(1.2 * f64::from(number) / f64::from(count)) + jitter();
        let state = Scene::new().kill_at(at);
        *states.entry(state).or_insert(0) += 1;
    }
    println!("{count} kills, nothing lost:");
    for (state, times) in states {
        println!("  {times:>4} x {state}");
    }
}

fn jitter() -> Duration {
    let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    Duration::from_micros(u64::from(nanos / 1000 % 5_000))
}

/// Takes the time of a run that nobody kills.
fn whole_run() -> Duration {
    let scene = Scene::new();
    let begun = Instant::now();
    let status = scene.command("file").status().expect("the command");
    assert!(status.success(), "a run that is not killed succeeds");
    assert_eq!(scene.left_on("main", "file").len(), FILES, "all files have landed");
    begun.elapsed()
}

/// Names the moment of a kill, as the journal has it.
fn moment_of(run: &Value) -> &'static str {
    let [answer, session] = ["answer", "session"].map(|part| !run[part].is_null());
    match run["landing"]["state"].as_str() {
        Some("landed") => "after the landing",
        Some(_) => "amid the landing",
        None if answer && !run["answer"]["value"].is_null() => "after the answer",
        None if session => "amid the work",
        None if run["worktrees"].as_array().is_some_and(|left| !left.is_empty()) => "in the worktree",
        None => "before there was a worktree",
    }
}

/// A repository, and an agent that works in it.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { folder: TempDir::new().expect("a folder") };
        fs::create_dir(scene.repository()).expect("a folder");
        scene.git(&["init", "-q", "--initial-branch=main"]);
        scene.git(&["config", "user.name", "Host"]);
        scene.git(&["config", "user.email", "host@example.invalid"]);
        fs::write(scene.repository().join("README.md"), "begin\n").expect("a file");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "begin"]);
        for name in ["file", "again"] {
            let script = scene.script(name).to_string();
            fs::write(scene.folder.path().join(name), script).expect("the script");
        }
        scene
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// The agent notes outside of the repository what it has finished.
    fn script(&self, name: &str) -> Value {
        let done = self.folder.path().join("done");
        let mut steps = Vec::new();
        for number in 0..FILES {
            let file = format!("{name}{number}");
            steps.push(
                json!({ "shell": format!("echo {number} >{file} && echo {file} >>'{}'", done.display()) }),
            );
            if number % 2 == 1 {
                steps.push(json!({ "commit": format!("commit {file}") }));
                steps.push(json!({ "shell": format!("echo commit {file} >>'{}'", done.display()) }));
            }
        }
        steps.push(json!({ "say": "<result>{\"n\": 5}</result>" }));
        json!({ "turns": [{ "steps": steps }] })
    }

    /// Runs the agent with one of its scripts.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandcastle"));
        command
            .args([
                "--quiet",
                "run",
                "--agent",
                "scripted",
                "--branch-strategy",
                "merge-to-head",
                "--tag",
                "result",
            ])
            .args(["--prompt", "Work and answer in <result>.", "--model"])
            .arg(self.folder.path().join(script))
            .current_dir(self.repository())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Kills a run, and tells in which state it was found.
    fn kill_at(self, at: Duration) -> String {
        let mut child = self.command("file").spawn().expect("the command");
        std::thread::sleep(at);
        let finished = child.try_wait().expect("a child").is_some();
        child.kill().expect("a kill");
        child.wait().expect("a child");
        let recovered = self.recover();
        self.check(&recovered);
        self.run_again();
        match recovered.first() {
            Some(recovery) => moment_of(&recovery["run"]).to_owned(),
            None if finished => "had finished".to_owned(),
            None => "before it had begun, or after it had ended".to_owned(),
        }
    }

    /// Recovers every run that died, and returns what the command says of each.
    fn recover(&self) -> Vec<Value> {
        let recovered = self.runs(&["recover"]);
        assert_eq!(recovered["failed"], json!([]));
        let recovered = recovered["recovered"].as_array().cloned().unwrap_or_default();
        for run in &recovered {
            let shown = self.runs(&["show", run["run"]["id"].as_str().expect("an id")]);
            assert_eq!(shown["processes"], json!([]), "still running");
        }
        recovered
    }

    /// Runs once more. What was rescued is no business of the next run.
    fn run_again(&self) {
        let status = self.command("again").status().expect("the command");
        assert!(status.success(), "the next run: {status}");
        assert_eq!(self.left_on("main", "again").len(), FILES, "the files of the next run have landed");
        assert_eq!(self.git(&["status", "--porcelain"]), "", "the checkout of the user");
    }

    fn runs(&self, args: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_sandcastle"))
            .args(["--format", "json", "runs"])
            .args(args)
            .current_dir(self.repository())
            .output()
            .expect("the command");
        assert!(output.status.success(), "{args:?}: {output:?}");
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    fn check(&self, recovered: &[Value]) {
        assert!(!self.repository().join(".git/MERGE_HEAD").exists(), "half merged");
        // Who is killed between making a folder and hiding it from git leaves it visible; the next run hides it.
        let status = self.git(&["status", "--porcelain"]);
        assert!(matches!(status.as_str(), "" | "?? .sandcastle/"), "the checkout of the user: {status}");
        let reachable = self.git(&["log", "--branches", "--format=%s"]);
        // A commit that git had begun when its process was ended is on no branch; what it would have held is kept.
        let unreachable = self.git(&["fsck", "--unreachable", "--no-progress", "--no-reflogs"]);
        for commit in unreachable.lines().filter_map(|line| line.strip_prefix("unreachable commit ")) {
            for file in self.left_on(commit, "file") {
                assert!(self.holds(&file), "{file} of {commit} is lost: {recovered:?}");
            }
        }
        for done in self.done() {
            if done.starts_with("commit") {
                assert!(reachable.lines().any(|subject| subject == done), "{done} is lost: {recovered:?}");
            } else {
                assert!(self.holds(&done), "{done} is lost: {recovered:?}");
            }
        }
    }

    /// Looks for a file in every branch and every worktree.
    fn holds(&self, file: &str) -> bool {
        let branches = self.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]);
        let on_branch =
            branches.lines().any(|branch| self.left_on(branch, "").iter().any(|name| name == file));
        let worktrees = self.git(&["worktree", "list", "--porcelain"]);
        let mut folders = worktrees.lines().filter_map(|line| line.strip_prefix("worktree "));
        on_branch || folders.any(|folder| Path::new(folder).join(file).exists())
    }

    /// Returns what the agent had finished.
    fn done(&self) -> Vec<String> {
        let done = fs::read_to_string(self.folder.path().join("done")).unwrap_or_default();
        done.lines().map(str::to_owned).collect()
    }

    fn left_on(&self, rev: &str, prefix: &str) -> Vec<String> {
        let names = self.git(&["ls-tree", "--name-only", rev]);
        names.lines().filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.repository()).output().expect("git");
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}
