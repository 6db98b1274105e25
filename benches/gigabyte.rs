//! One gigabyte of agent output through a whole run, with the block at the start, in the middle and at the end.
//!
//! `cargo bench --bench gigabyte` prints the value, the time and the most memory that this process ever had resident. The
//! agent is the scripted one: a child process whose output comes through a pipe, as every agent's does.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its figures and stops on trouble"
)]

use std::time::Instant;

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{AgentOutput, Logging, NoSandbox, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct N {
    n: i64,
}

const BLOCK: &str = r#"<result>{"n": 42}</result>"#;
const PIECE: usize = 4096;
const TOTAL: usize = 1 << 30;
const LIMIT_MIB: u64 = 64;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (place, before) in [("start", 0), ("middle", 50), ("end", 100)] {
        let begun = Instant::now();
        let n = runtime.block_on(run(before));
        let seconds = begun.elapsed().as_secs_f64();
        let rate = TOTAL as f64 / (1 << 20) as f64 / seconds;
        println!(
            "block at the {place:<6}  n = {n}  {seconds:5.1} s  {rate:6.0} MiB/s  peak {} MiB",
            peak_mib()
        );
        assert_eq!(n, 42);
    }
    let peak = peak_mib();
    println!(
        "peak resident memory {peak} MiB, limit {LIMIT_MIB} MiB: {}",
        if peak < LIMIT_MIB { "met" } else { "MISSED" }
    );
    assert!(peak < LIMIT_MIB);
}

/// Runs an agent that says the block after so many hundredths of the text.
async fn run(before: usize) -> i64 {
    let state = tempfile::TempDir::new().expect("a folder");
    let repository = ScratchRepo::new().await.expect("a repository");
    let words = "The quick brown fox jumps over the lazy dog <b>and</b> back again. ".repeat(PIECE / 67);
    let pieces = TOTAL / words.len();
    let first = pieces * before / 100;
    let turn = Turn::new().repeat(&words, first as u64).say(BLOCK).repeat(&words, (pieces - first) as u64);
    let agent = Scripted::new(Script::new().turn(turn)).state_dir(state.path());
    let options = RunOptions::new(agent, NoSandbox::new())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("Answer in <result>.");
    sandcastle::run_with::<N>(options).await.expect("the value").output.n
}

/// Reads the peak of the resident memory of this process.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number");
    kib / 1024
}
