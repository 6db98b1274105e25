//! The engine's client on this host: which program it is, what it is aimed at, and one call of it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::engine::Engine;
use super::refusal::refusal;
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Captured, Program, capture_blocking, capture_gently};
use crate::secret::Variables;

/// What one call may print.
const OUTPUT_LIMIT: usize = 4 * 1024 * 1024;
/// How long a call is waited for whose future was dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the engine is reached.
///
/// The client inherits the environment of this process, which is where `DOCKER_HOST`, `CONTAINERS_CONF` and the like are
/// expected to be; what runs in a container inherits none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    engine: Engine,
    program: PathBuf,
    context: Option<String>,
    host: Option<String>,
    env: Variables,
}

impl Client {
    pub(crate) fn new(engine: Engine) -> Self {
        let program = PathBuf::from(engine.name());
        Self { engine, program, context: None, host: None, env: Variables::default() }
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine
    }

    /// Names the client's program.
    pub(super) fn set_program(&mut self, program: PathBuf) {
        self.program = program;
    }

    /// Aims it at a context of Docker, or a connection of Podman.
    pub(super) fn set_context(&mut self, context: String) {
        self.context = Some(context);
    }

    /// Aims it at an address.
    pub(super) fn set_host(&mut self, host: String) {
        self.host = Some(host);
    }

    /// Sets a variable of the client itself.
    pub(super) fn set_env(&mut self, key: OsString, value: OsString) {
        self.env.set(key, value);
    }

    /// Returns the address that the client is told to use, by a setter or by its environment.
    #[expect(clippy::disallowed_methods, reason = "the client inherits this environment")]
    pub(super) fn address(&self) -> Option<OsString> {
        let variable = match self.engine {
            Engine::Docker => "DOCKER_HOST",
            Engine::Podman => "CONTAINER_HOST",
        };
        let set = self.host.as_ref().map(OsString::from);
        set.or_else(|| self.env.get(variable).map(OsStr::to_os_string)).or_else(|| std::env::var_os(variable))
    }

    /// Describes a call of the client.
    pub(crate) fn program<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Program {
        let (context, host) = match self.engine {
            Engine::Docker => ("--context", "--host"),
            Engine::Podman => ("--connection", "--url"),
        };
        let mut program = Program::new(&self.program);
        for (flag, value) in [(context, &self.context), (host, &self.host)] {
            program = program.args(value.iter().flat_map(|value| [flag, value]));
        }
        program.env.extend(self.env.iter().cloned());
        program.args(args)
    }

    /// Makes a call and returns how it ended, whether well or not.
    ///
    /// A dropped future lets it come to its end for two seconds, on this thread.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when the client cannot be started, or does not come to an end in time.
    pub(crate) async fn call<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        limit: Duration,
    ) -> Result<Captured> {
        let program = self.program(args);
        let called = capture_gently(&program, OUTPUT_LIMIT, limit, PATIENCE).await;
        called.map_err(|error| self.unusable(&error))
    }

    /// As [`Client::call`], and a bad exit is an error that completes "failed to `what`".
    pub(crate) async fn told<A: AsRef<OsStr>>(
        &self,
        what: &str,
        args: impl IntoIterator<Item = A>,
        limit: Duration,
    ) -> Result<String> {
        let called = self.call(args, limit).await?;
        if called.status.success() {
            Ok(String::from_utf8_lossy(&called.stdout).into_owned())
        } else {
            Err(refusal(self.engine, what, &called.stderr))
        }
    }

    /// Makes a call in a destructor, and tells whether it went well.
    pub(super) fn call_blocking<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        limit: Duration,
    ) -> bool {
        capture_blocking(&self.program(args), limit).is_ok_and(|status| status.success())
    }

    /// Says why the client itself cannot be used.
    pub(super) fn unusable(&self, error: &io::Error) -> Error {
        let (engine, program) = (self.engine, self.program.display());
        match error.kind() {
            io::ErrorKind::NotFound => {
                Error::new(ErrorKind::Sandbox, format!("find `{program}`, the client of {}", engine.title()))
                    .with_hint(format!(
                        "install {}, or say where its client is with `.program(path)`",
                        engine.title()
                    ))
            }
            _ => Error::new(ErrorKind::Sandbox, format!("use `{program}`: {error}")),
        }
    }
}
