//! The terminal of the command, which is left as it was found whatever a program did to it.

use std::io::{self, IsTerminal, Write};

use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// Makes the cursor visible.
const SHOW_CURSOR: &str = "\x1b[?25h";

/// How the terminal was, if there is one. It is like that again when this is dropped.
///
/// A program that is killed leaves it as its own screen needed it: keys are not echoed, and there is no cursor.
#[derive(Debug)]
pub(super) struct AsItWas(Option<Termios>);

impl AsItWas {
    pub(super) fn now() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }
}

impl Drop for AsItWas {
    fn drop(&mut self) {
        let Some(modes) = self.0.take() else { return };
        // Who is not in the foreground would be stopped for touching it, and it is somebody else's now.
        if tcgetpgrp(io::stdin()).ok() == Some(getpgrp()) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
            if io::stderr().is_terminal() {
                let _ = io::stderr().write_all(SHOW_CURSOR.as_bytes());
            }
        }
    }
}
