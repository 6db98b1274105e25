//! A program inside that a person sits in front of.

use sandcastle::sandbox::{Output, Streams};

use super::desk::{Desk, shell};
use crate::support::process::Invocation;
use crate::support::requirement::variable;
use crate::support::terminal::{CTRL_C, Terminal};

/// Says that this very test runs on a terminal that it has made.
const ON_TERMINAL: &str = "SANDCASTLE_TEST_ON_TERMINAL";

pub(in crate::sandboxes) async fn row_098_a_program_has_the_terminal_of_whoever_started_it(desk: &Desk) {
    if variable(ON_TERMINAL).is_some() {
        return sit_in_front(desk).await;
    }
    let this = Invocation::of_this_test(ON_TERMINAL, "yes");
    let mut terminal = Terminal::start(this);
    terminal.wait_for("your name? ");
    terminal.enter("Ada\r");
    terminal.wait_for("hello Ada of the moon");
    // The key is for the program, and for nobody who started it.
    terminal.enter(CTRL_C);
    terminal.wait_for("interrupted");
    let (code, seen) = terminal.finish();
    assert!(seen.contains("on a terminal\r\n") || seen.contains("on a terminal\n"), "{seen}");
    assert!(seen.contains("ended with 7"), "{seen}");
    assert_eq!(code, Some(0), "{seen}");
}

async fn sit_in_front(desk: &Desk) {
    let sandbox = desk.sandbox().await;
    let script = "trap 'echo interrupted; exit 7' INT; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo 'on a terminal'; \
                  printf 'your name? '; read -r name; echo \"hello $name of $PLACE\"; while :; do sleep 0.05; done";
    let program = shell(script).env("PLACE", "the moon").streams(Streams::Terminal);
    let mut running = sandbox.start(program).await.unwrap();
    while let Output::Stdout(_) = running.next().await.unwrap() {}
    if let Output::Exited(status) = running.next().await.unwrap() {
        eprintln!("ended with {}", status.code().unwrap_or(-1));
    }
    running.sweep().await;
    sandbox.close().await.unwrap();
}
