//! A terminal program in a sandbox, on a real terminal.

use sandcastle::sandbox::Bubblewrap;

use super::Room;
use crate::support::desk::Desk;
use crate::support::processes::UniqueSleep;
use crate::support::terminal::{CTRL_C, Terminal};

#[tokio::test]
async fn a_terminal_program_has_the_terminal_and_cannot_type_into_it() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let desk = Desk::new().await;
    // One line puts a letter into the terminal's input, as if somebody had typed it.
    let script = r#"#!/bin/sh
        echo "size $(stty size)"
        [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "on a terminal"
        perl -e 'ioctl(STDIN, 0x5412, "x") and print "typed\n"'
        ls /proc | grep -c '^[0-9]'
        printf 'your name? '
        read -r name
        echo "hello $name"
        exit 7"#;
    desk.program("claude", script);
    let command = desk.command(&["interactive", "--agent", "claude-code", "--sandbox", "bubblewrap"]);
    let mut terminal = Terminal::start(desk.with_programs(command));
    terminal.wait_for("your name? ");
    terminal.enter("Ada\n");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(1), "{seen}");
    for line in ["size 30 100\n", "on a terminal\n", "hello Ada\n", "sandbox   bubblewrap\n", "exit code 7\n"]
    {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    assert!(!seen.contains("typed"), "{seen}");
}

#[tokio::test]
async fn an_interrupt_from_the_keyboard_ends_a_program_that_leaves_keys_to_the_terminal() {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let (desk, sleep) = (Desk::new().await, UniqueSleep::new());
    desk.program("claude", &format!("#!/bin/sh\necho 1 >x; echo ready; exec sleep {}\n", sleep.seconds()));
    let command = desk.command(&["interactive", "--agent", "claude-code", "--sandbox", "bubblewrap"]);
    let mut terminal = Terminal::start(desk.with_programs(command));
    terminal.wait_for("ready");
    sleep.wait_for(1).await;
    terminal.enter(CTRL_C);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("exit      ended by a signal\n"), "{seen}");
    assert_eq!(sleep.alive(), 0);
    assert!(desk.repository.path().join("x").exists(), "what was done stays");
}
