//! Requests to OpenAI's chat completions as bytes, and its streams as answers.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelStop;
use serde_json::{Value, json};

use super::OpenAi;
use crate::models::tests::{
    answer, assert_stops, body, conversation, counts, failure, pieces_of, read, schema, with_forced_tool,
    with_schema,
};

fn model() -> OpenAi {
    OpenAi::new("gpt-4.1", "k")
}

fn delta(delta: &Value) -> Value {
    json!({ "model": "gpt-4.1-2025-04-14", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn usage() -> Value {
    json!({ "choices": [], "usage": {
        "prompt_tokens": 10, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 4 },
    } })
}

fn done() -> Value {
    "[DONE]".into()
}

#[test]
fn a_schema_goes_into_the_response_format() {
    assert_eq!(
        body(&model(), &with_schema()),
        json!({
            "model": "gpt-4.1", "stream": true, "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "how many?" }],
            "response_format": {
                "type": "json_schema", "json_schema": { "name": "result", "strict": true, "schema": schema() },
            },
        })
    );
}

#[test]
fn a_forced_tool_is_named_and_only_a_lowered_one_is_strict() {
    let body = body(&model(), &with_forced_tool());
    assert_eq!(body["tool_choice"], json!({ "type": "function", "function": { "name": "result" } }));
    assert_eq!(
        body["tools"],
        json!([
            { "type": "function", "function": {
                "name": "count", "description": "Counts.", "parameters": { "type": "object" },
            } },
            { "type": "function", "function": {
                "name": "result", "description": "The answer.", "parameters": schema(), "strict": true,
            } },
        ])
    );
}

#[test]
fn a_conversation_is_told_with_its_calls() {
    let body = body(&model(), &conversation());
    assert_eq!(
        body["messages"],
        json!([
            { "role": "system", "content": "You count." },
            { "role": "user", "content": "how many?" },
            { "role": "user", "content": "please" },
            { "role": "assistant", "content": "I look.", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "count", "arguments": "{\"of\":\"a\"}" } },
                { "id": "c2", "type": "function", "function": {
                    "name": "count", "arguments": "{\"arguments\":\"{\\\"of\\\":\"}",
                } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "3" },
            { "role": "tool", "tool_call_id": "c2", "content": "the tool failed: bad arguments" },
            { "role": "user", "content": "and now?" },
        ])
    );
    assert_eq!(
        (&body["max_completion_tokens"], body["temperature"].to_string()),
        (&json!(100), "0.2".to_owned())
    );
    assert!(body.get("tool_choice").is_none() && body.get("max_tokens").is_none());
}

#[test]
fn pieces_are_run_together() {
    let call = |index: u64, id: Option<&str>, name: Option<&str>, arguments: &str| {
        delta(&json!({ "tool_calls": [{
            "index": index, "id": id, "function": { "name": name, "arguments": arguments },
        }] }))
    };
    let (read, pieces, _) = read(
        &model(),
        &[
            delta(&json!({ "role": "assistant", "content": "" })),
            delta(&json!({ "reasoning_content": "hm" })),
            delta(&json!({ "content": "I " })),
            delta(&json!({ "content": "look.", "tool_calls": null })),
            call(0, Some("c1"), Some("count"), ""),
            call(1, None, Some("count"), "{}"),
            call(0, None, None, "{\"of\":"),
            call(0, None, None, "\"a\"}"),
            finish("tool_calls"),
            usage(),
            done(),
        ],
    );
    let read = read.unwrap();
    assert_eq!(pieces_of(&pieces), ["thinking hm", "text I ", "text look.", "call count", "call count"]);
    assert_eq!((read.text.as_str(), &read.stop), ("I look.", &ModelStop::Complete));
    assert_eq!((read.calls[0].id.as_str(), read.calls[0].arguments.as_str()), ("c1", r#"{"of":"a"}"#));
    assert!(read.calls[1].id.len() > 4 && read.calls[1].arguments == "{}");
    assert_eq!(counts(&read.usage), [6, 0, 4, 7]);
    assert_eq!((read.served_by.as_deref(), read.usage.cost_usd), (Some("gpt-4.1-2025-04-14"), None));
}

#[test]
fn content_may_be_a_list_of_parts() {
    let thinking = json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] }]);
    let (read, pieces, _) = read(
        &model(),
        &[
            delta(&json!({ "content": thinking })),
            delta(
                &json!({ "content": [{ "type": "text", "text": "x" }, { "type": "reference", "reference_ids": [1] }] }),
            ),
            delta(&json!({ "content": "y" })),
            delta(&json!({ "content": [] })),
            finish("stop"),
        ],
    );
    assert_eq!(read.unwrap().text, "xy");
    assert_eq!(pieces_of(&pieces), ["thinking hm", "text x", "text y"]);
    assert!(
        failure(&model(), &[delta(&json!({ "content": 5 })), finish("stop")]).message.contains("content")
    );
}

#[test]
fn calls_without_numbers_or_with_objects_are_read_too() {
    let pieces = json!([
        { "id": "a", "function": { "name": "count", "arguments": "{\"of\":" } },
        { "function": { "arguments": "1}" } },
        { "id": "b", "function": { "name": "count", "arguments": { "of": 2 } } },
    ]);
    let read = answer(&model(), &[delta(&json!({ "tool_calls": pieces })), finish("tool_calls")]);
    let arguments: Vec<_> =
        read.calls.iter().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!(arguments, [("a", r#"{"of":1}"#), ("b", r#"{"of":2}"#)]);
}

#[test]
fn calls_with_the_same_number_or_a_late_name_are_told_apart() {
    let call = |id: Option<&str>, name: Option<&str>, arguments: &str| {
        let function = json!({ "name": name, "arguments": arguments });
        delta(&json!({ "tool_calls": [{ "index": 0, "id": id, "function": function }] }))
    };
    let events = [
        call(Some("a"), None, ""),
        call(None, Some("count"), "{}"),
        call(Some("b"), Some("count"), "{\"of\":"),
        call(Some("b"), Some("count"), "1}"),
        finish("tool_calls"),
    ];
    let (read, pieces, _) = read(&model(), &events);
    let calls: Vec<_> =
        read.unwrap().calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
    let expected = [("a", "count", "{}"), ("b", "count", "{\"of\":1}")]
        .map(|(id, name, arguments)| (id.to_owned(), name.to_owned(), arguments.to_owned()));
    assert_eq!((&calls[..], pieces_of(&pieces).len()), (&expected[..], 2));
}

#[test]
fn a_second_answer_does_not_run_into_the_first() {
    let other =
        json!({ "choices": [{ "index": 1, "delta": { "content": "y" }, "finish_reason": "length" }] });
    let read = answer(&model(), &[delta(&json!({ "content": "x" })), other, finish("stop"), done()]);
    assert_eq!((read.text.as_str(), read.stop), ("x", ModelStop::Complete));
}

#[test]
fn every_end_is_told_apart() {
    assert_stops(
        &model(),
        |reason| vec![delta(&json!({ "content": "x" })), finish(reason), usage(), done()],
        &[
            ("stop", ModelStop::Complete),
            ("tool_calls", ModelStop::Complete),
            ("function_call", ModelStop::Complete),
            ("length", ModelStop::OutputLimit),
            ("content_filter", ModelStop::Filtered),
            ("eos_token", ModelStop::Complete),
            ("stop_sequence", ModelStop::Complete),
            ("model_length", ModelStop::ContextLimit),
            ("eos", ModelStop::Other("eos".to_owned())),
        ],
    );
    for reason in ["error", "abort", "network_error", "insufficient_system_resource"] {
        let failure =
            failure(&model(), &[delta(&json!({ "content": "x" })), finish(reason), usage(), done()]);
        assert_eq!(failure.kind, FailureKind::Transport);
        assert_eq!(failure.message, format!("the server broke off the answer: `{reason}`"));
    }
    let refused = answer(
        &model(),
        &[
            delta(&json!({ "content": null, "refusal": "I " })),
            delta(&json!({ "refusal": "won't." })),
            finish("stop"),
        ],
    );
    assert_eq!((refused.stop, refused.text.as_str()), (ModelStop::Refused, "I won't."));
    // A server that never says why is not taken to have said everything.
    let unsaid = answer(&model(), &[delta(&json!({ "content": "x" })), done()]);
    assert_eq!(unsaid.stop, ModelStop::Other("no reason given".to_owned()));
}

#[test]
fn an_error_within_the_stream_is_a_failure_of_its_kind() {
    for (error, kind) in [
        (json!({ "message": "m", "code": 502 }), FailureKind::Transport),
        (json!({ "message": "m", "code": 401 }), FailureKind::Authentication),
        (json!({ "message": "m", "code": "insufficient_quota" }), FailureKind::Limit),
        (json!({ "message": "m", "type": "invalid_request_error" }), FailureKind::Request),
        (json!({ "message": "m", "type": "server_error" }), FailureKind::Transport),
        (json!("m"), FailureKind::Transport),
    ] {
        let of_stream = failure(&model(), &[json!({ "error": error })]);
        let of_choice =
            failure(&model(), &[json!({ "choices": [{ "error": error, "finish_reason": "error" }] })]);
        for failure in [of_stream, of_choice] {
            assert_eq!((failure.kind, failure.message.as_str()), (kind, "m"), "{error}");
        }
    }
}

#[test]
fn a_damaged_stream_is_never_taken_for_an_answer() {
    for (what, events) in [
        ("nothing", vec![]),
        ("no end", vec![delta(&json!({ "content": "x" }))]),
        ("no JSON", vec![json!("{"), done()]),
        ("no object", vec![json!(7)]),
        ("another shape", vec![json!({ "choices": "x" })]),
    ] {
        assert_eq!(failure(&model(), &events).kind, FailureKind::Transport, "{what}");
    }
    let odd = json!({ "choices": null, "usage": null, "error": null, "model": null });
    assert_eq!(
        answer(&model(), &[odd.clone(), delta(&json!({ "content": "x" })), odd, finish("stop")]).text,
        "x"
    );
}
