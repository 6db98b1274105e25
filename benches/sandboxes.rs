//! What a sandbox adds to the start of a program, next to the bare program that makes it.
//!
//! `cargo bench --bench sandboxes` prints one table: for each provider the time to make a sandbox, and from the start of a small
//! program inside to its end, and beside it the same program started bare. Sides take turns. A provider whose program is
//! missing is left out, and the bench says so.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, stops on trouble, and starts the bare side itself"
)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use sandcastle::sandbox::{
    Bubblewrap, Network, NoSandbox, Output, Program, SandboxHandle, SandboxProvider, SandboxRequest,
};
use sandcastle::testing::ScratchRepo;

/// How often each side runs in one turn, and how many turns there are.
const RUNS: usize = 20;
const TURNS: usize = 5;

/// What `bwrap` is given by hand: the same boundary, and the whole file system instead of a part of it.
const BARE: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
];

/// A provider, and the arguments of `bwrap` that make the same by hand.
struct Side {
    name: &'static str,
    provider: Box<dyn SandboxProvider>,
    bare: Option<&'static [&'static str]>,
}

fn main() {
    let sides = [
        Side { name: "none", provider: Box::new(NoSandbox::new()), bare: None },
        Side { name: "bubblewrap", provider: Box::new(Bubblewrap::new()), bare: Some(&[]) },
        Side {
            name: "bubblewrap, off",
            provider: Box::new(Bubblewrap::new().network(Network::Off)),
            bare: Some(&["--unshare-net"]),
        },
        Side {
            name: "bubblewrap, limited",
            provider: Box::new(Bubblewrap::new().network(Network::limited(["example.com"]))),
            bare: Some(&["--unshare-net"]),
        },
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!(
        "{:<20} {:>10} {:>10} {:>10} {:>10} {:>12}",
        "median of ms", "make", "start", "bare", "over none", "start/bare"
    );
    runtime.block_on(async {
        let repository = ScratchRepo::new().await.expect("a repository");
        let mut none = None;
        for side in &sides {
            measure(side, repository.path(), &mut none).await;
        }
    });
}

async fn measure(side: &Side, tree: &Path, none: &mut Option<f64>) {
    let begun = Instant::now();
    let handle = match side.provider.create(SandboxRequest::new(tree)).await {
        Ok(handle) => handle,
        Err(error) => return println!("{:<20} left out: {error}", side.name),
    };
    handle.close().await.expect("an end");
    let first = begun.elapsed();
    let (mut made, mut started, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let begun = Instant::now();
        let handle = side.provider.create(SandboxRequest::new(tree)).await.expect("a sandbox");
        made.push(begun.elapsed().as_secs_f64() * 1e3);
        for _ in 0..RUNS {
            started.push(inside(&handle).await);
            bare.push(by_hand(side.bare, tree));
        }
        handle.close().await.expect("an end");
    }
    let (made, started, bare) = (median(made), median(started), median(bare));
    let none = *none.get_or_insert(started);
    let (over, ratio) = (started - none, started / bare);
    println!("{:<20} {made:10.2} {started:10.2} {bare:10.2} {over:10.2} {ratio:11.2}x", side.name);
    println!("{:<20} the first one took {:.2} ms to make", "", first.as_secs_f64() * 1e3);
    if side.bare.is_some() {
        println!("{:<20} at most 20 ms over none: {}", "", if over <= 20.0 { "met" } else { "MISSED" });
    }
}

fn program() -> Program {
    Program::new("git").args(["commit", "--quiet", "--allow-empty", "--message", "x"])
}

async fn inside(handle: &Arc<dyn SandboxHandle>) -> f64 {
    let begun = Instant::now();
    let mut running = handle.start(program()).await.expect("a program");
    loop {
        if let Output::Exited(status) = running.next().await.expect("an end") {
            let took = begun.elapsed().as_secs_f64() * 1e3;
            assert!(status.success(), "{}", running.stderr().text());
            running.sweep().await;
            return took;
        }
    }
}

fn by_hand(added: Option<&[&str]>, tree: &Path) -> f64 {
    let program = program();
    let mut command = match added {
        None => Command::new(&program.name),
        Some(added) => {
            let mut command = Command::new("bwrap");
            command.args(BARE).args(added).arg("--bind").args([tree, tree]).arg("--chdir").arg(tree);
            command.arg("--").arg(&program.name);
            command
        }
    };
    command.args(&program.args).current_dir(tree);
    let begun = Instant::now();
    assert!(command.output().expect("a program").status.success());
    begun.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
