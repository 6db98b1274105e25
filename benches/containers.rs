//! What stands between a run and its agent in a container, next to the bare client of the engine.
//!
//! `cargo bench --bench containers` prints a line for each engine that the variables of `.ci/engines env` name: the time from
//! the start to the first output of the same command, by `docker run` or `podman run` with nothing but a work tree, by a sandbox that
//! is the first of its image in a process, and by a later one; taken in turns.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, stops on trouble, reads where engines are, and starts the other side itself"
)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandcastle::sandbox::{Docker, Podman, Program, SandboxProvider, SandboxRequest};

const RUNS: usize = 21;
const SCRIPT: &str = "echo started";

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!(
        "{:<10} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "median ms", "bare", "first", "later", "first/bare", "later/bare"
    );
    let image = variable("SANDCASTLE_TEST_IMAGE").unwrap_or_else(|| "sandcastle-test:local".to_owned());
    if let Some(host) = variable("SANDCASTLE_TEST_DOCKER_HOST") {
        let env = [("DOCKER_HOST", host)];
        let make = |number: usize| {
            let provider = Docker::new(&image).join_network("none").home("/home/sandcastle");
            env.iter()
                .fold(provider, |provider, (key, value)| provider.client_env(key, value))
                .client_env("NUMBER", number.to_string())
        };
        runtime.block_on(measure("docker", &env, &image, make));
    }
    let own = ["CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"];
    let env: Option<Vec<_>> =
        own.into_iter().map(|name| Some((name, variable(&format!("SANDCASTLE_TEST_{name}"))?))).collect();
    if let Some(env) = env {
        let make = |number: usize| {
            let provider = Podman::new(&image).join_network("none").home("/home/sandcastle");
            env.iter()
                .fold(provider, |provider, (key, value)| provider.client_env(key, value))
                .client_env("NUMBER", number.to_string())
        };
        runtime.block_on(measure("podman", &env, &image, make));
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

async fn measure<P: SandboxProvider>(
    engine: &str,
    env: &[(&str, String)],
    image: &str,
    make: impl Fn(usize) -> P,
) {
    let tree = tempfile::tempdir().expect("a work tree");
    let (mut plain, mut first, mut later) = (Vec::new(), Vec::new(), Vec::new());
    bare(engine, env, image, tree.path());
    sandbox(&make(0), tree.path()).await;
    for number in 1..=RUNS {
        plain.push(bare(engine, env, image, tree.path()));
        // What is known of an image is known of it by way of one client.
        first.push(sandbox(&make(number), tree.path()).await);
        later.push(sandbox(&make(0), tree.path()).await);
    }
    let [plain, first, later] = [plain, first, later].map(median);
    println!(
        "{engine:<10} {plain:10.1} {first:10.1} {later:10.1} {:12.2} {:12.2}",
        first / plain,
        later / plain
    );
    println!(
        "{engine:<10} at most 1.2 times the bare client: {}",
        if first / plain <= 1.2 { "met" } else { "MISSED" }
    );
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// Starts the command as anybody would who has the engine alone.
fn bare(engine: &str, env: &[(&str, String)], image: &str, tree: &Path) -> Duration {
    let mount = format!("{0}:{0}", tree.display());
    let owner = format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let begun = Instant::now();
    let mut child = Command::new(engine)
        .args(["run", "-i", "--rm", "--network=none", "--volume", &mount, "--workdir"])
        .arg(tree)
        .args(["--user", &owner, image, "sh", "-c", SCRIPT])
        .envs(env.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the client");
    let mut said = [0; 8];
    child.stdout.take().expect("a pipe").read_exact(&mut said).expect("the command's output");
    let taken = begun.elapsed();
    child.wait().expect("its end");
    taken
}

/// Starts the command in a sandbox.
async fn sandbox(provider: &impl SandboxProvider, tree: &Path) -> Duration {
    let begun = Instant::now();
    let sandbox = provider.create(SandboxRequest::new(tree)).await.expect("a sandbox");
    let mut running = sandbox.start(Program::new("sh").args(["-c", SCRIPT])).await.expect("the command");
    running.next().await.expect("the command's output");
    let taken = begun.elapsed();
    running.sweep().await;
    sandbox.close().await.expect("its end");
    taken
}
