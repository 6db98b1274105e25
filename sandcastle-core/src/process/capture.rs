//! Runs a short program to its end and keeps what it printed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use super::program::{Inherit, Program};
use super::running::{Output, Running};

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A program that is not just killed when it is dropped.
struct Gentle {
    running: Running,
    patience: Duration,
}

/// Runs `program`; its standard output may have `limit` bytes, and it may take as long as `timeout`.
///
/// A dropped future, also one that reaches its timeout, waits as long as `patience` for the program to come to its end,
/// on this thread, then asks it to stop, and kills it only if it does not.
pub(crate) async fn capture_gently(
    program: &Program,
    limit: usize,
    timeout: Duration,
    patience: Duration,
) -> io::Result<Captured> {
    let mut gentle = Gentle { running: Running::start(program)?, patience };
    finished(&mut gentle.running, limit, timeout).await
}

/// As [`capture_gently`], but a dropped future kills the program.
#[cfg(test)]
pub(crate) async fn capture(program: &Program, limit: usize, timeout: Duration) -> io::Result<Captured> {
    finished(&mut Running::start(program)?, limit, timeout).await
}

pub(super) async fn finished(running: &mut Running, limit: usize, timeout: Duration) -> io::Result<Captured> {
    let work = async {
        let mut stdout = Vec::new();
        loop {
            match running.next().await? {
                Output::Stdout(bytes) if stdout.len() + bytes.len() > limit => {
                    return Err(io::Error::other(format!("it printed more than {limit} bytes")));
                }
                Output::Stdout(bytes) => stdout.extend_from_slice(bytes),
                Output::Exited(status) => return Ok((status, stdout)),
            }
        }
    };
    let (status, stdout) = tokio::time::timeout(timeout, work).await.map_err(|_| {
        io::Error::new(io::ErrorKind::TimedOut, format!("it took longer than {} s", timeout.as_secs_f32()))
    })??;
    running.forget();
    Ok(Captured { status, stdout, stderr: running.stderr().text() })
}

/// Runs `program` to its end on this thread, for a destructor; what it prints is thrown away.
#[expect(clippy::disallowed_methods, reason = "a destructor cannot wait for a future")]
pub(crate) fn capture_blocking(program: &Program, limit: Duration) -> io::Result<ExitStatus> {
    let mut command = std::process::Command::new(&program.name);
    command.args(&program.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if program.inherit == Inherit::Nothing {
        command.env_clear();
    }
    for key in &program.removed_env {
        command.env_remove(key);
    }
    command.envs(program.env.iter().map(|(key, value)| (key, value))).process_group(0);
    let mut child = command.spawn()?;
    let until = std::time::Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if std::time::Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Gentle {
    fn drop(&mut self) {
        self.running.finish_blocking(self.patience);
    }
}
