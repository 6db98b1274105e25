//! The limits that the seed knows of and left: each is gone here.

use sandcastle::AnswerGuarantee;

use super::wires::on_the_wire;
use super::*;

/// An object with optional fields, and a number out of a few.
fn optional() -> Value {
    object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"] },
            "note": { "type": "string" },
            "labels": { "type": "array", "items": { "type": "string" } },
            "owner": object(&json!({ "name": { "type": "string" } }), &["name"]),
            "score": { "type": "integer" },
        }),
        &["severity"],
    )
}

fn read_optional() -> String {
    let more = r#"outputs:
  note: "{{ triage.note | default('none') }}"
  labels: "{{ triage.labels | default([]) | length }}"
  owned: "{{ triage.owner is defined }}"
"#;
    asking_with("    strategy: native\n", &optional(), more)
}

/// Whether an optional field is left out, or null because the wire has no other way to leave it out: it is not there.
#[tokio::test]
async fn seed_3_11_an_optional_field_is_left_out_or_null_and_is_absent_either_way() {
    let document = read_optional();
    assert_eq!(found(&document), [""; 0]);
    let left_out = json!({ "severity": "low" });
    let null = json!({ "severity": "low", "note": null, "labels": null, "owner": null, "score": null });
    for service in Service::ALL {
        let wants_every_key = matches!(service, Service::OpenAi | Service::Responses);
        let replies = [&null, &left_out].map(|answer| Reply::text(answer.to_string()));
        let bench = Bench::new(service, replies).await;
        let result = bench.run(&document).await;
        assert_eq!(result.output, json!({ "note": "none", "labels": 0, "owned": false }), "{service:?}");
        assert_eq!(result.step("triage").unwrap().output.as_ref(), Some(&left_out), "{service:?}");
        // Where a field may simply be left out, no service was told that it may be null: that is no answer there.
        assert_eq!(bench.asked(), if wants_every_key { 1 } else { 2 }, "{service:?}");
    }
}

/// A service that wants every key has a way to say that there is no value, so that none has to be made up.
#[tokio::test]
async fn seed_3_11_no_service_makes_a_model_fill_in_empty_values() {
    for service in Service::ALL {
        let bench = Bench::new(service, [Reply::text(r#"{"severity":"low"}"#)]).await;
        bench.run(&read_optional()).await;
        let schema = on_the_wire(&bench, "severity");
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for field in ["note", "labels", "owner", "score"] {
            let written = schema["properties"][field].to_string();
            let may_be_absent = !required.contains(&json!(field));
            assert!(may_be_absent || written.contains("null"), "{service:?}: `{field}` is {written}");
        }
    }
    // What a model means by an empty value it may still say.
    let answer = json!({ "severity": "low", "note": "", "labels": [] });
    let bench = Bench::answering([answer.clone()]).await;
    let result = bench.run(&read_optional()).await;
    assert_eq!(result.step("triage").unwrap().output, Some(answer));
    assert_eq!(result.output["note"], "");
}

#[tokio::test]
async fn seed_3_11_a_null_that_is_allowed_stays_and_one_that_is_not_is_retried() {
    let schema = object(
        &json!({ "owner": { "type": ["string", "null"] }, "team": { "type": "string" } }),
        &["owner", "team"],
    );
    let document = asking_with("    strategy: native\n", &schema, "");
    for service in Service::ALL {
        let good = json!({ "owner": null, "team": "a" });
        let replies = [json!({ "owner": null, "team": null }), good.clone()];
        let bench = Bench::new(service, replies.map(|reply| Reply::text(reply.to_string()))).await;
        let result = bench.run(&document).await;
        assert_eq!(result.output["triage"], good, "{service:?}");
        assert_eq!(bench.retried().len(), 1, "{service:?}");
    }
}

#[tokio::test]
async fn seed_3_11_enumerations_of_numbers_are_on_the_wire_or_in_the_words_and_judged_here() {
    let schema = object(
        &json!({ "rank": { "type": "integer", "enum": [1, 2, 3] }, "half": { "type": "number", "enum": [0.5, 1] } }),
        &["rank", "half"],
    );
    let document = asking_with("    strategy: native\n", &schema, "");
    let (wrong, right) = (json!({ "rank": 4, "half": 0.5 }), json!({ "rank": 3, "half": 1 }));
    let mut sent = 0;
    for service in Service::ALL {
        let bench =
            Bench::new(service, [wrong.clone(), right.clone()].map(|it| Reply::text(it.to_string()))).await;
        let result = bench.run(&document).await;
        assert_eq!(bench.retried(), [["output.rank must be one of 1, 2, 3"]], "{service:?}");
        assert_eq!(result.output["triage"], right, "{service:?}");
        assert!(bench.instructed().contains('3'), "{service:?}: {}", bench.instructed());
        let rank = &on_the_wire(&bench, "rank")["properties"]["rank"];
        sent += usize::from(rank["enum"] == json!([1, 2, 3]));
    }
    assert!(sent >= 4, "{sent} services were sent the numbers");
}

/// Its `result` is any object, which a strict wire cannot say: there it is asked for in words, and never as an open object.
#[tokio::test]
async fn seed_3_11_a_gate_without_a_schema_works_with_every_service() {
    let document = format!(
        "version: \"1.1\"\n{MODELS}guardrails: {{ confidence_threshold: 0.5 }}\nsteps:\n  - {{ step: triage, type: model, prompt: Sort it., confidence_gate: true }}\n"
    );
    let answer = json!({ "result": { "team": "platform", "score": 3 }, "confidence": 0.9 });
    for (service, guarantee) in [
        (Service::Anthropic, AnswerGuarantee::Tag),
        (Service::OpenAi, AnswerGuarantee::Tag),
        (Service::Responses, AnswerGuarantee::Tag),
        (Service::Gemini, AnswerGuarantee::Native),
        (Service::Ollama, AnswerGuarantee::Native),
        (Service::LlamaCpp, AnswerGuarantee::Native),
    ] {
        let text = match guarantee {
            AnswerGuarantee::Tag => format!("<output>{answer}</output>"),
            _ => answer.to_string(),
        };
        let bench = Bench::new(service, [Reply::text(text)]).await;
        let result = bench.run(&document).await;
        let expected = json!({ "team": "platform", "score": 3, "confidence": 0.9 });
        assert_eq!(result.output["triage"], expected, "{service:?}");
        assert_eq!(result.step("triage").unwrap().answer_guarantee, Some(guarantee), "{service:?}");
        assert_eq!(bench.asked(), 1, "{service:?}: nothing was refused");
        let body = bench.server.requests()[0].body.to_string();
        assert!(!body.contains("propertyNames"), "{service:?}: {body}");
    }
}
