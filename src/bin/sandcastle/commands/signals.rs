//! Signals to the command, as the cancellation of what it runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use sandcastle::{CancellationToken, RunEvent};
use tokio::signal::unix::{SignalKind, signal};

/// How long an interrupt is taken for the one that ended the program on the terminal.
const ECHO: Duration = Duration::from_millis(500);

/// Says who answers an interrupt from the keyboard: the command, by ending what it does, or a program that has the terminal
/// and gets the interrupt too.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyboard(Arc<Mutex<Hands>>);

#[derive(Clone, Copy, Debug, Default)]
enum Hands {
    #[default]
    Ours,
    Lent,
    OursSince(Instant),
}

impl Keyboard {
    /// Follows the terminal from hand to hand.
    pub(super) fn notice(&self, event: &RunEvent) {
        let hands = match event {
            RunEvent::TerminalLent { .. } => Hands::Lent,
            RunEvent::TerminalReturned { .. } => Hands::OursSince(Instant::now()),
            _ => return,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hands;
    }

    /// Tells whether an interrupt that is noticed now was for somebody else.
    fn is_lent(&self) -> bool {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Hands::Ours => false,
            Hands::Lent => true,
            Hands::OursSince(then) => then.elapsed() < ECHO,
        }
    }
}

/// Cancels when the user interrupts the command, its terminal goes, or somebody asks it to stop.
///
/// An agent that does not have the terminal is in a process group of its own, so none of these signals reaches it but through
/// us.
pub(super) fn cancelled_by_signals(keyboard: Keyboard) -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        let kinds = [SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
        let kinds = kinds.into_iter().filter(|kind| !is_ignored(*kind));
        let Ok(mut signals) = kinds.map(signal).collect::<std::io::Result<Vec<_>>>() else { return };
        let any = std::future::poll_fn(|context| {
            let is_here = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_here { Poll::Ready(()) } else { Poll::Pending }
        });
        let interrupted = async {
            // Listening is what keeps an interrupt from ending this process.
            while tokio::signal::ctrl_c().await.is_ok() && keyboard.is_lent() {}
        };
        tokio::select! {
            () = interrupted => {}
            () = any => {}
        }
        cancel.cancel();
    });
    token
}

/// Tells whether a signal was ignored when the command was started, as `nohup` does with the hang-up of the terminal.
///
/// Where the system does not say, `nohup` is what counts.
fn is_ignored(kind: SignalKind) -> bool {
    if kind == SignalKind::terminate() {
        return false;
    }
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return kind == SignalKind::hangup();
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}
