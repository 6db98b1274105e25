//! Who decides what is valid: the engine, whatever the service let through; after defaults are filled in.

use super::*;

#[tokio::test]
async fn seed_3_2_the_engine_decides_and_not_the_provider() {
    // The bounds are not on the wire, so the service has no objection to any of this.
    let schema = object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"] },
            "score": { "type": "integer", "minimum": 1, "maximum": 5 },
            "items": { "type": "array", "items": object(&json!({ "name": { "type": "string" } }), &["name"]) },
        }),
        &["severity", "score", "items"],
    );
    let wrong = json!({ "severity": "urgent", "score": 9, "items": [{ "name": "a" }, {}] });
    let right = json!({ "severity": "low", "score": 1, "items": [] });
    let bench = Bench::answering([wrong, right.clone()]).await;
    let result = bench.run(&asking(&schema, "")).await;
    let problems = [
        "output.severity must be one of low, high",
        "output.score must be at most 5",
        "output.items[1].name is required",
    ];
    let mut told = bench.retried().concat();
    assert_eq!(told.len(), 3, "every problem of one answer is told: {told:?}");
    told.retain(|line| !problems.contains(&line.as_str()));
    assert_eq!(told, [""; 0]);
    for problem in problems {
        assert!(bench.last_told().contains(problem), "{}", bench.last_told());
    }
    assert_eq!(result.output["triage"], right);
}

#[tokio::test]
async fn seed_3_2_the_prompt_carries_the_schema_as_text_whatever_goes_beside_it() {
    for service in Service::ALL {
        let bench = Bench::new(service, [Reply::text(r#"{"severity":"low"}"#)]).await;
        bench.run(&asking_with("    strategy: native\n", &severity(), "")).await;
        assert_eq!(bench.last_told(), "Sort this: It crashes.", "{service:?}");
        let told = bench.instructed();
        assert!(["severity", "low", "high"].iter().all(|word| told.contains(word)), "{service:?}: {told}");
    }
}

#[tokio::test]
async fn seed_3_2_defaults_are_filled_in_first_and_then_all_of_it_is_judged() {
    let item = object(
        &json!({ "name": { "type": "string" }, "line": { "type": "integer", "default": 1 } }),
        &["name", "line"],
    );
    let schema = object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"], "default": "low" },
            "owner": object(&json!({ "team": { "type": "string", "default": "platform" } }), &["team"]),
            "items": { "type": "array", "items": item },
        }),
        &["severity", "items"],
    );
    let bench =
        Bench::answering([json!({ "owner": {}, "items": [{ "name": "a" }, { "name": "b", "line": 7 }] })])
            .await;
    let result = bench.run(&asking(&schema, "")).await;
    assert_eq!(
        result.output["triage"],
        json!({
            "severity": "low", "owner": { "team": "platform" },
            "items": [{ "name": "a", "line": 1 }, { "name": "b", "line": 7 }],
        })
    );
    assert_eq!(bench.asked(), 1, "what a default stands for is not missing");

    // An object that is not there is not made up for the sake of its defaults.
    let bench = Bench::answering([json!({ "items": [] })]).await;
    let result = bench.run(&asking(&schema, "")).await;
    assert_eq!(result.output["triage"], json!({ "severity": "low", "items": [] }));
}

#[tokio::test]
async fn seed_3_2_a_default_stands_for_nothing_but_what_is_absent() {
    let schema = object(
        &json!({ "score": { "type": "integer", "default": 3 }, "label": { "type": "string", "default": "bug" } }),
        &["score", "label"],
    );
    // A wrong value is not replaced, and none is turned into another kind.
    let bench = Bench::answering([json!({ "score": "4", "label": 4 }), json!({ "score": 4 })]).await;
    let result = bench.run(&asking(&schema, "")).await;
    let mut told = bench.retried().concat();
    told.sort();
    assert_eq!(
        told,
        ["output.label must be a string, got 4", "output.score must be an integer, got string \"4\""]
    );
    assert_eq!(result.output["triage"], json!({ "score": 4, "label": "bug" }));
}

#[tokio::test]
async fn seed_3_4_the_validated_object_is_the_output_and_is_read_typed() {
    let schema = object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"] },
            "score": { "type": "integer" },
            "labels": { "type": "array", "items": { "type": "string" } },
            "urgent": { "type": "boolean", "default": true },
        }),
        &["severity", "score", "labels"],
    );
    let more = r#"  - step: bad
    type: condition
    if: triage.severity == "high" and triage.score > 9 and triage.urgent and "bug" in triage.labels
    then:
      - { step: page, type: tool, run: [printf, "%s|", "{{ triage.score }}", "{{ triage.labels }}", "{{ triage }}", "{{ triage.labels | join(' ') }} {{ triage.score + 1 }}"] }
    else:
      - { step: wait, type: tool, run: ["false"] }
  - { step: again, type: model, prompt: "{{ triage.severity }} of {{ triage.score }}: {% for label in triage.labels %}<{{ label }}>{% endfor %}" }
outputs:
  next: "{{ triage.score + 1 }}"
  labels: "{{ triage.labels }}"
  whole: "{{ triage }}"
  asked: "{{ steps.triage.attempts }}"
"#;
    let answer = json!({ "severity": "high", "score": 10, "labels": ["bug", "crash"] });
    let bench = Bench::new(Service::OpenAi, [Reply::text(answer.to_string()), Reply::text("Yes.")]).await;
    let document = asking(&schema, more);
    assert_eq!(found(&document), [""; 0]);
    let result = bench.run(&document).await;
    let whole = json!({ "severity": "high", "score": 10, "labels": ["bug", "crash"], "urgent": true });
    assert_eq!(
        result.output,
        json!({ "next": 11, "labels": ["bug", "crash"], "whole": whole.clone(), "asked": 1 })
    );
    let printed = result.step("page").unwrap().output.as_ref().unwrap()["stdout"].as_str().unwrap();
    let parts: Vec<&str> = printed.split('|').collect();
    assert_eq!((parts[0], parts[1], parts[3]), ("10", r#"["bug","crash"]"#, "bug crash 11"));
    assert_eq!(serde_json::from_str::<Value>(parts[2]).unwrap(), whole);
    assert_eq!(bench.last_told(), "high of 10: <bug><crash>");
}
