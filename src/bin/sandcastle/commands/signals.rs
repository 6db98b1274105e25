//! Signals to the command, as the cancellation of what it runs.

use std::task::Poll;

use sandcastle::CancellationToken;
use tokio::signal::unix::{SignalKind, signal};

/// Says who answers an interrupt from the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// The command, by ending the agent.
    EndsTheAgent,
    /// The agent, which has the terminal and gets the interrupt too.
    LeftToTheAgent,
}

/// Cancels when the user interrupts the command, its terminal goes, or somebody asks it to stop.
///
/// The agent is in a process group of its own, so none of these signals reaches it but through us.
pub(super) fn cancelled_by_signals(interrupt: Interrupt) -> CancellationToken {
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
            while tokio::signal::ctrl_c().await.is_ok() && interrupt == Interrupt::LeftToTheAgent {}
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
