//! Requests to Anthropic as bytes, and its streams as answers.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{Message, ModelStop};
use serde_json::{Value, json};

use super::Anthropic;
use crate::models::tests::{
    answer, assert_stops, body, conversation, counts, failure, pieces_of, question, read, schema,
    with_forced_tool, with_schema,
};

fn model() -> Anthropic {
    Anthropic::new("claude-sonnet-5-5", "k")
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "model": "claude-sonnet-5-5-20261001", "usage": {
        "input_tokens": 10, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1,
    } } })
}

fn block(index: u64, block: &Value, deltas: &[Value]) -> Vec<Value> {
    let delta = |delta: &Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let mut events = vec![json!({ "type": "content_block_start", "index": index, "content_block": block })];
    events.extend(deltas.iter().map(delta));
    events.push(json!({ "type": "content_block_stop", "index": index }));
    events
}

fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    let deltas: Vec<_> = pieces.iter().map(|text| json!({ "type": "text_delta", "text": text })).collect();
    block(index, &json!({ "type": "text", "text": "" }), &deltas)
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]
}

fn stream(blocks: impl IntoIterator<Item = Vec<Value>>, reason: &str) -> Vec<Value> {
    [start()].into_iter().chain(blocks.into_iter().flatten()).chain(end(reason)).collect()
}

#[test]
fn a_schema_goes_into_the_output_config() {
    assert_eq!(
        body(&model(), &with_schema()),
        json!({
            "model": "claude-sonnet-5-5", "max_tokens": 32000, "stream": true,
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "how many?" }] }],
            "output_config": { "format": { "type": "json_schema", "schema": schema() } },
        })
    );
}

#[test]
fn a_forced_tool_is_named_and_only_a_lowered_one_is_strict() {
    let body = body(&model().max_output_tokens(5), &with_forced_tool());
    assert_eq!(body["tool_choice"], json!({ "type": "tool", "name": "result" }));
    assert_eq!(
        body["tools"],
        json!([
            { "name": "count", "description": "Counts.", "input_schema": { "type": "object" } },
            { "name": "result", "description": "The answer.", "input_schema": schema(), "strict": true },
        ])
    );
    assert_eq!(body["max_tokens"], 5);
    // Before there was a structured output, there were no strict tools.
    for older in [Anthropic::new("claude-opus-4", "k"), model().base_url("http://127.0.0.1:1")] {
        assert!(crate::models::tests::body(&older, &with_forced_tool())["tools"][1].get("strict").is_none());
    }
    assert!(body.get("output_config").is_none());
}

#[test]
fn results_share_a_message_and_empty_ones_are_left_out() {
    assert_eq!(
        body(&model(), &conversation()),
        json!({
            "model": "claude-sonnet-5-5", "max_tokens": 100, "stream": true, "system": "You count.",
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "how many?" }, { "type": "text", "text": "please" },
                ] },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I look." },
                    { "type": "tool_use", "id": "c1", "name": "count", "input": { "of": "a" } },
                    { "type": "tool_use", "id": "c2", "name": "count", "input": { "arguments": "{\"of\":" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "c1", "content": "3" },
                    { "type": "tool_result", "tool_use_id": "c2", "content": "bad arguments", "is_error": true },
                    { "type": "text", "text": "and now?" },
                ] },
            ],
            "tools": [{ "name": "count", "description": "Counts.", "input_schema": { "type": "object" } }],
            "temperature": 0.2,
        })
    );
}

#[test]
fn thoughts_are_told_apart_and_sent_back_signed_to_the_model_they_are_from() {
    let thoughts = block(
        0,
        &json!({ "type": "thinking", "thinking": "" }),
        &[
            json!({ "type": "thinking_delta", "thinking": "hm" }),
            json!({ "type": "signature_delta", "signature": "c2ln" }),
        ],
    );
    let sealed = block(1, &json!({ "type": "redacted_thinking", "data": "ZGF0YQ" }), &[]);
    let call = block(
        3,
        &json!({ "type": "tool_use", "id": "toolu_1", "name": "count", "input": {} }),
        &[
            json!({ "type": "input_json_delta", "partial_json": "{\"of\":" }),
            json!({ "type": "input_json_delta", "partial_json": " \"a\"}" }),
        ],
    );
    let (read, pieces, _) =
        read(&model(), &stream([thoughts, sealed, text(2, &["I ", "look."]), call], "tool_use"));
    let read = read.unwrap();
    assert_eq!(pieces_of(&pieces), ["thinking hm", "text I ", "text look.", "call count"]);
    assert_eq!((read.text.as_str(), &read.stop), ("I look.", &ModelStop::Complete));
    assert_eq!((read.calls[0].id.as_str(), read.calls[0].arguments.as_str()), ("toolu_1", r#"{"of": "a"}"#));
    assert_eq!(read.served_by.as_deref(), Some("claude-sonnet-5-5-20261001"));

    let mut next = question();
    next.messages.push(Message::Assistant { text: read.text, calls: read.calls, replay: read.replay });
    assert_eq!(
        body(&model(), &next)["messages"][1]["content"],
        json!([
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "redacted_thinking", "data": "ZGF0YQ" },
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "toolu_1", "name": "count", "input": { "of": "a" } },
        ])
    );
    let other = body(&Anthropic::new("claude-haiku-5-5", "k"), &next);
    assert_eq!(other["messages"][1]["content"].as_array().map(Vec::len), Some(2));
}

#[test]
fn every_end_is_told_apart() {
    assert_stops(
        &model(),
        |reason| stream([text(0, &["x"])], reason),
        &[
            ("end_turn", ModelStop::Complete),
            ("tool_use", ModelStop::Complete),
            ("stop_sequence", ModelStop::Complete),
            ("max_tokens", ModelStop::OutputLimit),
            ("model_context_window_exceeded", ModelStop::ContextLimit),
            ("refusal", ModelStop::Refused),
            ("pause_turn", ModelStop::Other("pause_turn".to_owned())),
        ],
    );
    let read = answer(&model(), &stream([text(0, &["x"])], "end_turn"));
    assert_eq!((counts(&read.usage), read.replay), ([10, 2, 3, 7], None));
}

#[test]
fn an_error_within_the_stream_is_a_failure_of_its_kind() {
    for (name, kind) in [
        ("overloaded_error", FailureKind::Transport),
        ("api_error", FailureKind::Transport),
        ("rate_limit_error", FailureKind::Transport),
        ("invalid_request_error", FailureKind::Request),
        ("authentication_error", FailureKind::Authentication),
        ("billing_error", FailureKind::Limit),
    ] {
        let error = json!({ "type": "error", "error": { "type": name, "message": "so it is" } });
        let (read, _, usage) = read(&model(), &[start(), error]);
        let failure = read.unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (kind, "so it is"), "{name}");
        assert_eq!(counts(&usage), [10, 2, 3, 1]);
    }
}

#[test]
fn a_damaged_stream_is_never_taken_for_an_answer() {
    let whole = stream([text(0, &["x"])], "end_turn");
    let without = |at: usize| [&whole[..at], &whole[at + 1..]].concat();
    let delta = |index| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": "x" } });
    for (what, events) in [
        ("nothing", Vec::new()),
        ("only a beginning", vec![start()]),
        ("a missing opener", without(1)),
        ("a missing end", whole[..4].to_vec()),
        ("two beginnings", [&whole[..1], &whole[..]].concat()),
        ("two openers", [&whole[..2], &whole[1..]].concat()),
        ("a block of nowhere", vec![start(), delta(u64::MAX)]),
        (
            "a negative block",
            vec![start(), json!({ "type": "content_block_delta", "index": -1, "delta": {} })],
        ),
        ("no JSON", vec![start(), json!("{")]),
        ("no object", vec![start(), json!([])]),
    ] {
        assert_eq!(failure(&model(), &events).kind, FailureKind::Transport, "{what}");
    }
    // A missing last event, pings and what is new are no damage.
    let mut odd = whole[..5].to_vec();
    odd.insert(2, json!({ "type": "ping" }));
    odd.insert(3, json!({ "type": "from_the_future", "index": "?" }));
    assert_eq!(answer(&model(), &odd).text, "x");
}

#[test]
fn absurd_counts_and_calls_without_ids_are_no_trouble() {
    let call = || json!({ "type": "tool_use", "name": "count", "input": { "of": "a" } });
    let mut events = stream([block(0, &call(), &[]), block(1, &call(), &[])], "tool_use");
    events[0] = json!({ "type": "message_start", "message": { "usage": {
        "input_tokens": -5, "cache_read_input_tokens": null, "output_tokens": 1e300,
    } } });
    let read = answer(&model(), &events);
    assert_eq!(counts(&read.usage), [0, 0, 0, u64::MAX]);
    assert_eq!(read.calls[0].arguments, r#"{"of":"a"}"#);
    assert!(!read.calls[0].id.is_empty() && read.calls[0].id != read.calls[1].id);
}
