//! Who is asked, and what becomes of the answer.

use serde_json::json;

use super::*;
use crate::support::terminal::{CTRL_C, Terminal};

const RELEASE: &str = r#"version: "1.1"
steps:
  - { step: build, type: tool, run: [sh, -c, "echo x >>built"] }
  - { step: release, type: approval, message: "Release {{ build.exit_code }}?" }
  - { step: publish, type: tool, run: [printf, "%s", "note: {{ release.note }}"] }
"#;

#[tokio::test]
async fn without_anybody_there_it_stops_and_the_printed_command_goes_on() {
    let desk = Desk::new().await;
    let (code, object) = desk.run_document(RELEASE, &[]);
    assert_eq!((code, &object["status"]), (Some(1), &json!("awaiting-approval")), "{object}");
    assert_eq!(object["approvals"][0]["message"], "Release 0?");
    let next = object["resume_command"].as_str().unwrap();
    let args: Vec<&str> = next.strip_prefix("sandcastle ").unwrap().split(' ').collect();
    assert!(args.ends_with(&["--approve", "release"]), "{next}");
    let ended = desk.run(&[&["--format", "json"], &args[..]].concat());
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(json_of(&ended)["output"]["publish"]["stdout"], "note: ");
    let built = std::fs::read_to_string(desk.repository.path().join("built")).unwrap();
    assert_eq!(built, "x\n", "a finished step is not done again");
}

#[tokio::test]
async fn a_person_reads_what_is_asked_and_how_to_go_on() {
    let desk = Desk::new().await;
    let file = desk.document(RELEASE);
    let ended = desk.workflow(&["run", file.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.stdout.contains("asks      release: Release 0?"), "{}", ended.stdout);
    assert!(ended.stdout.contains(" --approve release"), "{}", ended.stdout);
}

#[tokio::test]
async fn what_is_decided_in_advance_is_not_asked() {
    let desk = Desk::new().await;
    let (code, object) = desk.run_document(RELEASE, &["--approve", "release=after lunch"]);
    assert_eq!(code, Some(0), "{object}");
    assert_eq!(object["output"]["publish"]["stdout"], "note: after lunch");
    let (code, object) = desk.run_document(RELEASE, &["--approve", "all"]);
    assert_eq!((code, &object["output"]["release"]["approved"]), (Some(0), &json!(true)), "{object}");
    let (code, object) = desk.run_document(RELEASE, &["--reject", "release=not today"]);
    assert_eq!((code, &object["status"]), (Some(1), &json!("rejected")), "{object}");
    assert_eq!((&object["step"], &object["note"]), (&json!("release"), &json!("not today")));
    let (code, object) = desk.run_document(RELEASE, &["--approve", "release", "--reject", "release"]);
    assert_eq!((code, &object["error"]["kind"]), (Some(2), &json!("usage")), "{object}");
}

fn at_a_terminal(desk: &Desk) -> Terminal {
    let file = desk.document(RELEASE);
    let terminal = Terminal::start(
        desk.command(&["workflow", "run", file.to_str().unwrap()])
            .environment([("TERM".to_owned(), "xterm".to_owned())]),
    );
    terminal.wait_for("release asks: Release 0?");
    terminal.wait_for("May it go on?");
    terminal
}

#[tokio::test]
async fn somebody_at_the_terminal_is_asked() {
    let desk = Desk::new().await;
    let mut terminal = at_a_terminal(&desk);
    terminal.enter("\r");
    terminal.wait_for("A note for later steps");
    terminal.enter("by hand\r");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("note: by hand"), "{seen}");
}

#[tokio::test]
async fn an_interrupt_at_the_question_ends_the_run_and_leaves_the_terminal_as_it_was() {
    let desk = Desk::new().await;
    let mut terminal = at_a_terminal(&desk);
    terminal.enter(CTRL_C);
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains(" --resume "), "{seen}");
}

#[tokio::test]
async fn what_was_decided_stands_when_a_run_goes_on() {
    let desk = Desk::new().await;
    let fails = RELEASE.replace("[printf, \"%s\", \"note: {{ release.note }}\"]", "[\"false\"]");
    let (code, object) = desk.run_document(&fails, &["--approve", "release=after lunch"]);
    assert_eq!((code, &object["step"]), (Some(1), &json!("publish")), "{object}");
    let run = object["run"].as_str().unwrap();
    for (decision, code, said) in [
        (
            &["--reject", "release"][..],
            2,
            "`release` was approved in the run that is resumed with the note `after lunch`",
        ),
        (
            &["--approve", "release=before lunch"],
            2,
            "was approved in the run that is resumed with the note `after lunch`",
        ),
        (&["--approve", "release"], 1, "`publish`"),
        (&["--approve", "release=after lunch"], 1, "`publish`"),
        (&["--approve", "all"], 1, "`publish`"),
    ] {
        let (ended, object) = desk.run_document(&fails, &[&["--resume", run], decision].concat());
        let message = object["error"]["message"].as_str().unwrap_or_default();
        assert!(ended == Some(code) && message.contains(said), "{decision:?}: {object:#}");
    }

    let (code, object) = desk.run_document(RELEASE, &["--reject", "release=not today"]);
    assert_eq!(code, Some(1), "{object}");
    let run = object["run"].as_str().unwrap();
    let (code, object) = desk.run_document(RELEASE, &["--resume", run, "--approve", "release"]);
    let message = object["error"]["message"].as_str().unwrap();
    assert_eq!((code, &object["error"]["kind"]), (Some(2), &json!("invalid-options")), "{object}");
    assert!(
        message.contains("was rejected in the run that is resumed with the note `not today`"),
        "{message}"
    );
    let (code, object) = desk.run_document(RELEASE, &["--resume", run]);
    assert_eq!((code, &object["note"]), (Some(1), &json!("not today")), "{object}");
}
