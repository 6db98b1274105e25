//! Budgets by flags: exit codes, figures, and what a person reads.

use serde_json::json;

use crate::support::desk::{Desk, json_of, one_turn};

#[tokio::test]
async fn a_budget_that_is_spent_ends_the_run_with_its_figures() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([
        { "write-file": { "path": "x", "content": "1" } },
        { "commit": "Work" },
        { "used": { "input_tokens": 90, "output_tokens": 10, "cost_usd": 0.75 } },
        "hang"
    ]));
    let ended = desk.play(&script, &["--prompt", "go", "--max-cost", "0.5"]).run();
    assert_eq!(ended.code(), Some(1), "{}", ended.stderr);
    let error = &json_of(&ended)["error"];
    assert_eq!(error["kind"], "budget");
    assert_eq!(error["budget"], json!({ "kind": "cost", "limit": 0.5, "used": 0.75 }));
    assert_eq!(error["usage"]["cost_usd"], 0.75);
    assert_eq!(error["commits"][0]["subject"], "Work");
    assert!(error["hints"][0].as_str().unwrap().contains("`--max-cost`"), "{error}");
    assert!(error["resume_command"].is_string(), "{error}");
    let run = error["run"].as_str().unwrap();
    let shown = desk.runs(&["show", run]);
    assert!(shown.to_string().contains("the budget of $0.5 is spent"), "{shown}");

    let script = one_turn(&json!([{ "used": { "input_tokens": 90, "output_tokens": 10 } }, "hang"]));
    let ended = desk.play(&script, &["--prompt", "go", "--max-tokens", "100"]).run();
    assert_eq!(json_of(&ended)["error"]["budget"], json!({ "kind": "tokens", "limit": 100, "used": 100 }));
}

#[tokio::test]
async fn retries_that_are_not_paid_are_an_output_that_was_not_obtained() {
    let desk = Desk::new().await;
    let script = json!({ "turns": [
        { "steps": [{ "say": "<result>{</result>" }], "usage": { "input_tokens": 90, "output_tokens": 10 } },
        { "steps": [{ "say": "<result>1</result>" }] }
    ] });
    let args = ["--prompt", "in <result>", "--tag", "result", "--max-retries", "2", "--max-tokens", "100"];
    let ended = desk.play(&script, &args).run();
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    let error = &json_of(&ended)["error"];
    assert_eq!((&error["kind"], &error["stage"]), (&json!("structured-output"), &json!("json-parse")));
    assert_eq!(error["budget"], json!({ "kind": "tokens", "limit": 100, "used": 100 }));
    assert_eq!(error["attempts"][0]["outcome"], "json-parse");
}

#[tokio::test]
async fn a_budget_that_makes_no_sense_is_bad_usage() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([{ "say": "hello" }]));
    for (flag, value, kind) in [
        ("--max-cost", "0", "invalid-options"),
        ("--max-cost", "-1", "invalid-options"),
        ("--max-cost", "nan", "invalid-options"),
        ("--max-cost", "much", "usage"),
        ("--max-tokens", "0", "invalid-options"),
        ("--max-tokens", "-1", "usage"),
    ] {
        let ended = desk.play(&script, &["--prompt", "go", flag, value]).run();
        assert_eq!(ended.code(), Some(2), "{flag} {value}: {}", ended.stderr);
        assert_eq!(json_of(&ended)["error"]["kind"], kind, "{flag} {value}");
    }
    let ended = desk.run(&["run", "--agent", "codex", "--prompt", "hi", "--max-cost", "1"]);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.stderr.contains("`codex`") && ended.stderr.contains("`--max-tokens`"), "{}", ended.stderr);
}
