//! What a person at a terminal sees of `sandcastle run` while it goes on, and what is left of that; what a script sees.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::desk::{Desk, one_turn};
use crate::support::process::Invocation;
use crate::support::terminal::{CTRL_C, Terminal, on_screen};

/// What the line says while the agent waits: its process, the tokens that it told, its last tool.
const AT_WORK: &str = "agent process 1 · 12k tokens · Bash: cargo test";

/// A run of an agent that looks around, and then does as it is told.
fn play(desk: &Desk, then: &Value, args: &[&str]) -> Invocation {
    let script = one_turn(&json!([
        { "used": { "input_tokens": 11_000, "output_tokens": 500 } },
        { "tool": { "name": "Bash", "input": { "command": "cargo test" } } },
        then,
        { "say": "All is well." }
    ]));
    let script = desk.file("script.json", script.to_string());
    let all = ["run", "--agent", "scripted", "--model", script.to_str().unwrap(), "--prompt", "go"];
    desk.command(&[args, &all].concat())
}

fn with_term(command: Invocation, kind: &str) -> Invocation {
    command.environment([("TERM".to_owned(), kind.to_owned())])
}

#[tokio::test]
async fn a_person_at_a_terminal_sees_how_the_run_goes_on_and_then_only_its_result() {
    let desk = Desk::new().await;
    let terminal = Terminal::start(with_term(play(&desk, &json!({ "sleep-ms": 1500 }), &[]), "xterm"));
    let before = terminal.modes();
    terminal.wait_for(AT_WORK);
    // Time goes on while the agent is silent.
    terminal.wait_for("1s agent process 1 · 12k tokens");
    assert_eq!(terminal.modes(), before);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    let left = on_screen(&seen);
    assert!(!left.contains("12k tokens"), "{left}");
    assert!(left.contains("  > Bash: cargo test\nAll is well.\n\nbranch    main\n"), "{left}");
}

#[tokio::test]
async fn an_interrupt_leaves_the_failure_and_a_terminal_as_it_was() {
    let desk = Desk::new().await;
    let mut terminal = Terminal::start(with_term(play(&desk, &json!("hang"), &[]), "xterm"));
    let before = terminal.modes();
    terminal.wait_for(AT_WORK);
    terminal.enter(CTRL_C);
    terminal.wait_for("error");
    assert_eq!(terminal.modes(), before);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    let left = on_screen(&seen);
    assert!(!left.contains("12k tokens"), "{left}");
    assert!(left.contains("  > Bash: cargo test\nerror: failed to finish `scripted`"), "{left}");
}

#[tokio::test]
async fn an_interrupt_leaves_nothing_of_the_steps_that_were_at_work() {
    let desk = Desk::new().await;
    let document = "version: \"1.1\"\nsteps:\n  - { step: slow, type: tool, run: [sleep, \"300\"] }\n";
    let file = desk.file("flow.yaml", document);
    let command = desk.command(&["workflow", "run", file.to_str().unwrap()]);
    let mut terminal = Terminal::start(with_term(command, "xterm"));
    terminal.wait_for("slow 1s tool");
    terminal.enter(CTRL_C);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    let left = on_screen(&seen);
    assert!(left.contains("error: ") && !left.contains("slow 0s") && !left.contains("slow 1s"), "{left}");
}

#[tokio::test]
async fn where_a_line_cannot_be_drawn_or_is_not_wanted_there_is_none() {
    let desk = Desk::new().await;
    let then = json!({ "sleep-ms": 300 });
    for (kind, args) in [("dumb", [].as_slice()), ("xterm", &["--quiet"]), ("xterm", &["--format", "json"])] {
        let terminal = Terminal::start(with_term(play(&desk, &then, args), kind));
        let (code, seen) = terminal.finish();
        assert_eq!(code, Some(0), "{seen}");
        assert!(!seen.contains("12k tokens") && !seen.contains('\x1b'), "{kind} {args:?}: {seen:?}");
        assert_eq!(seen.contains("  > Bash: cargo test\n"), args != ["--quiet"], "{kind} {args:?}: {seen}");
    }
    let ended = with_term(play(&desk, &then, &[]), "xterm").patience(Duration::from_secs(60)).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.stderr.contains("  > Bash: cargo test\n"), "{ended:?}");
    assert!(!ended.stderr.contains("12k tokens") && !ended.stderr.contains('\x1b'), "{ended:?}");
}
