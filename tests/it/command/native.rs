//! `run --strategy`: how the schema reaches the model, chosen by a flag.

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};
use crate::support::process::Finished;

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}"#;

/// Runs a script that says something and gives a value, with these flags.
fn run(desk: &Desk, script: &Value, flags: &[&str]) -> Finished {
    let schema = desk.file("schema.json", SCHEMA);
    let output = ["--prompt", "Count.", "--tag", "result", "--schema", schema.to_str().unwrap()];
    desk.play(script, &[&output[..], flags].concat()).run()
}

fn gives(value: &Value) -> Value {
    json!({ "native": "file", "turns": [{ "steps": [{ "say": "Done." }], "structured": value }] })
}

#[tokio::test]
async fn a_native_value_is_printed_with_its_strategy() {
    let desk = Desk::new().await;
    for strategy in ["native", "auto"] {
        let ended = run(&desk, &gives(&json!({ "n": 5 })), &["--strategy", strategy]);
        assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
        let printed = json_of(&ended);
        assert_eq!(
            (&printed["output"], &printed["answer_guarantee"]),
            (&json!({ "n": 5 }), &json!("native"))
        );
        assert_eq!(printed["strategy"]["strategy"], "native");
        assert_eq!(printed["strategy"]["dialect"], "codex");
        assert_eq!(printed["attempts"][0]["strategy"], "native");
        assert!(ended.stderr.contains("output by `native`"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn a_value_that_is_wrong_names_its_strategy() {
    let desk = Desk::new().await;
    let ended = run(&desk, &gives(&json!({ "n": "x" })), &["--strategy", "native"]);
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    let error = &json_of(&ended)["error"];
    assert_eq!(
        (&error["stage"], &error["strategy"]["strategy"]),
        (&json!("schema-validate"), &json!("native"))
    );
}

#[tokio::test]
async fn a_strategy_that_is_not_there_is_bad_usage() {
    let desk = Desk::new().await;
    let script = json!({ "turns": [{ "steps": [{ "say": "<result>{\"n\":5}</result>" }] }] });
    let ended = run(&desk, &script, &["--strategy", "native"]);
    assert_eq!(ended.code(), Some(2), "{}", ended.stderr);
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "invalid-options");
    assert!(error["message"].as_str().unwrap().contains("the agent `scripted`"), "{error}");
    assert!(error["hints"][0].as_str().unwrap().contains("`--strategy auto`"), "{error}");
    // Without a tag there is nothing that a strategy could be for.
    let ended = desk.play(&script, &["--prompt", "Count.", "--strategy", "auto"]).run();
    assert_eq!(ended.code(), Some(2));
}

/// It is bad usage, though only the sandbox can tell: no model is asked, and nothing stays.
#[tokio::test]
async fn a_program_that_is_too_old_is_bad_usage() {
    let desk = Desk::new().await;
    let schema = desk.file("schema.json", SCHEMA);
    desk.program("codex", "#!/bin/sh\necho \"$@\" >>\"$HOME/calls\"\necho codex-cli 0.79.0\n");
    for branches in ["head", "merge-to-head", "branch:agent/new"] {
        let args = ["--format", "json", "run", "--agent", "codex", "--prompt", "Count.", "--tag", "result"];
        let more =
            ["--schema", schema.to_str().unwrap(), "--strategy", "native", "--branch-strategy", branches];
        let ended = desk.with_programs(desk.command(&[&args[..], &more].concat())).run();
        assert_eq!(ended.code(), Some(2), "{branches}: {}", ended.stderr);
        let error = &json_of(&ended)["error"];
        assert_eq!((&error["kind"], &error["iterations"]), (&json!("invalid-options"), &json!([])));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`codex`") && message.contains("0.79.0"), "{message}");
        assert!(error["hints"][0].as_str().unwrap().contains("`--strategy auto`"), "{error}");
        assert_eq!((desk.branches().await, desk.worktrees().await), (vec![], vec![]));
    }
    assert_eq!(std::fs::read_to_string(desk.home.path().join("calls")).unwrap(), "--version\n".repeat(3));
}
