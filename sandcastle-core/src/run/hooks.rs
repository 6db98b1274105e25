//! Commands that a caller wants run when a worktree or a sandbox is ready.

use std::ffi::OsStr;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, TryStreamExt};

use tracing::Instrument;

use super::arguments::check_arguments;
use super::event::RunEvent;
use super::setup::Teller;
use super::shell::{Bounds, Call, Shell, Stdout};
use super::trace;
use crate::error::{Error, ErrorKind, Result};
use crate::output::one_line;
use crate::sandbox::BoxFuture;
use crate::secret::Secrets;
use crate::work::Exit;

/// Commands to run before the agent starts.
///
/// | when | where | how |
/// |---|---|---|
/// | [`host_worktree_ready`](Self::host_worktree_ready): the worktree is there, copies included | this host | one after the other, in this order |
/// | [`host_sandbox_ready`](Self::host_sandbox_ready): the sandbox is there | this host | all at once, with the next ones |
/// | [`sandbox_ready`](Self::sandbox_ready): the sandbox is there | the sandbox | all at once |
///
/// Each is run by `sh -c` in the worktree. On this host it inherits the environment of this process, less the variables
/// that would point git at another repository; in the sandbox it sees what the agent sees. The first that fails, or takes
/// longer than its limit, fails the run and ends the others. What a hook leaves running in the background is ended when
/// it is over: a service belongs into the image of the sandbox.
///
/// ```
/// use std::time::Duration;
/// use sandcastle_core::{Hook, Hooks};
///
/// let hooks = Hooks::new()
///     .host_worktree_ready("cp ../.env .env")
///     .sandbox_ready(Hook::new("npm ci").timeout(Duration::from_secs(300)))
///     .sandbox_ready(Hook::new("apt-get install -y ripgrep").sudo());
/// # let _ = hooks;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "hooks do nothing until they are part of the options of a run"]
pub struct Hooks {
    host_worktree_ready: Vec<Hook>,
    host_sandbox_ready: Vec<Hook>,
    sandbox_ready: Vec<Hook>,
}

/// One command of [`Hooks`].
///
/// Its limit is the `hook` of [`Timeouts`](crate::Timeouts), 60 seconds by default, unless it sets one itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a hook does nothing until it is part of `Hooks`"]
pub struct Hook {
    command: String,
    timeout: Option<Duration>,
    user: User,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Same,
    Root,
}

/// A point at which hooks run: what is ready, and for which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    HostWorktree,
    HostSandbox,
    Sandbox,
}

impl Hooks {
    /// Starts without hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a command for this host, when the worktree is ready.
    pub fn host_worktree_ready(mut self, hook: impl Into<Hook>) -> Self {
        self.host_worktree_ready.push(hook.into());
        self
    }

    /// Adds a command for this host, when the sandbox is ready.
    pub fn host_sandbox_ready(mut self, hook: impl Into<Hook>) -> Self {
        self.host_sandbox_ready.push(hook.into());
        self
    }

    /// Adds a command for the sandbox, when it is ready.
    pub fn sandbox_ready(mut self, hook: impl Into<Hook>) -> Self {
        self.sandbox_ready.push(hook.into());
        self
    }

    /// Checks that every hook can be run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when a command is blank or has a NUL character, a limit is zero, or a hook of this
    /// host asks for `sudo`.
    pub(super) fn check(&self) -> Result<()> {
        let points = [
            (Point::HostWorktree, &self.host_worktree_ready),
            (Point::HostSandbox, &self.host_sandbox_ready),
            (Point::Sandbox, &self.sandbox_ready),
        ];
        points
            .into_iter()
            .flat_map(|(point, hooks)| hooks.iter().map(move |hook| (point, hook)))
            .try_for_each(|(point, hook)| hook.check(point))
    }

    /// Checks that no hook shows a declared secret, as its command is an argument of the shell, and returns what to warn of.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when one does.
    pub(super) fn check_secrets(&self, secrets: &Secrets) -> Result<Option<String>> {
        let hooks = [&self.host_worktree_ready, &self.host_sandbox_ready, &self.sandbox_ready];
        let commands = hooks.into_iter().flatten().map(|hook| &hook.command);
        check_arguments(OsStr::new("sh"), commands, secrets)
    }

    /// Tells whether there is a hook for the worktree.
    pub(super) fn has_worktree_ready(&self) -> bool {
        !self.host_worktree_ready.is_empty()
    }

    /// Tells whether there is any hook.
    pub(super) fn has_any(&self) -> bool {
        self.has_worktree_ready() || self.has_sandbox_ready()
    }

    /// Tells whether there is a hook of this host for the sandbox.
    pub(super) fn has_host_sandbox_ready(&self) -> bool {
        !self.host_sandbox_ready.is_empty()
    }

    /// Tells whether there is a hook for the sandbox, on either side.
    pub(super) fn has_sandbox_ready(&self) -> bool {
        !(self.host_sandbox_ready.is_empty() && self.sandbox_ready.is_empty())
    }

    /// Runs what is to run when the worktree is ready, and tells what is run.
    ///
    /// # Errors
    /// [`ErrorKind::Hook`] when one fails, [`ErrorKind::StepTimeout`] when one takes too long.
    ///
    /// # Cancel safety
    /// Dropping the future ends what it has started.
    pub(super) async fn run_worktree_ready(
        &self,
        host: &Shell<'_>,
        bounds: &Bounds<'_>,
        teller: &Teller<'_>,
    ) -> Result<()> {
        let all = async {
            for hook in &self.host_worktree_ready {
                hook.run(Point::HostWorktree, host, bounds, teller).await?;
            }
            Ok(())
        };
        bounds.apply("run the hooks of the worktree", all).await
    }

    /// Runs what is to run when the sandbox is ready, on both sides; otherwise as [`Hooks::run_worktree_ready`].
    pub(super) async fn run_sandbox_ready(
        &self,
        host: &Shell<'_>,
        sandbox: &Shell<'_>,
        bounds: &Bounds<'_>,
        teller: &Teller<'_>,
    ) -> Result<()> {
        let all: FuturesUnordered<BoxFuture<'_, Result<()>>> = FuturesUnordered::new();
        for hook in &self.host_sandbox_ready {
            all.push(Box::pin(hook.run(Point::HostSandbox, host, bounds, teller)));
        }
        for hook in &self.sandbox_ready {
            all.push(Box::pin(hook.run(Point::Sandbox, sandbox, bounds, teller)));
        }
        bounds.apply("run the hooks of the sandbox", all.try_collect()).await
    }
}

impl Hook {
    /// Describes a shell command.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), timeout: None, user: User::Same }
    }

    /// Sets how long it may take.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Runs the whole command, not only its first word, as the super-user of the sandbox; only for
    /// [`Hooks::sandbox_ready`].
    ///
    /// `sudo` has to be installed inside and must not ask for a password. Which variables pass is its own affair.
    pub fn sudo(mut self) -> Self {
        self.user = User::Root;
        self
    }

    fn check(&self, point: Point) -> Result<()> {
        let command = one_line(&self.command);
        let refused = |why: &str| {
            Error::new(ErrorKind::InvalidOptions, format!("use the hook `{command:.200}` for {point}: {why}"))
        };
        if self.command.trim().is_empty() {
            return Err(refused("it is blank"));
        }
        if self.command.contains('\0') {
            return Err(refused("it has a NUL character"));
        }
        if self.timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(refused("its limit is zero").with_hint("a limit is longer than nothing"));
        }
        if self.user == User::Root && point != Point::Sandbox {
            return Err(refused("`sudo` is for the sandbox only")
                .with_hint("write `sudo` into the command if that is meant"));
        }
        Ok(())
    }

    async fn run(
        &self,
        point: Point,
        shell: &Shell<'_>,
        bounds: &Bounds<'_>,
        teller: &Teller<'_>,
    ) -> Result<()> {
        let (hook, command) = (point.name().to_owned(), one_line(&self.command).into_owned());
        teller.tell(RunEvent::HookStarted { hook: hook.clone(), command: command.clone() });
        let mut argv = match self.user {
            User::Same => Vec::new(),
            User::Root => vec!["sudo", "-n", "--"],
        };
        argv.extend(["sh", "-c", &self.command]);
        let limit = self.timeout.unwrap_or(bounds.timeouts.hook);
        let call = Call { argv, shown: &self.command, limit, stdin: &[], stdout: Stdout::End };
        let finished = shell.run(call).instrument(trace::hook(point.name())).await.map_err(|failure| {
            let error = failure.into_error(ErrorKind::Hook, &format!("run a hook for {point}"));
            match error.kind() {
                ErrorKind::StepTimeout => error.with_hint(
                    "set its own limit with `Hook::timeout`, or raise `hook` in the timeouts of the run",
                ),
                _ => error,
            }
        })?;
        if finished.left_behind > 0 {
            teller.warn(format!("what the hook `{command:.200}` for {point} left running was ended"));
        }
        let exit = Exit::Code(0);
        teller.tell(RunEvent::HookEnded { hook, command, exit, duration: finished.elapsed });
        Ok(())
    }
}

impl From<&str> for Hook {
    fn from(command: &str) -> Self {
        Self::new(command)
    }
}

impl From<String> for Hook {
    fn from(command: String) -> Self {
        Self::new(command)
    }
}

impl Point {
    fn name(self) -> &'static str {
        match self {
            Self::HostWorktree => "host_worktree_ready",
            Self::HostSandbox => "host_sandbox_ready",
            Self::Sandbox => "sandbox_ready",
        }
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.name())
    }
}
