//! A terminal that is a real one to the program on it, and somebody who types and reads.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::process::Invocation;

/// How long something may take that a program does at once, on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// How large a terminal is.
const LINES: NonZero<u16> = NonZero::new(30).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(100).unwrap();

/// The key that interrupts.
pub(crate) const CTRL_C: &str = "\x03";

/// A program on a terminal of its own. Dropping it kills the program.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    side: OwnedFd,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts a program on a terminal of 30 lines and 100 columns.
    pub(crate) fn start(program: Invocation) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let side = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        tcsetwinsize(
            &side,
            Winsize { ws_row: LINES.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 },
        )
        .unwrap();
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).unwrap();
        let child = program.start_on_terminal(&side);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (all, mut screen) = (Arc::clone(&seen), File::from(master.try_clone().unwrap()));
        // It ends with the terminal: reading is an error when nobody has the other side open.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keyboard: File::from(master), side, seen }
    }

    /// Types what is in `keys`.
    pub(crate) fn enter(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// What was shown by now.
    pub(crate) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until something is shown.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(text, |seen| seen.contains(text));
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.seen()) {
            assert!(begun.elapsed() < PATIENCE, "{what:?} is not in {:?}", self.seen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the program has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// How the terminal treats what is typed.
    pub(crate) fn modes(&self) -> String {
        format!("{:?}", tcgetattr(&self.side).unwrap().local_modes)
    }

    /// Waits for the end, and gives the exit code and everything that was shown, with plain line feeds.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        while self.is_running() {
            assert!(begun.elapsed() < PATIENCE, "still running: {:?}", self.seen());
            std::thread::sleep(Duration::from_millis(5));
        }
        let code = self.child.wait().unwrap().code();
        // The terminal itself says when the last of it has been read.
        let mark = "(the end of the test)";
        File::from(self.side.try_clone().unwrap()).write_all(mark.as_bytes()).unwrap();
        self.wait_for(mark);
        (code, self.seen().replace("\r\n", "\n"))
    }
}

/// What stands on the screen after everything has been obeyed that a terminal was told, without white space at ends of lines.
pub(crate) fn on_screen(seen: &str) -> String {
    let mut screen = vt100::Parser::new(LINES, COLUMNS, 0);
    screen.process(seen.replace('\n', "\r\n").as_bytes());
    assert!(!screen.screen().hide_cursor(), "the cursor is hidden: {seen:?}");
    screen.screen().rows(0, COLUMNS.get()).map(|row| format!("{}\n", row.trim_end())).collect()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM);
            std::thread::sleep(Duration::from_millis(200));
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
