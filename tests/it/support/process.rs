//! Runs a program with nothing but what it is given: no environment, no terminal, a process group of its own.
//!
//! For checks of the programs themselves. The engine has its own way to start them, and its tests use that.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;

/// How long a program may run before its test fails.
const PATIENCE: Duration = Duration::from_secs(90);

/// A command line to be run.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, String)>,
    folder: PathBuf,
    input: String,
    patience: Duration,
}

/// A program that runs. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdout: File,
    stderr: File,
    patience: Duration,
}

/// A program that ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Invocation {
    pub(crate) fn new(program: impl Into<PathBuf>, folder: &Path) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: folder.to_owned(),
            input: String::new(),
            patience: PATIENCE,
        }
    }

    /// The calling test alone, in a process of its own, which is told that it is so by this variable.
    pub(crate) fn of_this_test(variable: &str, value: &str) -> Self {
        let test = thread::current().name().expect("a test's thread has its name").to_owned();
        let environment = std::env::vars().chain([(variable.to_owned(), value.to_owned())]);
        Self::new(std::env::current_exe().expect("the tests are a program"), Path::new("/"))
            .arguments(["--exact", &test, "--nocapture"])
            .environment(environment)
    }

    /// Starts the program in another folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Lets the program run for longer than others before its test fails.
    pub(crate) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Gives this text on standard input, which is closed behind it.
    pub(crate) fn input(mut self, text: impl Into<String>) -> Self {
        self.input = text.into();
        self
    }

    pub(crate) fn run(self) -> Finished {
        self.start().finish()
    }

    /// Starts the program as the first of a session whose terminal is `side`.
    #[expect(clippy::disallowed_methods, reason = "checks the programs themselves, without the engine")]
    pub(crate) fn start_on_terminal(self, side: &OwnedFd) -> Child {
        let side = || Stdio::from(side.try_clone().expect("a second handle"));
        std::process::Command::new("setsid")
            .arg("--ctty")
            .arg(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment)
            .current_dir(&self.folder)
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap_or_else(|error| panic!("`setsid` did not start: {error}"))
    }

    /// Starts the program. Its output goes to files, so that it never waits for a reader.
    #[expect(clippy::disallowed_methods, reason = "checks the programs themselves, without the engine")]
    pub(crate) fn start(self) -> Running {
        let stdout = tempfile::tempfile().expect("a file for standard output");
        let stderr = tempfile::tempfile().expect("a file for standard error");
        let mut child = std::process::Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment)
            .current_dir(&self.folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(stdout.try_clone().expect("a second handle"))
            .stderr(stderr.try_clone().expect("a second handle"))
            .spawn()
            .unwrap_or_else(|error| panic!("`{}` did not start: {error}", self.program.display()));
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        // A program that ends without reading its input is for the test to judge.
        let _ = stdin.write_all(self.input.as_bytes());
        Running { child, stdout, stderr, patience: self.patience }
    }
}

impl Running {
    /// Sends a signal to the program alone, not to its group.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("the program is still there");
    }

    /// Kills the program, and what else is in its process group.
    pub(crate) fn kill_group(&self) {
        rustix::process::kill_process_group(self.pid(), Signal::KILL).expect("the program is still there");
    }

    /// Waits for the end and gives what was printed.
    pub(crate) fn finish(mut self) -> Finished {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if started.elapsed() > self.patience {
                let (stdout, stderr) = self.printed();
                let patience = self.patience;
                panic!("still running after {patience:?}\nstdout: {stdout}\nstderr: {stderr}");
            }
            thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = self.printed();
        Finished { status, stdout, stderr }
    }

    fn printed(&mut self) -> (String, String) {
        (contents(&mut self.stdout), contents(&mut self.stderr))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // The group may be gone by now; then there is nothing to kill.
            let _ = rustix::process::kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Finished {
    /// The exit code, or `None` after a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The number of the signal that ended the program, if one did.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// The JSON lines of standard output.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.stdout
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"))
            })
            .collect()
    }

    /// The events of this type.
    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The only event of this type.
    pub(crate) fn event(&self, kind: &str) -> Value {
        let mut events = self.events_of(kind);
        assert_eq!(events.len(), 1, "events of type `{kind}` in {self:#?}");
        events.remove(0)
    }
}

/// Whether a process is at work.
pub(crate) fn is_running(pid: Pid) -> bool {
    // A container's first process may leave the dead unburied: those are there, in state Z, and do nothing.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let is_zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    !is_zombie && rustix::process::test_kill_process(pid).is_ok()
}

fn contents(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("a temporary file can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}
