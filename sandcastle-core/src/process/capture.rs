//! Runs a short program to its end and keeps what it printed.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use super::program::Program;
use super::running::{Output, Running};

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs `program`; its standard output may have `limit` bytes, and it may take as long as `timeout`.
///
/// A dropped future kills it.
pub(crate) async fn capture(program: &Program, limit: usize, timeout: Duration) -> io::Result<Captured> {
    let mut running = Running::start(program)?;
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
