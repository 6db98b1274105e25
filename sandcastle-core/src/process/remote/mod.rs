//! Programs that run elsewhere, behind a client of this host: in a container, on another machine.
//!
//! A client such as `docker exec` or `ssh` runs a small shell script there, the launcher, which reads from its input what to
//! start. So neither arguments nor variables of the program stand in the arguments of anything on the way. The launcher
//! says when the program has started and how it ended, in lines that are taken out of what the program prints; a client
//! that is gone without that has lost its program. Signals do not pass a client: another script, started in the same way,
//! finds the programs by the mark that they carry, as `tree` does on this host.

mod frame;
mod request;

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;

use self::frame::Frame;
use super::capture::{Captured, capture_blocking, finished};
use super::program::{Program, Streams};
use super::running::{Feed, Running};
use super::tree::Mark;

const LAUNCH: &str = include_str!("launch.sh");
const END: &str = include_str!("end.sh");
const TERMINAL: &str = include_str!("terminal.sh");
/// How long the script may take that ends programs.
const END_LIMIT: Duration = Duration::from_secs(20);
/// How long a destructor waits for it.
const DROP_LIMIT: Duration = Duration::from_secs(5);

/// Reaches a shell elsewhere.
///
/// What is reached has to have a POSIX `sh` with `grep`, `tr`, `cat`, `mktemp`, `rm` and `sleep`, and `/proc`.
pub trait RemoteShell: Send + Sync + fmt::Debug {
    /// Returns the program of this host that runs `sh -c <script> sh <args>` there and passes on its standard streams and its
    /// exit code; with [`Streams::Terminal`] it gives it the terminal.
    fn client(&self, script: &str, args: &[&str], streams: Streams) -> Program;
}

/// An open way to a launcher that waits to be told what to start.
#[derive(Debug)]
pub struct Line {
    running: Running,
}

/// What becomes of a launcher when its program is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It is gone, too.
    Leave,
    /// It stays, as the first program of a container that is to go on.
    Stay,
}

/// What is known of a program elsewhere.
#[derive(Debug)]
pub(super) struct Far {
    shell: Arc<dyn RemoteShell>,
    mark: Mark,
    streams: Streams,
    stdout: Frame,
    stderr: Frame,
    said: Vec<String>,
    is_stdout_over: bool,
    ended: Option<Ended>,
    enders: Vec<Running>,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    code: i32,
    left: usize,
}

impl Line {
    /// Opens a way to a launcher. `probe` is a command whose output [`Line::ready`] returns.
    ///
    /// # Errors
    /// As the operating system gives them, when the client cannot be started.
    pub fn open(shell: Arc<dyn RemoteShell>, afterwards: Afterwards, probe: &str) -> io::Result<Self> {
        let mark = Mark::random();
        let word = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let after = match afterwards {
            Afterwards::Leave => "leave",
            Afterwards::Stay => "stay",
        };
        let client = shell.client(LAUNCH, &[&word, mark.name(), after, probe], Streams::Piped);
        let far = Far::new(shell, mark, &word, Streams::Piped);
        Ok(Self { running: Running::start_far(&client, far)? })
    }

    /// Waits until the launcher is there, and returns what its probe printed, in one line.
    ///
    /// # Errors
    /// When the client ends before that; the message is what it said.
    pub async fn ready(&mut self) -> io::Result<String> {
        let running = &mut self.running;
        let said = running.hear(|line| line.strip_prefix("ready").map(|rest| rest.trim().to_owned())).await?;
        // The warnings of a client are nothing that the program says.
        running.forget_stderr();
        Ok(said)
    }

    /// Tells whether the client has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.running.is_gone()
    }

    /// Ends the client, for a destructor, and leaves alone what it has reached.
    pub(crate) fn abandon(mut self) {
        self.running.forget_far();
    }

    /// Starts a program.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is no such program or folder, [`io::ErrorKind::InvalidInput`] when it cannot be
    /// said in shell words, anything else when the client ends.
    pub async fn run(mut self, program: &Program) -> io::Result<Running> {
        let far = self.running.far();
        let mark = far.map_or_else(Mark::random, |far| far.mark.clone());
        let request = request::request(program, &mark)?;
        self.running.write(Feed::of(request, program));
        let answer = self.running.hear(|line| match line {
            "started" => Some(Ok(())),
            line => line.strip_prefix("refused ").map(|what| Err(what.to_owned())),
        });
        match answer.await? {
            Ok(()) => Ok(self.running),
            Err(what) => {
                let what = match what.as_str() {
                    "cwd" => {
                        format!("there is no folder `{}`", program.cwd.clone().unwrap_or_default().display())
                    }
                    _ => format!("there is no program `{}`", program.name.display()),
                };
                Err(io::Error::new(io::ErrorKind::NotFound, what))
            }
        }
    }
}

impl Running {
    /// Starts a program elsewhere.
    ///
    /// # Errors
    /// As those of [`Line::open`] and [`Line::run`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the program if it was started.
    pub async fn remote(shell: Arc<dyn RemoteShell>, program: &Program) -> io::Result<Self> {
        match program.streams {
            Streams::Piped => {
                let mut line = Line::open(shell, Afterwards::Leave, ":")?;
                line.ready().await?;
                line.run(program).await
            }
            Streams::Terminal => Self::remote_on_terminal(shell, program).await,
        }
    }

    /// The terminal is the program's input, so what to start is brought there in a file, which the script removes.
    async fn remote_on_terminal(shell: Arc<dyn RemoteShell>, program: &Program) -> io::Result<Self> {
        let mark = Mark::random();
        let request = request::request(program, &mark)?;
        let keep = "umask 077; file=$(mktemp) && cat >\"$file\" && printf %s \"$file\"";
        let bring = shell.client(keep, &[], Streams::Piped).stdin(request);
        let brought = finished(&mut Self::start(&bring)?, 4096, END_LIMIT).await?;
        let file = said(brought)?;
        let client = shell.client(TERMINAL, &[&file], Streams::Terminal);
        Self::start_far(&client, Far::new(shell, mark, "", Streams::Terminal))
    }
}

impl Far {
    fn new(shell: Arc<dyn RemoteShell>, mark: Mark, word: &str, streams: Streams) -> Self {
        Self {
            shell,
            mark,
            streams,
            stdout: Frame::new(word),
            stderr: Frame::new(word),
            said: Vec::new(),
            is_stdout_over: false,
            ended: None,
            enders: Vec::new(),
        }
    }

    /// Tells whether the program has the terminal: then no launcher says how it ended.
    pub(super) fn is_on_terminal(&self) -> bool {
        self.streams == Streams::Terminal
    }

    /// Takes what came on the standard output, and leaves what is the program's.
    pub(super) fn stdout(&mut self, piece: &[u8], rest: &mut Vec<u8>) {
        let lines = self.stdout.push(piece, rest);
        self.is_stdout_over |= lines.iter().any(|line| line.starts_with("ended "));
    }

    /// Takes what came on the standard error.
    pub(super) fn stderr(&mut self, piece: &[u8], rest: &mut Vec<u8>) {
        for line in self.stderr.push(piece, rest) {
            match Ended::read(&line) {
                Some(ended) => self.ended = Some(ended),
                None => self.said.push(line),
            }
        }
    }

    /// Returns the next thing that the launcher said.
    pub(super) fn said(&mut self) -> Option<String> {
        (!self.said.is_empty()).then(|| self.said.remove(0))
    }

    /// Returns how the program ended, when nothing more of it can come.
    pub(super) fn exit(&self) -> Option<ExitStatus> {
        let ended = self.ended.filter(|_| self.is_stdout_over)?;
        // A shell says 128 and the signal of what was ended by one.
        Some(match ended.code {
            code @ 129..=192 => ExitStatus::from_raw(code - 128),
            code => ExitStatus::from_raw(code << 8),
        })
    }

    /// Returns how many processes the launcher had to end behind the program.
    pub(super) fn left(&self) -> usize {
        self.ended.map_or(0, |ended| ended.left)
    }

    /// Signals the program and what it started.
    pub(super) fn signal(&mut self, signal: Signal) {
        // One that cannot be started is followed by a kill, which says so.
        self.enders.extend(Running::start(&self.ender(signal)).ok());
    }

    /// Kills the program and what it started, and tells how many processes that were.
    pub(super) async fn kill(&mut self) -> usize {
        let ender = Running::start(&self.ender(Signal::KILL));
        match ender {
            Ok(mut ender) => counted(finished(&mut ender, 4096, END_LIMIT).await),
            Err(_) => 0,
        }
    }

    /// As [`Far::kill`], for a destructor.
    pub(super) fn kill_blocking(&mut self) {
        let _ = capture_blocking(&self.ender(Signal::KILL), DROP_LIMIT);
    }

    fn ender(&self, signal: Signal) -> Program {
        let signal = match signal {
            Signal::KILL => "KILL",
            Signal::INT => "INT",
            _ => "TERM",
        };
        self.shell.client(END, &[self.mark.name(), signal], Streams::Piped)
    }
}

impl Ended {
    fn read(line: &str) -> Option<Self> {
        let (code, left) = line.strip_prefix("ended ")?.split_once(' ')?;
        Some(Self { code: code.parse().ok()?, left: left.parse().ok()? })
    }
}

/// Quotes a word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn counted(captured: io::Result<Captured>) -> usize {
    captured
        .ok()
        .and_then(|captured| String::from_utf8(captured.stdout).ok()?.trim().parse().ok())
        .unwrap_or(0)
}

fn said(captured: Captured) -> io::Result<String> {
    match String::from_utf8(captured.stdout) {
        Ok(said) if captured.status.success() && !said.is_empty() => Ok(said),
        _ => Err(io::Error::other(captured.stderr.trim().to_owned())),
    }
}

#[cfg(test)]
mod tests;
