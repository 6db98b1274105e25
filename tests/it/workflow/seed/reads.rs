//! What the seed left undone first: reads of fields are checked at load, against the schemas.

use super::*;

/// A triage, and a step that reads it in this template.
fn reading(template: &str) -> String {
    let schema = object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"] },
            "score": { "type": "integer" },
            "note": { "type": "string" },
            "items": { "type": "array", "items": object(&json!({ "title": { "type": "string" } }), &["title"]) },
        }),
        &["severity", "score", "items"],
    );
    let more = format!(
        "  - step: next\n    type: tool\n    run:\n      - echo\n      - '{template}'\n  - {{ step: last, type: tool, run: [ls] }}\n"
    );
    asking(&schema, &more)
}

#[tokio::test]
async fn seed_3_6_a_field_that_no_step_can_have_is_an_error_with_the_nearest_name() {
    for (template, said) in [
        (
            "{{ triage.severty }}",
            "13:20: steps[1].run[1]: `triage` has no `severty`; did you mean `severity`?",
        ),
        ("is {{ triage.items[0].titel }}", "did you mean `title`?"),
        ("{% for item in triage.items %}{{ item.titel }}{% endfor %}", "did you mean `title`?"),
        ("{{ triag.severity }}", "there is no step `triag`; did you mean `triage`?"),
        ("{{ last.exit_code }}", "`last`"),
        ("{{ next.exit_code }}", "`next`"),
        ("{{ steps.triage.atempts }}", "did you mean `attempts`?"),
        ("{{ triage.score.value }}", "`triage.score` is an integer"),
        ("{{ vars.team }}", "`team`"),
        ("{{ triage.severity", "13:"),
    ] {
        assert_found(&reading(template), said);
    }
    assert_eq!(
        found(&reading("{{ triage.severity }} {{ triage.items[0].title if triage.items else 1 }}")),
        [""; 0]
    );
}

#[tokio::test]
async fn seed_3_6_a_comparison_that_never_holds_is_an_error() {
    for (test, said) in [
        ("triage.severity == 3", "is a text, which never equals an integer"),
        ("triage.severity == \"hihg\"", "is never `hihg`; did you mean `high`?"),
        ("triage.score > \"3\"", "neither less nor greater than a text"),
        ("triage.score + 1", "never true or false"),
        ("later.exit_code == 0", "`later`"),
    ] {
        let more = format!(
            "  - step: choice\n    type: condition\n    if: {test}\n    then:\n      - {{ step: then, type: tool, run: [ls] }}\n  - {{ step: later, type: tool, run: [ls] }}\n"
        );
        let schema = object(
            &json!({ "severity": { "type": "string", "enum": ["low", "high"] }, "score": { "type": "integer" } }),
            &["severity", "score"],
        );
        let document = asking(&schema, &more).replace("step: then,", "step: inner,");
        assert_found(&document, said);
        assert!(found(&document).iter().any(|line| line.starts_with("11:")), "{:#?}", found(&document));
    }
}

#[tokio::test]
async fn seed_3_6_an_optional_field_without_a_default_is_a_warning_and_runs() {
    let document = reading("{{ triage.note }}");
    let warning = "`triage.note` may not be there, since it is not required";
    let found = found(&document);
    assert!(found.len() == 1 && found[0].contains(warning), "{found:#?}");
    let answer = json!({ "severity": "low", "score": 1, "items": [] });
    let mut noted = answer.clone();
    noted["note"] = json!("yes");
    let bench = Bench::answering([noted]).await;
    let result = bench.run(&document).await;
    assert_eq!(result.output["next"]["stdout"], "yes\n");
    assert!(result.warnings.iter().any(|line| line.contains(warning)), "{:?}", result.warnings);
    // What is not there is an error when it is read, and never an empty text.
    let bench = Bench::answering([answer.clone()]).await;
    let error = bench.fails(&document).await;
    assert!(error.to_string().contains("the step `next` has no value for `run`"), "{error}");
    let bench = Bench::answering([answer]).await;
    let result = bench.run(&reading("{{ triage.note | default(\"none\") }}")).await;
    assert_eq!(result.output["next"]["stdout"], "none\n");
}
