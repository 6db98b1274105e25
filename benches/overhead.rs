//! What a run costs beside what its agent does, next to a shell script and to the reference.
//!
//! `cargo bench --bench overhead` prints one table for the branch strategies `head` and `merge-to-head`: this library, a shell
//! script that starts the same agent and makes the same calls of git, and the TypeScript package driving the same agent
//! through the same strategy, each in its own scratch repository, taken in turns. The package is installed from npm
//! into `.cache/overhead`; where that fails its column is missing, and the bench says so.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, stops on trouble, and starts the other sides itself"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use sandcastle::event::StopReason;
use sandcastle::testing::ScratchRepo;
use sandcastle::{Agent, AgentEvent, BranchStrategy, Logging, NoSandbox, RunOptions};

/// How often each side runs in one turn, and how many turns there are.
const RUNS: usize = 20;
const TURNS: usize = 5;

fn main() {
    let reference = Reference::install();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!(
        "{:<14} {:>12} {:>12} {:>12} {:>12} {:>15}",
        "median of ms", "this", "script", "package", "this/script", "over script"
    );
    for strategy in ["head", "merge-to-head"] {
        runtime.block_on(measure(strategy, reference.as_ref()));
    }
}

async fn measure(strategy: &'static str, reference: Option<&Reference>) {
    let (mut ours, mut floor, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.extend(this_library(strategy).await);
        floor.extend(script(strategy).await);
        if let Some(reference) = reference {
            theirs.extend(reference.runs(strategy).await);
        }
    }
    let (ours, floor) = (median(ours), median(floor));
    let ratio = ours / floor;
    if reference.is_none() {
        println!("{strategy:<14} {ours:12.2} {floor:12.2} {:>12} {ratio:12.2}", "-");
        return;
    }
    let theirs = median(theirs);
    let (over, their_over) = (ours - floor, theirs - floor);
    let less = less_over_script(over, their_over);
    println!("{strategy:<14} {ours:12.2} {floor:12.2} {theirs:12.2} {ratio:12.2} {less:>15}");
    println!(
        "{strategy:<14} at most 1.5 times the script: {}; at least 5 times less over it than the package: {}",
        if ratio <= 1.5 { "met" } else { "MISSED" },
        if over <= 0.0 || their_over >= 5.0 * over { "met" } else { "MISSED" }
    );
}

/// Words how many times less this library takes over the script than the package does. There is no such number for who
/// takes no more than the script, which is the floor.
fn less_over_script(over: f64, their_over: f64) -> String {
    match (over > 0.0, their_over > 0.0) {
        (true, _) => format!("{:.1}x", their_over / over),
        (false, true) => "below the floor".to_owned(),
        (false, false) => "both below".to_owned(),
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/overhead")
}

/// The program of the agent, as this library sees it.
#[derive(Debug)]
struct Small;

impl Agent for Small {
    fn name(&self) -> &str {
        "small"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn command(&self, request: &AgentRequest<'_>) -> sandcastle::Result<AgentCommand> {
        Ok(AgentCommand::new(folder().join("agent.sh")).stdin(request.prompt))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Lines)
    }
}

struct Lines;

impl Decoder for Lines {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        events.push(AgentEvent::Text { text: String::from_utf8_lossy(line).into_owned() });
        events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
    }
}

async fn this_library(strategy: &str) -> Vec<f64> {
    let repository = ScratchRepo::new().await.expect("a repository");
    let strategy = if strategy == "head" { BranchStrategy::head() } else { BranchStrategy::merge_to_head() };
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let options = RunOptions::new(Small, NoSandbox::new())
            .cwd(repository.path())
            .branch_strategy(strategy.clone())
            .logging(Logging::file("/dev/null"))
            .prompt("Work.");
        let begun = Instant::now();
        let result = sandcastle::run(options).await.expect("a run");
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!((result.commits.len(), result.branch.as_str()), (1, "main"));
    }
    times
}

async fn script(strategy: &str) -> Vec<f64> {
    let repository = ScratchRepo::new().await.expect("a repository");
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let status = Command::new("sh")
            .arg(folder().join("floor.sh"))
            .arg(strategy)
            .arg(folder().join("agent.sh"))
            .current_dir(repository.path())
            .status()
            .expect("the script");
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert!(status.success());
    }
    times
}

/// The TypeScript package, installed.
struct Reference {
    folder: PathBuf,
}

impl Reference {
    fn install() -> Option<Self> {
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/overhead");
        std::fs::create_dir_all(&cache).expect("a folder");
        for file in ["package.json", "reference.mjs"] {
            std::fs::copy(folder().join(file), cache.join(file)).expect("a copy");
        }
        let installed = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--silent"])
            .current_dir(&cache)
            .status();
        if installed.is_ok_and(|status| status.success()) {
            return Some(Self { folder: cache });
        }
        println!("the package could not be installed, so it is not measured");
        None
    }

    async fn runs(&self, strategy: &str) -> Vec<f64> {
        let repository = ScratchRepo::new().await.expect("a repository");
        // It writes to the user's global configuration; here to one of its own.
        let home = tempfile::TempDir::new().expect("a folder");
        let output = Command::new("node")
            .arg(self.folder.join("reference.mjs"))
            .arg(repository.path())
            .args([strategy])
            .arg(folder().join("agent.sh"))
            .arg(RUNS.to_string())
            .env("HOME", home.path())
            .output()
            .expect("node");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(printed.lines().last().expect("a line")).expect("a list of times")
    }
}
