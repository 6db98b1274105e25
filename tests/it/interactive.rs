//! `sandcastle interactive` on a real terminal, with a program that plays the one of Claude Code.

use std::path::PathBuf;

use rustix::process::Signal;

use crate::support::desk::{Desk, wait_for};
use crate::support::process::Invocation;
use crate::support::terminal::{CTRL_C, Terminal};

/// Opens a terminal program that is this script.
fn open(desk: &Desk, script: &str, args: &[&str]) -> Terminal {
    Terminal::start(invocation(desk, script, args))
}

fn invocation(desk: &Desk, script: &str, args: &[&str]) -> Invocation {
    desk.program("claude", &format!("#!/bin/sh\n{script}\n"));
    desk.with_programs(desk.command(&[&["interactive", "--agent", "claude-code"], args].concat()))
}

const MERGE: [&str; 2] = ["--branch-strategy", "merge-to-head"];

#[tokio::test]
async fn row_161_the_program_has_the_terminal_and_its_work_is_told() {
    let desk = Desk::new().await;
    let script = r#"
        echo "size $(stty size)"
        read -r group foreground <<LINE
$(cut -d' ' -f5,8 /proc/$$/stat)
LINE
        [ "$group" = "$foreground" ] && echo "in the foreground"
        [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "on a terminal"
        printf 'your name? '
        read -r name
        echo "$name" >name
        git add name && git commit -qm "Greet $name"
        exit 7"#;
    let mut terminal = open(&desk, script, &[]);
    terminal.wait_for("your name? ");
    terminal.enter("Ada\n");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(1), "{seen}");
    for line in ["size 30 100\n", "in the foreground\n", "on a terminal\n"] {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    let summary =
        ["agent     claude-code\n", "sandbox   none\n", "branch    main\n", " Greet Ada\n", "exit code 7\n"];
    for line in summary {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    assert_eq!(desk.subjects("main").await, ["Greet Ada", "begin"]);
}

#[tokio::test]
async fn an_interrupt_is_for_the_program_that_has_the_terminal() {
    let desk = Desk::new().await;
    let script = r#"
        trap 'echo interrupted' INT
        echo ready
        while [ ! -e "$HOME/go" ]; do sleep 0.05; done
        echo 1 >x && git add x && git commit -qm Work"#;
    let mut terminal = open(&desk, script, &MERGE);
    terminal.wait_for("ready");
    for count in 1..=3 {
        terminal.enter(CTRL_C);
        let told = || terminal.seen().matches("interrupted").count();
        while told() < count {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
    assert!(terminal.is_running());
    desk.file("go", "");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(desk.subjects("main").await, ["Work", "begin"], "what was committed has landed");
}

#[tokio::test]
async fn a_program_that_an_interrupt_ends_has_ended_by_itself() {
    let desk = Desk::new().await;
    let mut terminal =
        open(&desk, "echo 1 >x; git add x; git commit -qm Work; echo ready; exec sleep 60", &MERGE);
    terminal.wait_for("ready");
    terminal.enter(CTRL_C);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("exit      ended by a signal\n") && seen.contains(" Work\n"), "{seen}");
    assert_eq!(desk.subjects("main").await, ["Work", "begin"]);
}

#[tokio::test]
async fn w_37_an_interrupt_ends_a_hook_before_the_program_has_the_terminal() {
    let desk = Desk::new().await;
    let marker = desk.home.path().join("marker");
    let hook = format!("touch '{}'; sleep 50", marker.display());
    let mut terminal = open(&desk, "echo never", &[&MERGE[..], &["--host-worktree-ready", &hook]].concat());
    wait_for(&marker).await;
    terminal.enter(CTRL_C);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    assert!(!seen.contains("never\n"), "{seen}");
    assert_eq!((desk.worktrees().await.len(), desk.branches().await.len()), (0, 0), "nothing was begun");
}

#[tokio::test]
async fn a_request_to_stop_ends_the_program_and_keeps_its_work() {
    for signal in [Signal::TERM, Signal::HUP] {
        let desk = Desk::new().await;
        let terminal = open(&desk, "echo 1 >half; echo ready; read -r line", &MERGE);
        terminal.wait_for("ready");
        terminal.signal(signal);
        let (code, seen) = terminal.finish();
        assert_eq!(code, Some(130), "{seen}");
        assert!(seen.contains("  worktree  /"), "{seen}");
        assert!(desk.worktrees().await[0].join("half").exists());
    }
}

#[tokio::test]
async fn row_181_the_terminal_is_left_as_it_was_found() {
    let desk = Desk::new().await;
    let script = "printf '\\033[?25l'; stty raw -echo; printf 'rea'; printf 'dy'; exec sleep 60";
    let terminal = open(&desk, script, &[]);
    let before = terminal.modes();
    terminal.wait_for("ready");
    assert_ne!(terminal.modes(), before);
    terminal.signal(Signal::TERM);
    terminal.wait_for("failed to finish");
    assert_eq!(terminal.modes(), before);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.rfind("\x1b[?25h") > seen.rfind("\x1b[?25l"), "{seen:?}");
}

#[tokio::test]
async fn w_15_uncommitted_work_is_kept_and_a_clean_worktree_is_not() {
    let desk = Desk::new().await;
    let (code, seen) = open(&desk, "echo 1 >half", &MERGE).finish();
    assert_eq!(code, Some(0), "{seen}");
    let kept = worktree(&seen).expect("a worktree");
    assert_eq!(desk.worktrees().await.len(), 1);
    assert!(kept.join("half").exists(), "{seen}");

    let desk = Desk::new().await;
    let (code, seen) = open(&desk, "true", &MERGE).finish();
    assert_eq!((code, worktree(&seen)), (Some(0), None), "{seen}");
    assert_eq!((desk.worktrees().await.len(), desk.branches().await.len()), (0, 0));
}

#[tokio::test]
async fn w_15_a_merge_that_fails_costs_no_uncommitted_work() {
    let desk = Desk::new().await;
    let root = desk.repository.path().display();
    let script = format!(
        "echo ours >x && git add x && git commit -qm Work && echo 1 >half\n\
         cd '{root}' && echo theirs >x && git add x && git commit -qm Host"
    );
    let (code, seen) = open(&desk, &script, &MERGE).finish();
    assert_eq!(code, Some(1), "{seen}");
    let kept = seen.lines().find_map(|line| line.strip_prefix("  worktree  ")).expect("a worktree");
    assert!(PathBuf::from(kept).join("half").exists(), "{seen}");
    assert!(seen.contains("  show      sandcastle runs show "), "{seen}");
    desk.assert_whole().await;
}

/// The worktree that the summary names.
fn worktree(seen: &str) -> Option<PathBuf> {
    seen.lines().find_map(|line| line.strip_prefix("worktree  ")).map(PathBuf::from)
}

/// Shows the last of its arguments, which is the prompt.
const ECHO: &str = "for last; do :; done; printf 'told: %s\\n' \"$last\"";

#[tokio::test]
async fn row_152_missing_arguments_are_asked_for_once_and_in_order() {
    let desk = Desk::new().await;
    let template = desk.file("task.md", "{{WHAT}} {{ WHO }} {{WHAT}} on {{SOURCE_BRANCH}}, {{GIVEN}}");
    let args = ["--prompt-file", template.to_str().unwrap(), "--arg", "GIVEN=yes"];
    let mut terminal = open(&desk, ECHO, &args);
    terminal.wait_for("Enter value for {{WHAT}}: ");
    terminal.enter("\n");
    terminal.wait_for("a value is needed");
    terminal.enter("greet {{WHO}}\n");
    terminal.wait_for("Enter value for {{WHO}}: ");
    terminal.enter("Ada\n");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("told: greet {{WHO}} Ada greet {{WHO}} on main, yes\n"), "{seen}");
    assert_eq!(seen.matches("Enter value for ").count(), 3, "{seen}");
}

#[tokio::test]
async fn row_152_nobody_is_asked_where_nobody_sits() {
    let desk = Desk::new().await;
    let template = desk.file("task.md", "{{WHAT}} {{WHO}} {{WHAT}}");
    let ended = invocation(&desk, ECHO, &["--prompt-file", template.to_str().unwrap()]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("no argument for `{{WHAT}}`, `{{WHO}}`\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("`--arg`"), "{}", ended.stderr);
    assert!(!desk.repository.path().join(".sandcastle/runs").exists(), "nothing was begun");
}

#[tokio::test]
async fn row_152_who_leaves_at_a_question_has_begun_nothing() {
    let desk = Desk::new().await;
    let template = desk.file("task.md", "{{WHAT}}");
    let mut terminal = open(&desk, ECHO, &["--prompt-file", template.to_str().unwrap()]);
    terminal.wait_for("Enter value for {{WHAT}}: ");
    terminal.enter("\x04");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    assert!(!desk.repository.path().join(".sandcastle/runs").exists(), "nothing was begun");
}
