//! From the call of `run` to the first word of its agent, in each sandbox, next to the bare client with the same command.
//!
//! `cargo bench --bench starts` prints one table. *none* is the run itself: git, a journal, an agent process. *sandbox* is what a
//! provider adds to that, and *bare* the time from the start of `bwrap`, `docker run` or `podman run` to the first word of the same
//! command. Sides take turns. Engines are those that the variables of `.ci/engines env` name; what is not here is left out.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its figures, stops on trouble, reads where engines are, and starts the other side itself"
)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use sandcastle::event::StopReason;
use sandcastle::sandbox::SandboxProvider;
use sandcastle::testing::ScratchRepo;
use sandcastle::{Agent, AgentEvent, Bubblewrap, Docker, Logging, NoSandbox, Podman, RunEvent, RunOptions};

const RUNS: usize = 21;
const SCRIPT: &str = "echo started";

/// An agent that says one word.
#[derive(Debug)]
struct OneWord;

impl Agent for OneWord {
    fn name(&self) -> &str {
        "one-word"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn command(&self, _: &AgentRequest<'_>) -> sandcastle::Result<AgentCommand> {
        Ok(AgentCommand::new("sh").args(["-c", SCRIPT]))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Word)
    }
}

struct Word;

impl Decoder for Word {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        events.push(AgentEvent::Text { text: String::from_utf8_lossy(line).into_owned() });
        events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
    }
}

/// A sandbox, and the same by hand.
struct Side {
    name: &'static str,
    provider: Arc<dyn SandboxProvider>,
    bare: Box<dyn Fn(&Path) -> Command>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!(
        "{:<12} {:>12} {:>10} {:>10} {:>10} {:>12}",
        "median ms", "run to agent", "none", "sandbox", "bare", "sandbox/bare"
    );
    for side in sides() {
        runtime.block_on(measure(&side));
    }
}

fn sides() -> Vec<Side> {
    let image = variable("SANDCASTLE_TEST_IMAGE").unwrap_or_else(|| "sandcastle-test:local".to_owned());
    let mut sides = Vec::new();
    if Command::new("bwrap").arg("--version").output().is_ok_and(|output| output.status.success()) {
        sides.push(Side { name: "bubblewrap", provider: Arc::new(Bubblewrap::new()), bare: Box::new(bwrap) });
    }
    if let Some(host) = variable("SANDCASTLE_TEST_DOCKER_HOST") {
        let docker = Docker::new(&image).home("/home/sandcastle").client_env("DOCKER_HOST", &host);
        let (image, env) = (image.clone(), vec![("DOCKER_HOST", host)]);
        let bare = move |tree: &Path| container("docker", &env, &image, tree);
        sides.push(Side { name: "docker", provider: Arc::new(docker), bare: Box::new(bare) });
    }
    let own = ["CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"];
    let env: Option<Vec<_>> =
        own.into_iter().map(|name| Some((name, variable(&format!("SANDCASTLE_TEST_{name}"))?))).collect();
    if let Some(env) = env {
        let podman = Podman::new(&image).home("/home/sandcastle");
        let podman = env.iter().fold(podman, |podman, (key, value)| podman.client_env(key, value));
        let bare = move |tree: &Path| container("podman", &env, &image, tree);
        sides.push(Side { name: "podman", provider: Arc::new(podman), bare: Box::new(bare) });
    }
    sides
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

async fn measure(side: &Side) {
    let repository = ScratchRepo::new().await.expect("a repository");
    let none: Arc<dyn SandboxProvider> = Arc::new(NoSandbox::new());
    let (mut ours, mut without, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    run(&side.provider, &repository).await;
    for _ in 0..RUNS {
        ours.push(run(&side.provider, &repository).await);
        without.push(run(&none, &repository).await);
        bare.push(first_word((side.bare)(repository.path())));
    }
    let [ours, without, bare] = [ours, without, bare].map(median);
    let sandbox = ours - without;
    let name = side.name;
    println!("{name:<12} {ours:12.1} {without:10.1} {sandbox:10.1} {bare:10.1} {:12.2}", sandbox / bare);
    let is_met = if sandbox / bare <= 1.2 { "met" } else { "MISSED" };
    println!("{name:<12} at most 1.2 times the bare start: {is_met}");
    if name == "bubblewrap" {
        let is_met = if sandbox <= 20.0 { "met" } else { "MISSED" };
        println!("{name:<12} at most 20 ms over no sandbox: {is_met}");
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

async fn run(provider: &Arc<dyn SandboxProvider>, repository: &ScratchRepo) -> Duration {
    let spoke = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&spoke);
    let begun = Instant::now();
    let options = RunOptions::new(OneWord, Arc::clone(provider))
        .cwd(repository.path())
        .prompt("go")
        .logging(Logging::off())
        .on_event(move |event| {
            if let RunEvent::Agent { .. } = event {
                noted.lock().expect("no panic").get_or_insert_with(Instant::now);
            }
        });
    sandcastle::run(options).await.expect("a run");
    let spoke = spoke.lock().expect("no panic").expect("a word");
    spoke - begun
}

fn first_word(mut command: Command) -> Duration {
    let begun = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the client");
    let mut said = [0; 8];
    child.stdout.take().expect("a pipe").read_exact(&mut said).expect("the command's output");
    let taken = begun.elapsed();
    child.wait().expect("its end");
    taken
}

/// What `bwrap` is given by hand: the same boundary, and the whole file system instead of a part of it.
fn bwrap(tree: &Path) -> Command {
    let mut command = Command::new("bwrap");
    let walls = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent \
                 --new-session --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind";
    command.args(walls.split_whitespace()).args([tree, tree]).arg("--chdir").arg(tree);
    command.args(["sh", "-c", SCRIPT]);
    command
}

fn container(engine: &str, env: &[(&str, String)], image: &str, tree: &Path) -> Command {
    let owner = format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut command = Command::new(engine);
    command
        .args(["run", "-i", "--rm", "--volume", &format!("{0}:{0}", tree.display()), "--workdir"])
        .arg(tree)
        .args(["--user", &owner, image, "sh", "-c", SCRIPT])
        .envs(env.iter().map(|(key, value)| (key, value)));
    command
}
