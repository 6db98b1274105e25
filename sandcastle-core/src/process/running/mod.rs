//! A program that runs: its pipes, its exit and its end.

mod far;
mod feed;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::{Instant, sleep_until};

pub(super) use self::feed::Feed;
use self::feed::{Fed, Input, feed};
use super::program::{Inherit, Program, Streams, Told};
use super::remote::Far;
use super::tail::Tail;
use super::tree::{Mark, Tree};
use crate::agent::{StopRequest, StopSignal};

/// How much is read from a pipe at once.
const READ: usize = 64 * 1024;
/// How much of the standard error is kept.
const STDERR_TAIL: usize = 16 * 1024;
/// How long a grandchild that holds the pipes can delay the end of a program that has exited.
const PIPE_GRACE: Duration = Duration::from_millis(500);
/// How long a program that was asked to stop may take when nobody waits for it any more.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How much is read when that time is over: a program that has exited can have left no more in a pipe.
const PIPE_CAPACITY: usize = 1024 * 1024;

/// How long is watched whether a program is busy.
const WATCH: Duration = Duration::from_secs(1);
/// How much of a processor it uses then, in ticks of a hundredth of a second: more than any program does that only waits.
const BUSY_TICKS: u64 = 10;

/// How often is looked whether a program has made its namespace, until it has.
const NAMESPACE_PAUSE: Duration = Duration::from_millis(2);

/// A program that was started.
///
/// Dropping it kills the program and everything it started, and returns when they are gone.
#[derive(Debug)]
pub struct Running {
    child: Child,
    tree: Tree,
    stdin: Option<Input>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    buffer: Box<[u8]>,
    stderr_buffer: Box<[u8]>,
    stderr_tail: Tail,
    /// How the child ended: the program itself, or the client of one that runs elsewhere.
    gone: Option<ExitStatus>,
    /// How the program ended.
    told: Told,
    exit: Option<ExitStatus>,
    pipes_until: Option<Instant>,
    /// What may still be read when `pipes_until` is over.
    left_in_pipes: usize,
    over: bool,
    /// What is known of the program if it runs elsewhere.
    far: Option<Box<Far>>,
    /// What it printed, without the lines of its launcher, and has not been returned.
    unread: Vec<u8>,
    /// What was returned last of it.
    read: Vec<u8>,
}

/// What a program did.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output<'a> {
    /// It printed this on its standard output.
    Stdout(&'a [u8]),
    /// It is gone, and so is all that it printed.
    Exited(ExitStatus),
}

enum Step {
    Stdout(usize),
    Nothing,
}

impl Running {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// As the operating system gives them, for example when there is no such program.
    pub fn start(program: &Program) -> io::Result<Self> {
        Self::start_with(program, Feed::of(Vec::new(), program), None)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts programs")]
    fn start_with(program: &Program, feed: Feed, far: Option<Box<Far>>) -> io::Result<Self> {
        let mark = Mark::random();
        let mut command = tokio::process::Command::new(&program.name);
        command.args(&program.args).kill_on_drop(true);
        if program.inherit == Inherit::Nothing {
            command.env_clear();
        }
        for key in &program.removed_env {
            command.env_remove(key);
        }
        command.envs(program.env.iter().map(|(key, value)| (key, value)));
        let (key, value) = mark.variable();
        command.env(key, value);
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        if program.streams == Streams::Piped {
            command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.stdin(if feed.is_nothing() { Stdio::null() } else { Stdio::piped() });
        }
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().map(|pipe| Input { pipe, feed });
        Ok(Self {
            tree: Tree::new(child.id(), program.streams, program.told, mark),
            stdin,
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            buffer: vec![0; READ].into_boxed_slice(),
            stderr_buffer: vec![0; STDERR_TAIL].into_boxed_slice(),
            stderr_tail: Tail::new(STDERR_TAIL),
            gone: None,
            told: program.told,
            exit: None,
            pipes_until: None,
            left_in_pipes: 2 * PIPE_CAPACITY,
            over: false,
            far,
            unread: Vec::new(),
            read: Vec::new(),
        })
    }

    /// Returns the process id while the program runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns the end of what it printed on its standard error.
    #[must_use]
    pub fn stderr(&self) -> &Tail {
        &self.stderr_tail
    }

    /// Waits for the next thing the program does. After [`Output::Exited`] it returns the same again.
    ///
    /// Feeds the standard input meanwhile; a program that does not read it to the end is not an error here. Dropping
    /// the future loses nothing.
    ///
    /// # Errors
    /// When the program cannot be waited for.
    pub async fn next(&mut self) -> io::Result<Output<'_>> {
        loop {
            if !self.unread.is_empty() {
                std::mem::swap(&mut self.unread, &mut self.read);
                self.unread.clear();
                return Ok(Output::Stdout(&self.read));
            }
            if let (Some(exit), None, None) = (self.exit, &self.stdout, &self.stderr) {
                return Ok(Output::Exited(self.told.exit(exit)));
            }
            self.check_is_not_lost()?;
            if let Step::Stdout(count) = self.step().await? {
                return Ok(Output::Stdout(&self.buffer[..count]));
            }
        }
    }

    async fn step(&mut self) -> io::Result<Step> {
        let pipes_until = self.pipes_until;
        tokio::select! {
            // The exit comes first: output that never ends would hide it. What was printed is read before a deadline is
            // looked at, so that a slow reader loses nothing.
            biased;
            gone = self.child.wait(), if self.gone.is_none() => self.note_gone(gone?),
            fed = feed(&mut self.stdin) => if fed == Fed::Done {
                self.stdin = None;
            },
            read = read(&mut self.stdout, &mut self.buffer) => match read {
                0 => self.stdout = None,
                count => {
                    self.note_read(count);
                    let Some(far) = &mut self.far else { return Ok(Step::Stdout(count)) };
                    far.stdout(&self.buffer[..count], &mut self.unread);
                    self.note_far_end();
                }
            },
            read = read(&mut self.stderr, &mut self.stderr_buffer) => match read {
                0 => self.stderr = None,
                count => {
                    self.take_stderr(count);
                    self.note_read(count);
                    self.note_far_end();
                }
            },
            () = sleep_until(pipes_until.unwrap_or_else(Instant::now)), if pipes_until.is_some() => self.close_pipes(),
            () = tokio::time::sleep(NAMESPACE_PAUSE), if self.tree.awaits_landlord() => self.tree.look_for_landlord(),
        }
        Ok(Step::Nothing)
    }

    fn note_gone(&mut self, status: ExitStatus) {
        self.gone = Some(status);
        if self.far.as_ref().is_none_or(|far| far.is_on_terminal()) {
            self.exit = Some(status);
        }
        self.tree.forget_program();
        self.stdin = None;
        self.pipes_until = Some(Instant::now() + PIPE_GRACE);
    }

    /// Notes what was read. When the program is long gone, a grandchild that goes on printing is not listened to.
    fn note_read(&mut self, count: usize) {
        if self.pipes_until.is_some_and(|until| until <= Instant::now()) {
            self.left_in_pipes = self.left_in_pipes.saturating_sub(count);
            if self.left_in_pipes == 0 {
                self.close_pipes();
            }
        }
    }

    fn close_pipes(&mut self) {
        self.stdout = None;
        self.stderr = None;
        self.pipes_until = None;
    }

    /// Watches for a second whether the program, or what it started, uses a tenth of a processor or more. What runs elsewhere, or
    /// in a container, is not seen.
    pub(crate) async fn is_busy(&mut self) -> bool {
        let before = self.tree.ticks();
        tokio::time::sleep(WATCH).await;
        self.tree.ticks().saturating_sub(before) >= BUSY_TICKS
    }

    /// Asks the program to stop; what it still prints can be read with [`Running::next`].
    pub fn ask_to_stop(&mut self, signal: StopSignal) {
        let signal = match signal {
            StopSignal::Terminate => Signal::TERM,
            StopSignal::Interrupt => Signal::INT,
        };
        match &mut self.far {
            Some(far) if self.exit.is_none() => far.signal(signal),
            Some(_) => {}
            None => self.tree.ask(signal),
        }
    }

    /// Asks the program to stop, kills it after the grace period, and ends whatever it started.
    ///
    /// What it still prints is thrown away. A dropped future leaves the rest to the destructor.
    pub async fn end(&mut self, stop: StopRequest) {
        self.ask_to_stop(stop.signal);
        let _ = tokio::time::timeout(stop.grace, self.drain()).await;
        self.sweep().await;
    }

    /// Ends what the program left behind, and tells how many processes that were.
    ///
    /// When the program has exited by itself, they get a third of a second to do so too.
    pub async fn sweep(&mut self) -> usize {
        let mut ended = match &mut self.far {
            None => {
                if self.exit.is_some() {
                    self.tree.settle().await;
                }
                0
            }
            // Its launcher has done it.
            Some(far) if self.exit.is_some() && !far.is_on_terminal() => far.left(),
            Some(far) => far.kill().await,
        };
        let here = self.tree.kill().await;
        if self.far.is_none() {
            ended = here;
        }
        if self.gone.is_none() {
            let _ = self.child.kill().await;
            self.gone = self.child.try_wait().ok().flatten();
            self.exit = self.exit.or(self.gone);
            self.tree.forget_program();
        }
        self.over = true;
        ended
    }

    /// Lets go of a program that has exited, and of whatever it left behind.
    pub(super) fn forget(&mut self) {
        self.over = self.gone.is_some();
    }

    /// Lets the program come to its end, for a destructor: it is waited for as long as `patience`, and then asked to stop.
    ///
    /// What it prints is not read, and what is left of its input not written.
    pub(super) fn finish_blocking(&mut self, patience: Duration) {
        if self.over {
            return;
        }
        self.stdin = None;
        self.over = self.wait_blocking(patience);
        if !self.over {
            // What it started is not gone with it, so the destructor looks for that.
            self.ask_to_stop(StopSignal::Terminate);
            self.wait_blocking(STOP_GRACE);
        }
    }

    /// Tells whether the program has exited by itself.
    fn wait_blocking(&mut self, limit: Duration) -> bool {
        let until = std::time::Instant::now() + limit;
        while std::time::Instant::now() < until {
            if let Ok(None) = self.child.try_wait() {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            self.gone = self.child.try_wait().ok().flatten();
            self.exit = self.gone;
            self.tree.forget_program();
            return true;
        }
        false
    }

    async fn drain(&mut self) {
        while self.exit.is_none() {
            if self.step().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        if let Some(far) = &mut self.far
            && (self.exit.is_none() || far.is_on_terminal())
        {
            far.kill_blocking();
        }
        self.tree.kill_blocking();
    }
}

/// Reads some bytes; 0 is the end of the pipe, and so is an error.
async fn read(pipe: &mut Option<impl AsyncReadExt + Unpin>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn w_54_what_only_waits_is_not_busy() {
        let busy = "while :; do :; done";
        let below = format!("sh -c '{busy}' & wait");
        for (script, is_busy) in [("exec sleep 60", false), (busy, true), (&below, true)] {
            let mut running = Running::start(&Program::new("sh").args(["-c", script])).unwrap();
            let seen = cfg!(target_os = "linux");
            assert_eq!(running.is_busy().await, is_busy && seen, "{script}");
            running.sweep().await;
        }
    }
}
