//! Two hundred runs at once in one process on one repository, each on a branch of its own.
//!
//! `cargo bench --bench crowd` prints how many came right, the memory that this process had resident per run, and its open
//! files before and after. The agents are scripted ones: real child processes that write a file, commit and wait until all
//! the others have come as far.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its figures and stops on trouble"
)]

use std::time::{Duration, Instant};

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchStrategy, Logging, NoSandbox, RunOptions};

const RUNS: usize = 200;
const LIMIT_KIB_PER_RUN: u64 = 2 * 1024;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let repository = ScratchRepo::new().await.expect("a repository");
        // One run first, so that what is loaded once is not counted for each.
        run(&repository, "warm-up", 0).await.expect("a first run");
        for strategy in ["branch", "merge-to-head"] {
            measure(&repository, strategy).await;
        }
    });
}

async fn measure(repository: &ScratchRepo, strategy: &str) {
    let (files, resident) = (open_files(), resident_kib());
    let begun = Instant::now();
    let peak = tokio::spawn(peak_while(Duration::from_millis(20)));
    let tasks: Vec<_> = (0..RUNS)
        .map(|number| {
            let run = run(repository, strategy, number);
            // The repository outlives the tasks, which are all awaited below; a future of its own owns what it needs.
            tokio::spawn(run)
        })
        .collect();
    let mut right = 0;
    for (number, task) in tasks.into_iter().enumerate() {
        match task.await.expect("a task") {
            Ok(1) => right += 1,
            Ok(commits) => println!("run {number}: {commits} commits"),
            Err(error) => println!("run {number}: failed to {error:#}"),
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    peak.abort();
    let per_run =
        PEAK_KIB.swap(0, std::sync::atomic::Ordering::Relaxed).saturating_sub(resident) / RUNS as u64;
    let left = settled_files(files).await;
    println!(
        "{strategy:<14} {right} of {RUNS} right in {seconds:.1} s, {per_run} KiB per run, files {files} -> {left}"
    );
    assert_eq!(right, RUNS);
    assert_eq!(left, files, "open files");
    println!(
        "{strategy:<14} at most {LIMIT_KIB_PER_RUN} KiB per run: {}",
        if per_run < LIMIT_KIB_PER_RUN { "met" } else { "MISSED" }
    );
}

/// Runs one agent, and tells how many commits it made.
fn run(
    repository: &ScratchRepo,
    strategy: &str,
    number: usize,
) -> impl Future<Output = sandcastle::Result<usize>> + Send + 'static {
    let state = tempfile::TempDir::new().expect("a folder");
    let file = format!("{strategy}-{number}");
    let turn = Turn::new().write_file(&file, "made").commit(&file).sleep(Duration::from_secs(1)).say("done");
    let agent = Scripted::new(Script::new().turn(turn)).state_dir(state.path());
    let strategy = match strategy {
        "merge-to-head" => BranchStrategy::merge_to_head(),
        _ => BranchStrategy::branch(format!("crowd/{file}")),
    };
    let options = RunOptions::new(agent, NoSandbox::new())
        .cwd(repository.path())
        .branch_strategy(strategy)
        .logging(Logging::off())
        .prompt("Work.");
    async move {
        let result = sandcastle::run(options).await?;
        drop(state);
        Ok(result.commits.len())
    }
}

static PEAK_KIB: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

async fn peak_while(pause: Duration) {
    loop {
        PEAK_KIB.fetch_max(resident_kib(), std::sync::atomic::Ordering::Relaxed);
        tokio::time::sleep(pause).await;
    }
}

/// Counts the open files when those that are being closed are closed.
async fn settled_files(expected: usize) -> usize {
    for _ in 0..50 {
        if open_files() <= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    open_files()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}
