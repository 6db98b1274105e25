//! What is asked of servers with an accent of their own, and what only they say.

use sandcastle_core::Support;
use sandcastle_core::model::{Model, ModelStop, OwnTools};
use sandcastle_core::output::lower::Dialect;
use serde_json::json;

use super::OpenAiCompatible;
use crate::models::Capabilities;
use crate::models::tests::{answer, body, conversation, counts, with_forced_tool, with_schema};

#[test]
fn llama_cpp_is_made_to_call_a_tool_by_being_offered_no_other() {
    let model = OpenAiCompatible::llama_cpp("http://127.0.0.1:8080/");
    let body = body(&model, &with_forced_tool());
    assert_eq!(body["tool_choice"], "required");
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["tools"][0]["function"]["name"], "result");
    assert!(body["tools"][0]["function"].get("strict").is_none());
    assert_eq!(model.endpoint.service.base, "http://127.0.0.1:8080/v1");
    assert_eq!(OpenAiCompatible::llama_cpp("http://h/v1").endpoint.service.base, "http://h/v1");

    let support = model.support(OwnTools::None);
    assert_eq!((support.dialect, support.native), (Some(Dialect::LlamaCpp), Support::Declared));
    assert!(matches!(support.forced_tool, Support::Denied(reason) if reason.contains("only half")));
    assert!(matches!(model.support(OwnTools::Some).native, Support::Denied(_)));
}

#[test]
fn open_router_passes_over_whoever_would_ignore_a_parameter() {
    let model = OpenAiCompatible::open_router("anthropic/claude-sonnet-5.5", "k");
    let schema = body(&model, &with_schema());
    assert_eq!(schema["provider"], json!({ "require_parameters": true }));
    // Every parameter that is sent has to be known to whoever answers: nothing is sent that was not asked for.
    let keys: Vec<_> = schema.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "stream", "stream_options", "messages", "response_format", "provider"]);
    assert_eq!(body(&model, &conversation())["max_tokens"], 100);

    for (name, dialect) in [
        ("openai/gpt-6-sol", Dialect::OpenAi),
        ("google/gemini-3.8-flash", Dialect::Gemini),
        ("anthropic/claude-opus-5", Dialect::Anthropic),
        ("qwen/qwen3-max", Dialect::Anthropic),
    ] {
        let support = OpenAiCompatible::open_router(name, "k").support(OwnTools::None);
        assert_eq!((support.dialect, support.native), (Some(dialect), Support::Declared), "{name}");
    }
}

#[test]
fn a_preset_holds_for_its_server_only() {
    let moved =
        OpenAiCompatible::open_router("openai/gpt-6-sol", "k").base_url("https://gateway.example.com/v1");
    assert!(matches!(moved.support(OwnTools::None).native, Support::Denied(_)));
    let declared = moved.declares(Capabilities::of(Dialect::OpenAi).with_native());
    assert_eq!(declared.support(OwnTools::None).native, Support::Declared);
}

#[test]
fn a_router_says_what_it_cost_and_who_refused() {
    let model = OpenAiCompatible::open_router("anthropic/claude-opus-5", "k");
    let choice =
        json!({ "delta": { "content": "No." }, "finish_reason": "stop", "native_finish_reason": "refusal" });
    for (cost, expected) in
        [(json!(0.25), Some(0.25)), (json!(-1), None), (json!("1"), None), (json!(null), None)]
    {
        let usage = json!({
            "prompt_tokens": 10, "completion_tokens": 2, "cost": cost,
            "prompt_tokens_details": { "cached_tokens": 3, "cache_write_tokens": 2 },
        });
        let read =
            answer(&model, &[json!({ "choices": [choice] }), json!({ "choices": [], "usage": usage })]);
        assert_eq!((read.stop, read.usage.cost_usd), (ModelStop::Refused, expected));
        assert_eq!(counts(&read.usage), [5, 2, 3, 2]);
    }
}

#[test]
fn what_is_paid_to_others_with_a_key_of_ones_own_is_part_of_the_cost() {
    let cost = |model: &OpenAiCompatible, usage: serde_json::Value| {
        let done =
            json!({ "choices": [{ "delta": { "content": "x" }, "finish_reason": "stop" }], "usage": usage });
        answer(model, &[done]).usage.cost_usd
    };
    let router = OpenAiCompatible::open_router("anthropic/claude-opus-5", "k");
    let upstream = json!({ "upstream_inference_cost": 2 });
    assert_eq!(cost(&router, json!({ "cost": 0.5, "is_byok": true, "cost_details": upstream })), Some(2.5));
    assert_eq!(cost(&router, json!({ "cost": 0.5, "is_byok": false, "cost_details": upstream })), Some(0.5));
    assert_eq!(cost(&router, json!({ "cost": 0.5, "is_byok": true, "cost_details": null })), Some(0.5));
    assert!(router.says_cost() && router.price().is_none());

    // What a server that nothing is known of calls a cost may be anything.
    let other = router.base_url("http://127.0.0.1:1");
    assert_eq!(cost(&other, json!({ "cost": 0.5 })), None);
    assert!(!other.says_cost() && !OpenAiCompatible::llama_cpp("http://127.0.0.1:1").says_cost());
}
