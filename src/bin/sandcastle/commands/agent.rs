//! The agent, the sandbox and the environment that flags describe.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;

use sandcastle::sandbox::{NoSandbox, SandboxProvider};
use sandcastle::{CancellationToken, RunOptions, registry};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{AgentArgs, Sandbox};
use crate::failure::Failure;

/// Builds options from the flags that all commands with an agent share.
pub(super) fn options(args: &AgentArgs) -> Result<RunOptions, Failure> {
    let agent = registry::find(&args.agent)?.create(args.model.as_deref().unwrap_or_default())?;
    let sandbox: Arc<dyn SandboxProvider> = match args.sandbox {
        Sandbox::None => Arc::new(NoSandbox::new()),
    };
    let mut options = RunOptions::shared(agent, sandbox);
    if let Some(cwd) = &args.cwd {
        options = options.cwd(cwd);
    }
    for variable in &args.env {
        let (key, value) = variable_of(variable)?;
        options = options.env(key, value);
    }
    Ok(options)
}

#[expect(clippy::disallowed_methods, reason = "the command reads the environment for the library")]
fn variable_of(text: &str) -> Result<(String, OsString), Failure> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.into())),
        Some(_) => {
            Err(Failure::usage(format!("failed to read `--env {text}`: the name before `=` is missing")))
        }
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.to_owned(), value)),
            None => Err(Failure::usage(format!(
                "failed to take `{text}` from the environment: it is not set; write KEY=VALUE to give it a value"
            ))),
        },
    }
}

/// Says who answers an interrupt from the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// The command, by ending the agent.
    EndsTheAgent,
    /// The agent, which has the terminal and gets the interrupt too.
    LeftToTheAgent,
}

/// Cancels when the user interrupts the command, its terminal goes, or somebody asks it to stop.
///
/// The agent is in a process group of its own, so none of these signals reaches it but through us.
pub(super) fn cancelled_by_signals(interrupt: Interrupt) -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        let kinds = [SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
        let kinds = kinds.into_iter().filter(|kind| !is_ignored(*kind));
        let Ok(mut signals) = kinds.map(signal).collect::<std::io::Result<Vec<_>>>() else { return };
        let any = std::future::poll_fn(|context| {
            let is_here = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_here { Poll::Ready(()) } else { Poll::Pending }
        });
        let interrupted = async {
            // Listening is what keeps an interrupt from ending this process.
            while tokio::signal::ctrl_c().await.is_ok() && interrupt == Interrupt::LeftToTheAgent {}
        };
        tokio::select! {
            () = interrupted => {}
            () = any => {}
        }
        cancel.cancel();
    });
    token
}

/// Tells whether a signal was ignored when the command was started, as `nohup` does with the hang-up of the terminal.
///
/// Where the system does not say, `nohup` is what counts.
fn is_ignored(kind: SignalKind) -> bool {
    if kind == SignalKind::terminate() {
        return false;
    }
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return kind == SignalKind::hangup();
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

/// Writes a path for a person.
pub(super) fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "-".to_owned(), |path| path.display().to_string())
}
