//! `sandcastle extract --agent`: how an answer ended comes before what it says.

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};

/// The stream of an agent that said this and ended so.
fn stream(said: &str, end: &Value) -> String {
    format!("{}\n{end}\n", json!({ "text": said }))
}

fn completed(stop: &str) -> Value {
    json!({ "completed": { "input_tokens": 1, "output_tokens": 1, "stop": stop } })
}

fn failed(kind: &str) -> Value {
    json!({ "failed": { "kind": kind, "message": "because" } })
}

#[tokio::test]
async fn an_answer_that_was_refused_or_cut_off_is_told_by_that_even_if_it_would_do() {
    let desk = Desk::new().await;
    let args = ["--format", "json", "extract", "--tag", "result", "--agent", "scripted"];
    let ends = [
        (completed("refused"), "refused"),
        (completed("filtered"), "filtered"),
        (completed("output-limit"), "truncated"),
        (completed("context-limit"), "truncated"),
        (failed("refused"), "refused"),
        (failed("output-limit"), "truncated"),
    ];
    for said in ["<result>5</result>", "<result>{\"n\":", "No."] {
        for (end, stage) in &ends {
            let ended = desk.run_with_input(&args, &stream(said, end));
            assert_eq!(ended.code(), Some(3), "{said} {end}");
            assert_eq!(json_of(&ended)["error"]["stage"], *stage, "{said} {end}");
        }
    }
    let ended = desk.run_with_input(&args, &stream("<result>5</result>", &completed("refused")));
    assert_eq!(json_of(&ended)["error"]["raw_matched"], "5");
}

/// The last turn of a stream counts, and trouble of another kind does not change what was said.
#[tokio::test]
async fn any_other_end_leaves_the_value_that_there_is() {
    let desk = Desk::new().await;
    let args = ["extract", "--tag", "result", "--agent", "scripted"];
    let good = "<result>5</result>";
    let corrected = stream("<result>", &completed("output-limit")) + &stream(good, &completed("complete"));
    for text in [stream(good, &failed("transport")), stream(good, &json!({ "other": 1 })), corrected] {
        let ended = desk.run_with_input(&args, &text);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "5\n"), "{text}: {}", ended.stderr);
    }
}

/// As the real program says it.
#[tokio::test]
async fn the_ends_of_claude_code_are_known() {
    let desk = Desk::new().await;
    let streams = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/streams/claude-code/2.1.197");
    for (case, stage) in
        [("refusal", "refused"), ("cut-off-answer", "truncated"), ("max-tokens", "truncated")]
    {
        let file = format!("{streams}/{case}.jsonl");
        let ended =
            desk.run(&["--format", "json", "extract", "--tag", "result", "--agent", "claude-code", &file]);
        assert_eq!((ended.code(), &json_of(&ended)["error"]["stage"]), (Some(3), &json!(stage)), "{case}");
    }
}
