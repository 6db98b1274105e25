//! What a person sees, on a terminal that is a real one to the program.

use std::fs::File;
use std::io::{Read as _, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use console::Term;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::*;

/// A terminal, and what was written to it.
struct Screen {
    user: OwnedFd,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    before: String,
}

impl Screen {
    fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
        let user = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        tcsetwinsize(&user, Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let (mut master, mut buffer) = (File::from(master), [0; 4096]);
            // The end is an error: nobody has the other side open.
            while let Ok(count @ 1..) = master.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        let before = format!("{:?}", tcgetattr(&user).unwrap().local_modes);
        Self { user, seen, reader: Some(reader), before }
    }

    fn log(&self) -> RunLog {
        let side = || File::from(self.user.try_clone().unwrap());
        let term = Term::read_write_pair(side(), side());
        assert!(term.is_term());
        let terminal = Terminal::live(Progress::on(term.clone()), Box::new(term));
        RunLog::to(Sink::Terminal(terminal), None, Detail::Events)
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, text: &str) {
        let begun = Instant::now();
        while !self.so_far().contains(text) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{text:?} is not in {:?}", self.so_far());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes the terminal and returns everything that was written to it.
    fn close(mut self) -> String {
        assert_eq!(format!("{:?}", tcgetattr(&self.user).unwrap().local_modes), self.before);
        let seen = Arc::clone(&self.seen);
        let reader = self.reader.take().unwrap();
        drop(self);
        reader.join().unwrap();
        let seen = seen.lock().unwrap();
        String::from_utf8_lossy(&seen).into_owned()
    }
}

/// Tells whether the cursor is visible and the last line is empty, as a shell wants it.
fn is_left_clean(seen: &str) -> bool {
    let cursor = seen.rfind("\x1b[?25h") >= seen.rfind("\x1b[?25l");
    let after_the_last_line = seen.rsplit('\n').next().unwrap_or_default();
    let last = after_the_last_line.rsplit("\x1b[2K").next().unwrap_or_default();
    cursor && last.trim_matches(['\r', ' ']).is_empty()
}

#[test]
fn row_176_lines_are_above_and_progress_is_below() {
    let screen = Screen::new();
    let mut log = screen.log();
    begin(&mut log);
    log.write(&RunEvent::IterationStarted { number: 1 });
    log.write(&text("I look at "));
    screen.wait_for("agent process 1 · I look at");
    log.write(&text("the code.\nThen"));
    screen.wait_for("I look at the code.");
    log.write(&tool("Bash", "cargo test"));
    let scope = crate::event::UsageScope::Process;
    log.write(&agent(AgentEvent::Usage { usage: usage(11_500, 0), scope }));
    screen.wait_for("agent process 1 · 12k tokens · Bash: cargo test");
    // The time goes on while nothing happens.
    screen.wait_for("1s agent process 1");
    log.succeeded(&Work::default());
    drop(log);
    let seen = screen.close();
    assert!(seen.find("Then").unwrap() < seen.rfind("> Bash: cargo test").unwrap(), "{seen:?}");
    assert!(is_left_clean(&seen), "{seen:?}");
}

#[test]
fn row_181_the_terminal_is_restored_when_a_run_is_dropped_or_panics() {
    let screen = Screen::new();
    let mut log = screen.log();
    begin(&mut log);
    log.write(&RunEvent::IterationStarted { number: 1 });
    screen.wait_for("agent process 1");
    log.write(&text("the tail"));
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let _log = log;
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    let seen = screen.close();
    assert!(seen.contains("the tail") && seen.contains("dropped before its end"), "{seen:?}");
    assert!(is_left_clean(&seen), "{seen:?}");
}

#[test]
fn a_hostile_agent_cannot_move_the_cursor() {
    let screen = Screen::new();
    let mut log = screen.log();
    log.write(&RunEvent::IterationStarted { number: 1 });
    log.write(&text("\x1b[2Jx\rgone\n"));
    log.write(&tool("\x1b[31mBash\x07", "a\x1b]0;title\x07"));
    screen.wait_for("title");
    log.write(&text("\x1b[5A waiting"));
    screen.wait_for("waiting");
    drop(log);
    let seen = screen.close();
    for code in ["\x1b[2J", "x\rgone", "\x1b[31mBash", "\x07", "\x1b]0", "\x1b[5A"] {
        assert!(!seen.contains(code), "{code:?} is in {seen:?}");
    }
}

/// What is written, for those who look on.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn w_32_where_nobody_sits_at_a_terminal_there_are_plain_lines() {
    let shared = Shared::default();
    let terminal = Terminal::plain(Box::new(shared.clone()));
    let mut log = RunLog::to(Sink::Terminal(terminal), None, Detail::Events);
    [text("Hel"), text("lo"), tool("Bash", "ls"), text("bye")].iter().for_each(|event| log.write(event));
    log.failed(&Error::new(ErrorKind::Io, "go on"));
    drop(log);
    let seen = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    assert!(seen.starts_with("Hello\n  > Bash: ls\nbye\n!!! "), "{seen}");
    assert!(seen.ends_with("failed to go on\n") && !seen.contains('\x1b'), "{seen}");
}
