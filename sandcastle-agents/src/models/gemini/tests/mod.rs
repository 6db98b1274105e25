//! Requests to Gemini as bytes, and its streams as answers.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{Message, ModelFailure, ModelStop};
use serde_json::{Value, json};

use super::{Gemini, failure::refine};
use crate::models::endpoint::Wire;
use crate::models::http::ErrorBody;
use crate::models::tests::{
    answer, assert_stops, body, conversation, counts, failure, pieces_of, question, read, schema,
    with_forced_tool, with_schema,
};

fn model() -> Gemini {
    Gemini::new("gemini-3.8-flash", "k")
}

fn parts(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }], "modelVersion": "gemini-3.8-flash-001" })
}

fn finish(reason: &str) -> Value {
    json!({
        "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": reason }],
        "usageMetadata": {
            "promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 2,
        },
    })
}

#[test]
fn a_schema_goes_into_the_generation_config() {
    assert_eq!(
        body(&model(), &with_schema()),
        json!({
            "contents": [{ "role": "user", "parts": [{ "text": "how many?" }] }],
            "generationConfig": { "responseMimeType": "application/json", "responseJsonSchema": schema() },
        })
    );
}

#[test]
fn a_name_cannot_lead_to_another_path() {
    for (name, path) in [
        ("gemini-3.8-flash", "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"),
        ("models/x", "/v1beta/models/x:streamGenerateContent?alt=sse"),
        ("../x?key=y#", "/v1beta/models/..%2Fx%3Fkey%3Dy%23:streamGenerateContent?alt=sse"),
    ] {
        assert_eq!(Gemini::new(name, "k").call(&question()).unwrap().path, path);
    }
}

#[test]
fn a_forced_tool_is_the_only_one_that_may_be_called() {
    let body = body(&model(), &with_forced_tool());
    let calling = json!({ "mode": "ANY", "allowedFunctionNames": ["result"] });
    assert_eq!(body["toolConfig"]["functionCallingConfig"], calling);
    let functions = &body["tools"][0]["functionDeclarations"];
    assert_eq!(
        functions[1],
        json!({ "name": "result", "description": "The answer.", "parametersJsonSchema": schema() })
    );
}

#[test]
fn a_conversation_is_a_list_of_contents() {
    let body = body(&model(), &conversation());
    assert_eq!(body["systemInstruction"], json!({ "parts": [{ "text": "You count." }] }));
    assert_eq!(body["generationConfig"], json!({ "maxOutputTokens": 100, "temperature": 0.2 }));
    assert_eq!(
        body["contents"],
        json!([
            { "role": "user", "parts": [{ "text": "how many?" }, { "text": "please" }] },
            { "role": "model", "parts": [
                { "text": "I look." },
                {
                    "functionCall": { "name": "count", "args": { "of": "a" }, "id": "c1" },
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                { "functionCall": { "name": "count", "args": { "arguments": "{\"of\":" }, "id": "c2" } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "name": "count", "response": { "output": "3" }, "id": "c1" } },
                { "functionResponse": { "name": "count", "response": { "error": "bad arguments" }, "id": "c2" } },
                { "text": "and now?" },
            ] },
        ])
    );
}

#[test]
fn signed_parts_are_sent_back_to_the_model_they_are_from() {
    let (read, pieces, _) = read(
        &model(),
        &[
            parts(&json!([{ "text": "hm", "thought": true }])),
            parts(&json!([{ "text": "I " }])),
            parts(&json!([{ "text": "look." }, { "thoughtSignature": "b25l" }])),
            parts(
                &json!([{ "functionCall": { "name": "count", "args": { "of": "a" } }, "thoughtSignature": "dHdv" }]),
            ),
            finish("STOP"),
        ],
    );
    let read = read.unwrap();
    assert_eq!(pieces_of(&pieces), ["thinking hm", "text I ", "text look.", "call count"]);
    assert_eq!((read.text.as_str(), counts(&read.usage)), ("I look.", [6, 0, 4, 7]));
    assert_eq!(
        (read.calls[0].arguments.as_str(), read.served_by.as_deref()),
        (r#"{"of":"a"}"#, Some("gemini-3.8-flash-001"))
    );

    let mut next = question();
    let call = read.calls[0].id.clone();
    next.messages.push(Message::Assistant { text: read.text, calls: read.calls, replay: read.replay });
    let result =
        Message::ToolResult { call, name: "count".to_owned(), content: "3".to_owned(), is_error: false };
    next.messages.push(result);
    let contents = &body(&model(), &next)["contents"];
    assert_eq!(
        contents[1]["parts"],
        json!([
            { "text": "hm", "thought": true },
            { "text": "I look." },
            { "thoughtSignature": "b25l", "text": "" },
            { "functionCall": { "name": "count", "args": { "of": "a" } }, "thoughtSignature": "dHdv" },
        ])
    );
    // The service gave no id, and gets none.
    assert_eq!(
        contents[2]["parts"][0]["functionResponse"],
        json!({ "name": "count", "response": { "output": "3" } })
    );
    // Another model gets what was said, and none of the seals; an old one wants none.
    for (model, seal) in [
        ("gemini-3.5-flash", json!("skip_thought_signature_validator")),
        ("models/gemini-flash-latest", json!("skip_thought_signature_validator")),
        ("gemini-2.5-flash", Value::Null),
        ("gemma-4-27b-it", Value::Null),
    ] {
        let other = body(&Gemini::new(model, "k"), &next);
        let parts = &other["contents"][1]["parts"];
        assert_eq!(parts.as_array().map(Vec::len), Some(2), "{model}");
        assert_eq!((&parts[0]["text"], &parts[1]["thoughtSignature"]), (&json!("I look."), &seal), "{model}");
    }
}

#[test]
fn every_end_is_told_apart() {
    let other = |reason: &str| ModelStop::Other(reason.to_owned());
    assert_stops(
        &model(),
        |reason| vec![parts(&json!([{ "text": "x" }])), finish(reason)],
        &[
            ("STOP", ModelStop::Complete),
            ("MAX_TOKENS", ModelStop::OutputLimit),
            ("SAFETY", ModelStop::Filtered),
            ("RECITATION", ModelStop::Filtered),
            ("BLOCKLIST", ModelStop::Filtered),
            ("PROHIBITED_CONTENT", ModelStop::Filtered),
            ("SPII", ModelStop::Filtered),
            ("LANGUAGE", other("LANGUAGE")),
            ("MALFORMED_FUNCTION_CALL", other("MALFORMED_FUNCTION_CALL")),
            ("OTHER", other("OTHER")),
        ],
    );
    let blocked = answer(&model(), &[json!({ "promptFeedback": { "blockReason": "SAFETY" } })]);
    assert_eq!((blocked.stop, blocked.text.as_str()), (ModelStop::Filtered, ""));
}

#[test]
fn failures_are_told_by_more_than_their_status() {
    let refined = |status: FailureKind, error: Value| {
        let body = ErrorBody::of_value(&json!({ "error": error }));
        let mut failure = body.failure(status);
        refine(&mut failure, &body);
        failure
    };
    let key =
        json!({ "code": 400, "message": "API key not valid.", "details": [{ "reason": "API_KEY_INVALID" }] });
    assert_eq!(refined(FailureKind::Request, key).kind, FailureKind::Authentication);
    let wait = |delay: &str| json!({ "code": 429, "message": "m", "details": [{ "@type": "x" }, { "retryDelay": delay }] });
    let seconds = |failure: ModelFailure| failure.retry_after.map(|wait| wait.as_secs_f64());
    for (delay, expected) in
        [("37.5s", Some(37.5)), ("-1s", None), ("1e300s", Some(86_400.0)), ("soon", None)]
    {
        assert_eq!(seconds(refined(FailureKind::Transport, wait(delay))), expected, "{delay}");
    }
    for (code, kind) in
        [(503, FailureKind::Transport), (400, FailureKind::Request), (403, FailureKind::Authentication)]
    {
        let failure =
            failure(&model(), &[json!({ "error": { "code": code, "message": "m", "status": "X" } })]);
        assert_eq!((failure.kind, failure.message.as_str()), (kind, "m"));
    }
}

#[test]
fn a_damaged_stream_is_never_taken_for_an_answer() {
    for (what, events) in [
        ("nothing", vec![]),
        ("no end", vec![parts(&json!([{ "text": "x" }]))]),
        ("no JSON", vec![json!("{")]),
        ("another shape", vec![json!({ "candidates": 7 })]),
    ] {
        assert_eq!(failure(&model(), &events).kind, FailureKind::Transport, "{what}");
    }
    let odd = json!({ "candidates": [{ "content": null }], "usageMetadata": { "promptTokenCount": -3 } });
    assert_eq!(answer(&model(), &[odd, parts(&json!([{}, { "text": "x" }])), finish("STOP")]).text, "x");
}
