//! What is in a log: in a file, on a terminal, and when things go wrong.

mod pty;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::error::ErrorKind;
use crate::event::AgentEvent;
use crate::id::{BranchName, SessionId};
use crate::work::{Exit, Usage};

const NAME: LogName<'static> = LogName { target: None, source: "main", name: None };

fn agent(event: AgentEvent) -> RunEvent {
    RunEvent::Agent { event }
}

fn text(text: &str) -> RunEvent {
    agent(AgentEvent::Text { text: text.to_owned() })
}

fn tool(name: &str, detail: &str) -> RunEvent {
    agent(AgentEvent::ToolCall { name: name.into(), detail: detail.into() })
}

fn usage(input_tokens: u64, cache_read_input_tokens: u64) -> Usage {
    Usage { input_tokens, cache_read_input_tokens, output_tokens: 7, ..Usage::default() }
}

fn open(path: &Path) -> RunLog {
    let config = ConfigDir::in_folder(path.parent().unwrap());
    RunLog::open(Some(&Logging::file(path)), &config, &NAME).unwrap()
}

fn begin(log: &mut RunLog) {
    log.header(&Header {
        run: &RunId::generate(),
        name: Some("fix"),
        agent: "scripted",
        model: Some("gpt-5"),
        sandbox: "docker",
        strategy: "merge-to-head",
        branch: "agent/fix",
    });
}

fn logged(events: &[RunEvent]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/run.log");
    let mut log = open(&path);
    events.iter().for_each(|event| log.write(event));
    drop(log);
    fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn case_115_pieces_are_joined_and_a_tool_begins_a_line() {
    assert_eq!(
        logged(&[text("Hel"), text("lo"), tool("Bash", "ls\n-l"), text("bye")]),
        "Hello\n  > Bash: ls -l\nbye"
    );
}

#[test]
fn row_175_a_terminal_that_shows_the_log_obeys_nothing() {
    assert_eq!(
        logged(&[text("a\x1b[2J\x07b\u{9b}c\td\u{202e}e")]),
        "a\u{241b}[2J\u{2407}b\u{fffd}c\td\u{fffd}e"
    );
}

#[test]
fn row_172_every_run_has_a_header_and_the_file_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.log");
    for _ in 0..2 {
        let mut log = open(&path);
        begin(&mut log);
        log.succeeded(&Work::default());
    }
    let content = fs::read_to_string(path).unwrap();
    assert_eq!(content.matches("=== run 2").count(), 2, "{content}");
    assert_eq!(content.matches("done: 0 commits, 0 tokens").count(), 2, "{content}");
    for line in ["    name: fix\n", "    agent: scripted, model gpt-5\n", "    sandbox: docker\n"] {
        assert_eq!(content.matches(line).count(), 2, "{content}");
    }
    assert!(content.contains("    branch: agent/fix (merge-to-head)\n"), "{content}");
}

#[test]
fn row_023_the_context_window_is_rounded_up_to_thousands() {
    for (usage, shown) in [
        (usage(1, 0), "context window: 1k\n"),
        (usage(1000, 0), "context window: 1k\n"),
        (usage(1, 1000), "context window: 2k\n"),
        (usage(99_000, 500), "context window: 100k\n"),
    ] {
        let log = logged(&[RunEvent::IterationEnded { exit: Exit::Code(0), usage }]);
        assert!(log.ends_with(shown), "{log}");
    }
    let none = logged(&[RunEvent::IterationEnded { exit: Exit::Code(0), usage: Usage::default() }]);
    assert!(none.ends_with("exit code 0\n"), "{none}");
}

#[test]
fn every_event_has_its_line() {
    let (main, fix) = (BranchName::from_git("main"), BranchName::from_git("fix"));
    let hook = || ("host-sandbox-ready".to_owned(), "npm ci".to_owned());
    let ((hook_a, command_a), (hook_b, command_b)) = (hook(), hook());
    let log = logged(&[
        RunEvent::LogOpened { path: "x.log".into() },
        RunEvent::WorktreeReady { path: "/w".into(), branch: fix.clone(), fresh: false },
        RunEvent::HookStarted { hook: hook_a, command: command_a },
        RunEvent::HookEnded {
            hook: hook_b,
            command: command_b,
            exit: Exit::Code(0),
            duration: std::time::Duration::from_millis(1250),
        },
        RunEvent::Expanded { command: "git log".into(), tokens: 900 },
        RunEvent::SessionCaptured { id: SessionId::new("s1").unwrap(), file: "/s1.jsonl".into() },
        RunEvent::Merged { source: fix, target: main, commits: 2 },
        RunEvent::RawLine { line: "{\"type\":1}".into() },
        RunEvent::Silent { minutes: 2 },
    ]);
    for line in [
        "--- reused worktree of fix: /w\n",
        "hook host-sandbox-ready: npm ci\n",
        "hook host-sandbox-ready ended with exit code 0 after 1.2 s\n",
        "--- shell expression `git log` gave about 900 tokens\n",
        "--- session s1 kept in /s1.jsonl\n",
        "2 commits of fix merged into main\n",
        "  # {\"type\":1}\n",
        "the agent has printed nothing for 2 minutes\n",
    ] {
        assert!(log.contains(line), "{line:?} is not in\n{log}");
    }
    assert!(!log.contains("x.log"));
}

#[test]
fn w_31_everything_is_in_order_also_when_the_run_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.log");
    let mut log = open(&path);
    begin(&mut log);
    let words: String = (0..2000).map(|n| format!("word {n} ")).collect();
    words.split_inclusive(' ').for_each(|word| log.write(&text(word)));
    log.write(&tool("Bash", "true"));
    log.write(&text("the tail"));
    drop(log);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(&format!("{words}\n  > Bash: true\nthe tail\n!!! ")), "{content:.2000}");
    assert!(content.ends_with(" dropped before its end\n"));
}

#[test]
fn w_31_a_panic_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.log");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut log = open(&path);
        begin(&mut log);
        log.write(&text("last words"));
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert!(fs::read_to_string(&path).unwrap().contains("last words\n!!! "));
}

#[test]
fn row_180_the_error_is_in_the_log_with_its_hints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.log");
    let mut log = open(&path);
    begin(&mut log);
    log.failed(&Error::new(ErrorKind::AgentFailed, "finish `x`: it died").with_hint("look at it"));
    drop(log);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(" failed to finish `x`: it died\n  hint: look at it\n"), "{content}");
    assert!(!content.contains("dropped"), "{content}");
}

#[test]
fn what_is_made_is_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let config = ConfigDir::in_folder(folder.path());
    let log = RunLog::open(None, &config, &NAME).unwrap();
    let path = log.file().unwrap();
    assert_eq!(path, folder.path().join(".sandcastle/logs/main.log"));
    assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(fs::read_to_string(folder.path().join(".sandcastle/logs/.gitignore")).unwrap(), "*\n");
    let named = open(&folder.path().join("a/b/c.log"));
    assert_eq!(mode(named.file().unwrap()), 0o600);
    assert_eq!((mode(&folder.path().join("a")), mode(&folder.path().join("a/b"))), (0o700, 0o700));
}

#[test]
fn w_31_runs_of_one_name_at_once_have_logs_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let config = ConfigDir::in_folder(folder.path());
    let name = |log: &RunLog| log.file().unwrap().file_name().unwrap().to_owned();
    let first = RunLog::open(None, &config, &NAME).unwrap();
    let second = RunLog::open(None, &config, &NAME).unwrap();
    assert_eq!((name(&first), name(&second)), ("main.log".into(), "main-2.log".into()));
    drop(first);
    assert_eq!(name(&RunLog::open(None, &config, &NAME).unwrap()), "main.log");
}

#[test]
fn a_link_or_a_pipe_in_the_place_of_the_log_is_refused() {
    let refused = |make: &dyn Fn(&Path)| {
        let folder = TempDir::new().unwrap();
        let logs = folder.path().join(".sandcastle/logs");
        fs::create_dir_all(&logs).unwrap();
        make(&logs.join("main.log"));
        let error = RunLog::open(None, &ConfigDir::in_folder(folder.path()), &NAME).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.hints().len(), 1);
    };
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    refused(&|path| symlink(elsewhere.path(), path).unwrap());
    refused(&|path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    });
    refused(&|path| fs::create_dir(path).unwrap());
}

#[test]
fn a_disk_that_is_full_is_told_once_and_fails_nothing() {
    let mut log = open(Path::new("/dev/full"));
    log.write(&RunEvent::Warning { message: "one".into() });
    assert_eq!(log.trouble().unwrap().kind(), io::ErrorKind::StorageFull);
    log.write(&RunEvent::Warning { message: "two".into() });
    assert!(log.trouble().is_none());
}
