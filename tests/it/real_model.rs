//! The real model that tests of strategies ask, by its server alone: it does what those tests take for granted.
//!
//! It needs `.ci/model start`; nothing of ours is at work here.

use serde_json::{Value, json};

use crate::support::real_model::RealModel;

const QUESTION: &str = "Sort this bug report: the login page answers with HTTP 500 for every user.";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "colour": { "enum": ["teal", "ochre"] },
            "weight": { "type": "integer", "minimum": 40, "maximum": 49 },
        },
        "required": ["colour", "weight"],
        "additionalProperties": false,
    })
}

/// A request of the chat wire; what it asks for has nothing to do with the schema, so that only the server can see to it.
fn chat(model: &RealModel, max_tokens: u32) -> Value {
    let format = json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema() } });
    json!({
        "model": model.name,
        "max_tokens": max_tokens,
        "messages": [{ "role": "user", "content": QUESTION }],
        "response_format": format,
    })
}

#[test]
fn the_real_model_is_held_to_a_schema_on_the_chat_wire() {
    let Some(model) = RealModel::find() else { return };
    let answer = model.post("/v1/chat/completions", &chat(&model, 128));
    assert_eq!(answer["choices"][0]["finish_reason"], "stop", "{answer:#}");
    let content = answer["choices"][0]["message"]["content"].as_str().expect("text");
    let value: Value = serde_json::from_str(content).expect("JSON");
    assert!(["teal", "ochre"].contains(&value["colour"].as_str().expect("a word")), "{value}");
    assert!((40..=49).contains(&value["weight"].as_i64().expect("an integer")), "{value}");
    assert!(answer["usage"]["completion_tokens"].as_u64() > Some(0), "{answer:#}");
    assert_eq!(answer["model"], model.name);
}

#[test]
fn the_real_model_says_that_an_answer_was_cut_off() {
    let Some(model) = RealModel::find() else { return };
    let answer = model.post("/v1/chat/completions", &chat(&model, 4));
    assert_eq!(answer["choices"][0]["finish_reason"], "length", "{answer:#}");
}

/// What a client must not believe: the request is good, the answer is good, and the schema counted for nothing.
#[test]
fn the_real_model_is_not_held_to_a_schema_on_the_responses_wire() {
    let Some(model) = RealModel::find() else { return };
    let body = json!({
        "model": model.name,
        "max_output_tokens": 48,
        "input": QUESTION,
        "text": { "format": { "type": "json_schema", "name": "answer", "schema": schema(), "strict": true } },
    });
    let answer = model.post("/v1/responses", &body);
    let text = answer["output"][0]["content"][0]["text"].as_str().expect("text");
    assert!(!text.contains("teal") && !text.contains("ochre"), "{text}");
}
