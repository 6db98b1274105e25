//! A container that was made, as the engine uses it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::gate::Gate;
use super::instance::Container;
use crate::error::Result;
use crate::process::{Line, Program, Running, Streams};
use crate::sandbox::{BoxFuture, SandboxHandle};
use crate::secret::Variables;

/// Settings of git for every program inside: that its folders may belong to another user, and that nothing is collected which
/// another process may need.
const GIT_SETTINGS: [(&str, &str); 3] =
    [("safe.directory", "*"), ("gc.auto", "0"), ("maintenance.auto", "false")];

pub(super) struct Handle {
    pub(super) container: Arc<Container>,
    /// The way to the launcher that is the container's first process, for the first program.
    pub(super) line: Mutex<Option<Line>>,
    pub(super) worktree: PathBuf,
    /// The home of programs inside.
    pub(super) home: PathBuf,
    /// That home on this host, if it is mounted.
    pub(super) home_here: Option<PathBuf>,
    pub(super) env: Variables,
    /// What brings programs inside to the hosts that they may reach.
    pub(super) gate: Mutex<Option<Gate>>,
    pub(super) is_closed: AtomicBool,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (container, worktree) = (self.container.name(), &self.worktree);
        f.debug_struct("Handle")
            .field("container", &container)
            .field("worktree", worktree)
            .finish_non_exhaustive()
    }
}

impl Handle {
    fn take_line(&self) -> Option<Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn completed(&self, mut program: Program) -> Program {
        program.env.splice(0..0, self.env.iter().cloned());
        let settings = git_settings(&program.env);
        program.env.extend(settings);
        let cwd = program.cwd.take().unwrap_or_else(|| self.worktree.clone());
        program.cwd(cwd)
    }
}

impl SandboxHandle for Handle {
    fn worktree(&self) -> &Path {
        &self.worktree
    }

    fn home(&self) -> Option<PathBuf> {
        self.home_here.clone()
    }

    fn home_inside(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn id(&self) -> Option<String> {
        Some(self.container.name().to_owned())
    }

    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = gate.as_ref().and_then(Gate::refused).into_iter().collect();
        Box::pin(async { Ok(refused) })
    }

    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>> {
        let program = self.completed(program);
        Box::pin(async move {
            let line = match program.streams {
                Streams::Piped => self.take_line(),
                _ => None,
            };
            match line {
                Some(line) => line.run(&program).await,
                None => Running::remote(Arc::clone(&self.container) as Arc<_>, &program).await,
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            if self.is_closed.load(Ordering::Acquire) {
                return Ok(());
            }
            self.container.remove().await?;
            self.is_closed.store(true, Ordering::Release);
            self.gate.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Its client ends with it.
            if let Some(line) = self.take_line() {
                line.abandon();
            }
            Ok(())
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.is_closed.load(Ordering::Acquire) {
            self.container.remove_blocking();
        }
        if let Some(line) = self.take_line() {
            line.abandon();
        }
    }
}

/// Returns the variables that add the settings to those that are there already.
fn git_settings(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let count =
        env.iter().rev().find(|(key, _)| key == "GIT_CONFIG_COUNT").map(|(_, value)| value.as_os_str());
    let first: usize = count.and_then(OsStr::to_str).and_then(|count| count.parse().ok()).unwrap_or(0);
    let mut variables = Vec::new();
    for (number, (key, value)) in (first..).zip(GIT_SETTINGS) {
        variables.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    variables.push(("GIT_CONFIG_COUNT".into(), (first + GIT_SETTINGS.len()).to_string().into()));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_git_are_added_to_those_that_are_there() {
        let of = |env: &[(&str, &str)]| {
            let env: Vec<(OsString, OsString)> =
                env.iter().map(|(key, value)| (key.into(), value.into())).collect();
            git_settings(&env)
                .into_iter()
                .map(|(key, value)| format!("{}={}", key.display(), value.display()))
                .collect::<Vec<_>>()
        };
        let added = of(&[("GIT_CONFIG_COUNT", "9"), ("GIT_CONFIG_COUNT", "2")]);
        assert_eq!(added[..2], ["GIT_CONFIG_KEY_2=safe.directory", "GIT_CONFIG_VALUE_2=*"]);
        assert_eq!(added.last().unwrap(), "GIT_CONFIG_COUNT=5");
        assert_eq!(of(&[("GIT_CONFIG_COUNT", "many")]).last().unwrap(), "GIT_CONFIG_COUNT=3");
    }
}
