//! Requests to the Responses API as bytes, and its streams as answers.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{Message, ModelStop};
use serde_json::{Value, json};

use super::OpenAiResponses;
use crate::models::tests::{
    answer, assert_stops, body, conversation, counts, failure, pieces_of, question, read, schema,
    with_forced_tool, with_schema,
};

fn model() -> OpenAiResponses {
    OpenAiResponses::new("gpt-5.5", "k")
}

fn message(text: &str) -> Value {
    json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": text }] })
}

fn closed(index: u64, item: &Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn said(text: &str) -> Value {
    json!({ "type": "response.output_text.delta", "delta": text })
}

fn ended(kind: &str, response: &Value) -> Value {
    json!({ "type": format!("response.{kind}"), "response": response })
}

fn completed(output: &[Value]) -> Value {
    ended(
        "completed",
        &json!({ "status": "completed", "model": "gpt-5.5-2026-04-01", "output": output, "usage": {
        "input_tokens": 10, "output_tokens": 7, "input_tokens_details": { "cached_tokens": 4 },
    } }),
    )
}

#[test]
fn a_schema_goes_into_the_text_format() {
    assert_eq!(
        body(&model(), &with_schema()),
        json!({
            "model": "gpt-5.5", "stream": true, "store": false,
            "input": [{ "role": "user", "content": "how many?" }],
            "text": { "format": { "type": "json_schema", "name": "result", "strict": true, "schema": schema() } },
            "include": ["reasoning.encrypted_content"],
        })
    );
    // Who does not think, and who is not known to, is not asked for thoughts.
    for other in [OpenAiResponses::new("gpt-4.1", "k"), model().base_url("http://127.0.0.1:1/v1")] {
        assert!(body(&other, &with_schema()).get("include").is_none());
    }
}

#[test]
fn a_forced_tool_is_named_and_only_a_lowered_one_is_strict() {
    let body = body(&model(), &with_forced_tool());
    assert_eq!(body["tool_choice"], json!({ "type": "function", "name": "result" }));
    assert_eq!(
        body["tools"],
        json!([
            {
                "type": "function", "name": "count", "description": "Counts.", "parameters": { "type": "object" },
                "strict": false,
            },
            {
                "type": "function", "name": "result", "description": "The answer.", "parameters": schema(),
                "strict": true,
            },
        ])
    );
}

#[test]
fn a_conversation_is_a_list_of_items() {
    let body = body(&model(), &conversation());
    assert_eq!((&body["instructions"], &body["max_output_tokens"]), (&json!("You count."), &json!(100)));
    assert_eq!(
        body["input"],
        json!([
            { "role": "user", "content": "how many?" },
            { "role": "user", "content": "please" },
            { "role": "assistant", "content": "I look." },
            { "type": "function_call", "call_id": "c1", "name": "count", "arguments": "{\"of\":\"a\"}" },
            { "type": "function_call", "call_id": "c2", "name": "count", "arguments": "{\"arguments\":\"{\\\"of\\\":\"}" },
            { "type": "function_call_output", "call_id": "c1", "output": "3" },
            { "type": "function_call_output", "call_id": "c2", "output": "the tool failed: bad arguments" },
            { "role": "user", "content": "and now?" },
        ])
    );
}

#[test]
fn sealed_thoughts_are_sent_back_to_the_model_they_are_from() {
    let thought =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk" });
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "count", "arguments": "{}" });
    let items = [thought.clone(), message("I look."), call];
    let events: Vec<_> = [
        json!({ "type": "response.created", "response": { "status": "in_progress" } }),
        json!({ "type": "response.reasoning_summary_text.delta", "delta": "hm" }),
        said("I "),
        said("look."),
        json!({ "type": "response.output_item.added", "item": { "type": "function_call", "name": "count" } }),
    ]
    .into_iter()
    .chain(items.iter().enumerate().map(|(index, item)| closed(index as u64, item)))
    .collect();
    // The whole at the end counts; without it, what was closed.
    for output in [&items[..], &[]] {
        let (read, pieces, _) = read(&model(), &[&events[..], &[completed(output)]].concat());
        let read = read.unwrap();
        assert_eq!(pieces_of(&pieces), ["thinking hm", "text I ", "text look.", "call count"]);
        assert_eq!(
            (read.text.as_str(), &read.stop, counts(&read.usage)),
            ("I look.", &ModelStop::Complete, [6, 0, 4, 7])
        );
        assert_eq!(
            (read.calls[0].id.as_str(), read.served_by.as_deref()),
            ("call_1", Some("gpt-5.5-2026-04-01"))
        );

        let mut next = question();
        next.messages.push(Message::Assistant { text: read.text, calls: read.calls, replay: read.replay });
        assert_eq!(
            body(&model(), &next)["input"].as_array().map(|input| &input[1..]),
            Some(
                &[
                    thought.clone(),
                    json!({ "role": "assistant", "content": "I look." }),
                    json!({ "type": "function_call", "call_id": "call_1", "name": "count", "arguments": "{}" }),
                ][..]
            )
        );
        assert_eq!(body(&OpenAiResponses::new("gpt-5", "k"), &next)["input"][1]["role"], "assistant");
    }
}

#[test]
fn every_end_is_told_apart() {
    assert_stops(
        &model(),
        |reason| {
            vec![
                said("{\"n\":"),
                ended(
                    "incomplete",
                    &json!({
                        "status": "incomplete", "incomplete_details": { "reason": reason }, "output": [],
                    }),
                ),
            ]
        },
        &[
            ("max_output_tokens", ModelStop::OutputLimit),
            ("content_filter", ModelStop::Filtered),
            ("tired", ModelStop::Other("tired".to_owned())),
        ],
    );
    let cut = answer(&model(), &[said("{\"n\":"), ended("incomplete", &json!({ "status": "incomplete" }))]);
    assert_eq!((cut.text.as_str(), cut.stop), ("{\"n\":", ModelStop::Other("incomplete".to_owned())));
    // An event that says that the answer is not whole is believed, and so is a refusal that no item repeats.
    for whole in [json!(null), json!({ "status": "completed" })] {
        let cut = answer(&model(), &[said("{}"), ended("incomplete", &whole)]);
        assert_eq!(cut.stop, ModelStop::Other("incomplete".to_owned()));
    }
    let refusing = json!({ "type": "response.refusal.delta", "delta": "I won't." });
    let refused = answer(&model(), &[refusing, completed(&[])]);
    assert_eq!((refused.stop, refused.text.as_str()), (ModelStop::Refused, "I won't."));
    let refusal = json!({ "type": "message", "content": [{ "type": "refusal", "refusal": "I won't." }] });
    let refused = answer(&model(), &[completed(&[refusal])]);
    assert_eq!((refused.stop, refused.text.as_str()), (ModelStop::Refused, "I won't."));
    assert_eq!(answer(&model(), &[completed(&[message("x")])]).stop, ModelStop::Complete);
}

#[test]
fn an_error_within_the_stream_is_a_failure_of_its_kind() {
    for (code, kind) in [
        ("server_error", FailureKind::Transport),
        ("rate_limit_exceeded", FailureKind::Transport),
        ("invalid_prompt", FailureKind::Request),
        ("insufficient_quota", FailureKind::Limit),
    ] {
        let error = json!({ "code": code, "message": "so it is" });
        for event in [
            ended("failed", &json!({ "status": "failed", "error": error })),
            json!({ "type": "error", "code": code, "message": "so it is" }),
            json!({ "type": "error", "error": error }),
        ] {
            let failure = failure(&model(), std::slice::from_ref(&event));
            assert_eq!((failure.kind, failure.message.as_str()), (kind, "so it is"), "{event}");
        }
    }
}

#[test]
fn a_damaged_stream_is_never_taken_for_an_answer() {
    for (what, events) in [
        ("nothing", vec![]),
        ("no end", vec![said("x"), closed(0, &message("x"))]),
        ("an end without a whole", vec![said("x"), json!("[DONE]")]),
        ("two items in one place", vec![closed(0, &message("x")), closed(0, &message("y")), completed(&[])]),
        ("no JSON", vec![json!("{")]),
        ("another shape", vec![json!({ "type": "response.completed", "response": [] })]),
    ] {
        assert_eq!(failure(&model(), &events).kind, FailureKind::Transport, "{what}");
    }
}
