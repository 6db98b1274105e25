//! What is found in the structure of a workflow, and in one of version 1.0.

use serde_json::{Value, json};

use super::super::super::definition::{Defaults, Guardrails, Step, Workflow, WorkflowVersion};
use super::super::schema::{Node, read};
use super::{agree, lines, model, typed};
use crate::output::OutputSpec;

#[test]
fn structure_is_held_to_the_rules() {
    let fine = || model("fine", "x");
    let gated = |schema: Value| typed("gated", schema).confidence_gate();
    let confident = |more: Value, required: Value| json!({ "type": "object", "properties": { "confidence": more, "a": { "type": "string" } }, "required": required });
    let with_threshold = |step| Workflow::new("w").guardrails(Guardrails::new(0.5)).step(step);
    for (made, expected) in [
        (Workflow::new("w"), "E steps: a workflow has at least one step"),
        (Workflow::new("w").step(model("1st", "x")), "E steps[0]: `1st` is no name of a step"),
        (
            Workflow::new("w").step(model("input", "x")),
            "E steps[0]: expressions know `input` as something else",
        ),
        (Workflow::new("w").step(model("loop", "x")), "E steps[0]: `loop` is a word of expressions"),
        (
            Workflow::new("w").step(fine()).step(fine()),
            "E steps[1]: there is a step `fine` already, `steps[0]`",
        ),
        (
            Workflow::new("w").step(model(&"a".repeat(65), "x")),
            "E steps[0]: a name has at most 64 characters, and this one has 65",
        ),
        (
            Workflow::new("w").step(fine()).var("a".repeat(65), 1),
            &format!("E vars.{}…: a name has at most 64 characters", "a".repeat(60)),
        ),
        (Workflow::new("w").step(model("a", "\0 {{ input }}")), "E steps[0].prompt: has a NUL character"),
        (Workflow::new("w").step(Step::tool("a", ["x", "a\0b"])), "E steps[0].run[1]: has a NUL character"),
        (
            Workflow::new("w").step(Step::tool("a", ["x"]).env("A", "\0")),
            "E steps[0].env.A: has a NUL character",
        ),
        (Workflow::new("w").step(Step::approval("a", "\0?")), "E steps[0].message: has a NUL character"),
        (Workflow::new("w").step(Step::tool("a", ["{# x #} "])), "E steps[0].run[0]: no program is named"),
        (
            Workflow::new("w").step(Step::tool("a", ["x"]).timeout(std::time::Duration::ZERO)),
            "E steps[0].timeout: `timeout` is longer than nothing",
        ),
        (Workflow::new("w").step(model("a", " \n")), "E steps[0].prompt: the prompt is empty"),
        (
            Workflow::new("w").step(Step::tool("a", Vec::<String>::new())),
            "E steps[0].run: no program is named",
        ),
        (
            Workflow::new("w").step(Step::tool("a", ["x"]).env("A=B", "x")),
            "E steps[0].env: `A=B` is no name of an environment variable",
        ),
        (
            Workflow::new("w").step(Step::condition("a", "input == \"\"")),
            "E steps[0]: there is no step behind the condition",
        ),
        (
            Workflow::new("w").step(Step::approval("a", "Go on?").timeout(std::time::Duration::from_secs(1))),
            "E steps[0]: `timeout` does not belong to an approval",
        ),
        (
            Workflow::new("w").step(fine().then([model("b", "x")])),
            "E steps[0]: `then` does not belong to a model",
        ),
        (
            Workflow::new("w")
                .step(Step::approval("a", "Go on?").output_spec(OutputSpec::json("a", json!({})).unwrap())),
            "E steps[0].output_schema: the output of an approval has its own schema",
        ),
        (Workflow::new("w").step(Step::parallel("a")), "E steps[0].branches: there is no branch"),
        (
            Workflow::new("w").step(Step::parallel("a").branch("b", [])),
            "E steps[0].branches.b: the branch `b` has no step",
        ),
        (
            Workflow::new("w").step(Step::parallel("a").branch("b", [fine()]).branch("b", [model("c", "x")])),
            "E steps[0].branches.b: there are two branches `b`",
        ),
        (Workflow::new("w").step(fine()).max_parallel(0), "E max_parallel: `max_parallel` is at least 1"),
        (
            Workflow::new("w").step(fine()).guardrails(Guardrails::new(1.5)),
            "E guardrails.confidence_threshold: `confidence_threshold` is from 0 to 1",
        ),
        (
            Workflow::new("w").step(fine()).guardrails(Guardrails::new(f64::NAN)),
            "E guardrails.confidence_threshold: `confidence_threshold` is from 0 to 1",
        ),
        (
            Workflow::new("w").step(fine().confidence_gate()),
            "E steps[0].confidence_gate: there is no threshold for this gate",
        ),
        (
            with_threshold(gated(json!({ "type": "object", "properties": { "a": { "type": "string" } } }))),
            "E steps[0].confidence_gate: the output has no `confidence`",
        ),
        (
            with_threshold(gated(confident(json!({ "type": "string" }), json!(["confidence"])))),
            "E steps[0].confidence_gate: `confidence` is not always a number",
        ),
        (
            with_threshold(gated(confident(json!({ "type": "number" }), json!([])))),
            "E steps[0].confidence_gate: `confidence` is not required",
        ),
        (
            with_threshold(gated(confident(
                json!({ "type": "number", "default": 1 }),
                json!(["confidence"]),
            ))),
            "E steps[0].confidence_gate: `confidence` has a default",
        ),
        (
            with_threshold(Step::tool("a", ["x"]).confidence_gate()),
            "E steps[0].confidence_gate: this step has no confidence",
        ),
        (
            Workflow::new("w").step(fine()).var("a-b", 1),
            "E vars.a-b: the name `a-b` has other characters than letters, digits and `_`",
        ),
        (Workflow::new("w").step(fine()).var("a", 1).var("a", 2), "E vars.a: there are two variables `a`"),
        (
            Workflow::new("w").step(fine()).required_var("a", json!({ "type": "nothing" })),
            "E vars.a: this is no JSON Schema",
        ),
    ] {
        let found = lines(&made);
        assert_eq!(found.len(), 1, "{found:?} instead of {expected}");
        assert!(found[0].starts_with(expected), "{} instead of {expected}", found[0]);
    }
    let gate = with_threshold(gated(confident(json!({ "type": "number" }), json!(["confidence"]))));
    assert_eq!(lines(&gate), [""; 0]);
    // As `xargs -0` wants it.
    assert_eq!(lines(&Workflow::new("w").step(Step::tool("a", ["xargs", "-0"]).stdin("a\0b"))), [""; 0]);
    assert_eq!(
        lines(&with_threshold(fine().confidence_gate()).step(model("b", "{{ fine.anything }}"))),
        [""; 0]
    );
}

#[test]
fn hostile_schemas_and_loops_do_not_keep_the_check_busy() {
    for word in ["allOf", "anyOf"] {
        let mut defs = serde_json::Map::new();
        for level in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            defs.insert(format!("d{level}"), json!({ word: [next, next] }));
        }
        defs.insert("d40".to_owned(), json!({ "type": "string" }));
        let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
        assert!(read(&[Node::root(&schema, Defaults::Left)]).is_open(), "{word}");
    }
    let begin: String =
        (0..60).map(|i| format!("{{% for v{} in [[v{i}, v{i}], [v{i}, v{i}]] %}}", i + 1)).collect();
    let template = format!("{{% for v0 in [[1]] %}}{begin}{{{{ v60 }}}}{}", "{% endfor %}".repeat(61));
    assert_eq!(lines(&Workflow::new("w").step(model("n", &template))), [""; 0]);
}

#[test]
fn nesting_has_an_end() {
    let mut step = model("inner", "x");
    for level in 0..40 {
        step = Step::condition(format!("c{level}"), "input == \"x\"").then([step]);
    }
    let found = lines(&Workflow::new("deep").step(step));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("more than 16 levels deep; split the workflow"), "{}", found[0]);
}

#[test]
fn version_1_0_is_read_by_its_own_rules() {
    let old =
        |steps: Vec<Step>| Workflow { version: WorkflowVersion::V1_0, ..Workflow::new("old").steps(steps) };
    let made = old(vec![
        model("first", "{{ anything }} {input} {x}"),
        model("second", "{first.text} {first.txt} {frist.text} {second.text}"),
        Step::tool("third", ["{first.text}"]),
        Step::condition("c", "third.exit_code == 0").then([model("d", "{third}")]),
        Step::condition("e", "third.exit_cod == 0").then([model("f", "x")]),
        Step::condition("g", "third.exit_code == \"0\"").then([model("h", "x")]),
        Step::condition("i", "third.stdout > 3").then([model("j", "x")]),
        Step::condition("k", "d.text == \"x\"").then([model("l", "x")]),
        Step::condition("m", "first.text").then([model("n", "x")]),
    ]);
    agree(
        &lines(&made),
        &[
            "W steps[0].prompt: `{{ anything }}` stays as it is written: version 1.0 has no expressions; set `version: \"1.1\"`, and write `{{ input }}`",
            "W steps[0].prompt: `{input}` stays as it is written: version 1.0 fills in fields of steps; set `version: \"1.1\"`, and write `{{ input }}`",
            "W steps[1].prompt: `{first.txt}` stays as it is written: `first` has no `txt`; did you mean `text`?",
            "W steps[1].prompt: `{frist.text}` stays as it is written: there is no step `frist`; did you mean `first`?",
            "W steps[1].prompt: `{second.text}` stays as it is written: `second` cannot read its own output; only steps that come before can be read",
            "W steps[3].then[0].prompt: `{third}` stays as it is written: no field is named; name one, as in `{step.field}`",
            "E steps[4].if: `third` has no `exit_cod`; did you mean `exit_code`?",
            "E steps[5].if: `third.exit_code` is an integer, which never equals \"0\"",
            "E steps[6].if: `third.stdout` is a text, which is neither less nor greater than 3",
            "W steps[7].if: the step `d` may not have run",
            "E steps[8].if: one of `==`, `!=`, `>`, `>=`, `<`, `<=` is missing; version 1.0 compares a field with a literal, as in `triage.severity == \"high\"`",
        ],
        "steps",
    );
}
