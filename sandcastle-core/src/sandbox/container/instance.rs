//! A container: how a shell in it is reached, and how it is removed.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client::Client;
use super::engine::Engine;
use super::refusal::{is_going, is_no_container, refusal};
use crate::error::Result;
use crate::process::{Line, Program, RemoteShell, Streams};

/// How long removing a container may take.
const REMOVAL: Duration = Duration::from_secs(60);
/// How long a destructor waits for a container to be made, so that it can be removed.
const MAKING: Duration = Duration::from_secs(10);
/// How long a destructor waits for a call.
const CALL: Duration = Duration::from_secs(10);

/// A container that is to be made by the first program that is started in it.
#[derive(Debug)]
pub(super) struct Container {
    client: Client,
    name: String,
    /// The arguments that make it, until it is made.
    making: Mutex<Option<Vec<OsString>>>,
}

impl Container {
    /// Describes a container that `making` makes.
    pub(super) fn new(client: Client, name: String, making: Vec<OsString>) -> Self {
        Self { client, name, making: Mutex::new(Some(making)) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Removes it, with everything that runs in it. One that is not there is no error.
    pub(super) async fn remove(&self) -> Result<()> {
        remove(&self.client, &self.name).await
    }

    /// As [`Container::remove`], in a destructor.
    pub(super) fn remove_blocking(&self) {
        self.client.call_blocking(removal(&self.client, &self.name), CALL);
    }

    /// Removes it in a destructor though it may not be made yet: an engine that was told to make it does so even if
    /// whoever told it is gone. So it is waited for until it is there, or its client has ended.
    pub(super) fn discard_blocking(&self, mut line: Line) {
        let until = Instant::now() + MAKING;
        loop {
            let is_over = line.is_over();
            if self.client.call_blocking(["container", "inspect", "--format", "there", &self.name], CALL) {
                self.remove_blocking();
                break;
            }
            if is_over || Instant::now() > until {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        line.abandon();
    }
}

/// Removes a container with everything that runs in it.
pub(super) async fn remove(client: &Client, name: &str) -> Result<()> {
    let until = Instant::now() + REMOVAL;
    loop {
        let called = client.call(removal(client, name), REMOVAL).await?;
        let is_going = is_going(&called.stderr);
        if is_going && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        } else if called.status.success() || is_going || is_no_container(&called.stderr) {
            return Ok(());
        } else {
            return Err(refusal(client.engine(), &format!("remove the container `{name}`"), &called.stderr));
        }
    }
}

/// Returns the arguments that remove a container at once.
fn removal<'a>(client: &Client, name: &'a str) -> Vec<&'a str> {
    // Podman would wait ten seconds for a first process that ignores its request to stop.
    let at_once: &[&str] = match client.engine() {
        Engine::Docker => &[],
        Engine::Podman => &["--time=0"],
    };
    [&["rm", "--force", "--volumes"], at_once, &[name]].concat()
}

impl RemoteShell for Container {
    fn client(&self, script: &str, args: &[&str], streams: Streams) -> Program {
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner).take();
        let program = match making {
            Some(making) => self.client.program(making),
            None => {
                let has_terminal = streams == Streams::Terminal && std::io::stdin().is_terminal();
                // The kind of terminal is told by its name; its value is the client's own.
                let flags: &[&str] = if has_terminal { &["--tty", "--env=TERM"] } else { &[] };
                self.client.program(["exec", "--interactive"]).args(flags).args([&*self.name, "sh"])
            }
        };
        program.args(["-c", script, "sh"]).args(args).streams(streams)
    }
}
