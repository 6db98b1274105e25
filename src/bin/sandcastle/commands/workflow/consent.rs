//! Asks somebody at the terminal whether a workflow may go on.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use inquire::{InquireError, Select, Text};
use sandcastle::CancellationToken;
use sandcastle::workflow::{ApprovalRequest, Decision};
use tokio::sync::{Mutex, oneshot};

use super::super::terminal::AsItWas;
use crate::reporter::{Steps, workflow as words};

/// Somebody at the terminal, who is asked one thing after the other.
#[derive(Clone, Debug)]
pub(super) struct Somebody {
    steps: Steps,
    /// Cancelled if the answer is to interrupt everything.
    stop: CancellationToken,
    turn: Arc<Mutex<()>>,
}

/// What can be answered.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Approve,
    Reject,
    Later,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Approve => "approve",
            Self::Reject => "reject; the workflow ends here",
            Self::Later => "later; the workflow stops, and can be resumed",
        })
    }
}

impl Somebody {
    /// Whoever sits at the terminal, if it is one.
    pub(super) fn here(steps: &Steps, stop: &CancellationToken) -> Option<Self> {
        let is_here = io::stdin().is_terminal() && io::stderr().is_terminal();
        is_here.then(|| Self { steps: steps.clone(), stop: stop.clone(), turn: Arc::default() })
    }

    /// Asks, and waits for the answer. When this is dropped the terminal is as it was.
    pub(super) async fn decides(self, request: ApprovalRequest) -> Decision {
        let _turn = self.turn.lock().await;
        let _quiet = self.steps.quiet();
        let _terminal = AsItWas::now();
        let (answer, answered) = oneshot::channel();
        // Reading keys cannot be cancelled, so a thread does it that the process does not wait for when it ends.
        std::thread::spawn(move || answer.send(question(&request)));
        match answered.await {
            Ok(Ok(decision)) => decision,
            Ok(Err(InquireError::OperationInterrupted)) => {
                let _ = writeln!(io::stderr());
                self.stop.cancel();
                // There is no answer: the run is ended, and this with it.
                std::future::pending().await
            }
            // Not to answer is an answer, too.
            _ => Decision::Later,
        }
    }
}

fn question(request: &ApprovalRequest) -> Result<Decision, InquireError> {
    writeln!(io::stderr(), "{}", words::asked(request))?;
    let answers = vec![Answer::Approve, Answer::Reject, Answer::Later];
    let answer = Select::new("May it go on?", answers).prompt()?;
    let note = |question| Text::new(question).prompt();
    Ok(match answer {
        Answer::Approve => Decision::Approve { note: note("A note for later steps, or nothing:")? },
        Answer::Reject => Decision::Reject { note: note("Why?")? },
        Answer::Later => Decision::Later,
    })
}
