//! The agent, the sandbox and the environment that flags describe.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use sandcastle::sandbox::{NoSandbox, SandboxProvider};
use sandcastle::{CancellationToken, RunOptions, registry};

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

/// Cancels when the user interrupts the command or somebody asks it to stop.
pub(super) fn cancelled_by_signals() -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        let mut terminate = match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(terminate) => terminate,
            Err(_) => return,
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        cancel.cancel();
    });
    token
}

/// Writes a path for a person.
pub(super) fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "-".to_owned(), |path| path.display().to_string())
}
