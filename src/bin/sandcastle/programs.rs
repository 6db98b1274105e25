//! Programs that the command asks something or lets do something: run to their end within a time, or watched as they go on.
//!
//! What they print is read, bounded, and never obeyed. What an answer means is not known here.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use sandcastle::sandbox::{Output, Program, Running, Tail};

/// The most that is kept of what a program prints.
const KEPT: usize = 1024 * 1024;

/// A program that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Why there is no answer of a program.
#[derive(Debug)]
pub(crate) enum Silence {
    /// There is no such program.
    Absent,
    /// It took longer than this.
    TooLong(Duration),
    /// It could not be started or read.
    Failed(io::Error),
}

impl Ended {
    /// Returns the first line of what it printed, on whichever stream.
    pub(crate) fn first_line(&self) -> &str {
        self.all_lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
    }

    /// Returns all lines, those of the standard output first.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &str> {
        self.stdout.lines().chain(self.stderr.lines())
    }

    /// Returns the last line of its complaint.
    pub(crate) fn complaint(&self) -> &str {
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        said.trim_end().lines().next_back().unwrap_or_default().trim()
    }
}

/// Runs a program to its end. One that takes too long is killed with everything it started.
pub(crate) async fn answer(program: &Program, limit: Duration) -> Result<Ended, Silence> {
    let mut stdout = Tail::new(KEPT);
    let run = async {
        let mut running = Running::start(program)?;
        let status = watch(&mut running, |bytes| stdout.push(bytes)).await?;
        Ok((status, running.stderr().text()))
    };
    match tokio::time::timeout(limit, run).await {
        Ok(Ok((status, stderr))) => Ok(Ended { status, stdout: stdout.text(), stderr }),
        Ok(Err(error)) => Err(silence(error)),
        Err(_) => Err(Silence::TooLong(limit)),
    }
}

/// Runs a program to its end and hands on each line of both its streams as it comes. Returns the last lines, too.
pub(crate) async fn lines(
    program: &Program,
    mut each: impl FnMut(&str),
) -> Result<(ExitStatus, String), Silence> {
    let mut running = Running::start(&merged(program)).map_err(silence)?;
    let (mut tail, mut line) = (Tail::new(4096), Vec::new());
    let status = watch(&mut running, |bytes| {
        tail.push(bytes);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if line.ends_with(b"\n") || line.len() > KEPT {
                each(String::from_utf8_lossy(&line).trim_end());
                line.clear();
            }
        }
    });
    let status = status.await.map_err(Silence::Failed)?;
    if !line.is_empty() {
        each(String::from_utf8_lossy(&line).trim_end());
    }
    Ok((status, tail.text()))
}

/// Lets a program print on one stream what it would print on two, in the order in which it does.
fn merged(program: &Program) -> Program {
    let mut shell = program.clone();
    shell.args = ["-c", "exec \"$0\" \"$@\" 2>&1"].map(Into::into).to_vec();
    shell.args.push(program.name.clone());
    shell.args.extend(program.args.iter().cloned());
    shell.name = "sh".into();
    shell
}

async fn watch(running: &mut Running, mut each: impl FnMut(&[u8])) -> io::Result<ExitStatus> {
    loop {
        match running.next().await? {
            Output::Stdout(bytes) => each(bytes),
            Output::Exited(status) => return Ok(status),
            _ => {}
        }
    }
}

fn silence(error: io::Error) -> Silence {
    match error.kind() {
        io::ErrorKind::NotFound => Silence::Absent,
        _ => Silence::Failed(error),
    }
}
