//! What is found in workflows, with its words; and that what is found nothing in runs.

mod generated;

use serde_json::{Value, json};

use super::super::definition::{Guardrails, Mark, Step, WorkflowVersion};
use super::super::finding::{Place, Severity};
use super::*;
use crate::output::OutputSpec;
use crate::testing::ScriptedModel;

fn model(name: &str, prompt: &str) -> Step {
    Step::model(name, ScriptedModel::new()).prompt(prompt)
}

fn typed(name: &str, schema: Value) -> Step {
    model(name, "Sort it.").output_spec(OutputSpec::json("result", schema).unwrap())
}

/// A step whose output has a bit of everything.
fn triage() -> Step {
    typed(
        "triage",
        json!({
            "type": "object",
            "properties": {
                "severity": { "type": "string", "enum": ["low", "high"] },
                "confidence": { "type": "number" },
                "urgent": { "type": "boolean" },
                "note": { "type": "string" },
                "count": { "type": "integer", "default": 1 },
                "owner": { "anyOf": [{ "$ref": "#/$defs/Owner" }, { "type": "null" }] },
                "labels": { "type": "array", "items": { "type": "string" } },
                "items": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/Item" } },
                "scores": { "type": "object", "additionalProperties": { "type": "number" } },
            },
            "required": ["severity", "confidence", "urgent", "owner", "labels", "items", "scores"],
            "$defs": {
                "Owner": {
                    "type": "object",
                    "properties": { "name": { "type": "string" }, "team": { "type": "string" } },
                    "required": ["name"],
                },
                "Item": {
                    "type": "object",
                    "properties": { "title": { "type": "string" }, "line": { "type": "integer" } },
                    "required": ["title"],
                },
            },
        }),
    )
}

fn workflow(template: &str) -> Workflow {
    Workflow::new("test").var("team", "platform").var("limit", 3).step(triage()).step(model("next", template))
}

/// All that is found in a workflow, one line each, errors with `E` and warnings with `W`.
fn lines(workflow: &Workflow) -> Vec<String> {
    let findings = workflow.check();
    let kind = |severity| if severity == Severity::Error { "E" } else { "W" };
    findings.as_slice().iter().map(|finding| format!("{} {finding:#}", kind(finding.severity))).collect()
}

/// Compares what was found with what is expected, whose hints may be left out.
#[track_caller]
fn agree(found: &[String], expected: &[impl AsRef<str>], what: &str) {
    let expected: Vec<_> = expected.iter().map(AsRef::as_ref).collect();
    let fits = |(found, expected): (&String, &&str)| {
        found.strip_prefix(expected).is_some_and(|rest| rest.is_empty() || rest.starts_with("; "))
    };
    let all_fit = found.len() == expected.len() && found.iter().zip(&expected).all(fits);
    assert!(all_fit, "{what}: {found:#?} instead of {expected:#?}");
}

#[track_caller]
fn finds(template: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|line| line.replacen(' ', " steps[1].prompt: ", 1)).collect();
    agree(&lines(&workflow(template)), &expected, template);
}

#[track_caller]
fn decides(test: &str, expected: &[&str]) {
    let choice = Step::condition("choice", test).then([model("inner", "x")]);
    let found = lines(&Workflow::new("test").var("flag", true).step(triage()).step(choice));
    let expected: Vec<_> = expected.iter().map(|line| line.replacen(' ', " steps[1].if: ", 1)).collect();
    agree(&found, &expected, test);
}

#[test]
fn what_is_there_is_read_without_a_word() {
    for template in [
        "{{ input }} {{ trigger.action.label }} {{ vars.team }} {{ steps.triage.attempts }}",
        "{{ triage.severity }} {{ triage['severity'] }} {{ triage.count + 1 }}",
        "{{ triage.items[0].title }} {{ triage.items|map(attribute='title')|join(', ') }}",
        "{% for item in triage.items %}{{ loop.index }}. {{ item.title|upper }}{% endfor %}",
        "{% for name, score in triage.scores|items %}{{ name ~ '' if false else name }}{{ score * 2 }}{% endfor %}",
        "{{ triage.note|default('none') }} {{ triage.note|default('')|trim }}",
        "{% if triage.note is defined %}{{ triage.note }}{% endif %}",
        "{% if triage.note is not defined %}x{% else %}{{ triage.note }}{% endif %}",
        "{{ triage.note if triage.note is defined else 'none' }}",
        "{% if triage.owner %}{{ triage.owner.name }}{% endif %}",
        "{% if triage.owner is not none %}{{ triage.owner.name }}{% endif %}",
        "{% if triage.owner != none and triage.owner.team is defined %}{{ triage.owner.team }}{% endif %}",
        "{% if triage.labels %}{{ triage.labels[0] }}{{ triage.labels|first }}{% endif %}",
        "{% if triage.labels|length > 0 %}{{ triage.labels[0] }}{% endif %}",
        "{{ triage.scores.speed|default(0) }} {{ triage.severity == vars.team }}",
        "{{ triage|tojson }} {{ [triage.count, 2]|sum }} {{ triage.severity[:2] }}",
        "{% for label in triage.labels if label != 'x' %}{{ label }}{% else %}none{% endfor %}",
    ] {
        if template.contains('~') {
            finds(template, &["E workflows have no `~`; write `{{ a }}{{ b }}`, or `+` between texts"]);
        } else {
            finds(template, &[]);
        }
    }
}

#[test]
fn names_that_nothing_has_are_errors_with_the_nearest() {
    for (template, expected) in [
        ("{{ triage.severty }}", "E `triage` has no `severty`; did you mean `severity`?"),
        ("{{ triage['severty'] }}", "E `triage` has no `severty`; did you mean `severity`?"),
        ("{{ triag.severity }}", "E there is no step `triag`; did you mean `triage`?"),
        ("{{ inptu }}", "E there is no step `inptu`; did you mean `input`?"),
        ("{{ vars.teem }}", "E `vars` has no `teem`; did you mean `team`?"),
        ("{{ steps.triag.text }}", "E there is no step `triag`; did you mean `triage`?"),
        ("{{ steps.triage.branch }}", "E `steps.triage` has no `branch`; there are `attempts`, `seconds`"),
        ("{{ triage.items[0].titel }}", "E `triage.items[0]` has no `titel`; did you mean `title`?"),
        ("{% for i in triage.items %}{{ i.lnie }}{% endfor %}", "E `i` has no `lnie`; did you mean `line`?"),
        ("{{ triage.items|map(attribute='titel') }}", "E an item has no `titel`; did you mean `title`?"),
        ("{{ triage.severty|default('x') }}", "E `triage` has no `severty`; did you mean `severity`?"),
        ("{{ triage.severty is defined }}", "E `triage` has no `severty`; did you mean `severity`?"),
        ("{{ triage.owner.nam|default('x') }}", "E `triage.owner` has no `nam`; did you mean `name`?"),
        ("{{ triage.severity.length }}", "E `triage.severity` is a text, which has no fields"),
        ("{{ triage.labels.first }}", "E `triage.labels` is a list, which has no fields"),
        ("{{ triage.count[0] }}", "E `triage.count` is an integer, which has no items"),
        ("{% for x in triage.count %}{% endfor %}", "E `triage.count` is an integer, which has no items"),
        ("{{ triage.count[1:] }}", "E `triage.count` is an integer, which has no items"),
        ("{{ triage.labels['x'] }}", "E `triage.labels` is a list, which has no fields"),
        ("{{ next.text }}", "E `next` cannot read its own output; only steps that come before can be read"),
        ("{{ triage.severity|uper }}", "E there is no filter `uper`; did you mean `upper`?"),
    ] {
        finds(template, &[expected]);
    }
}

#[test]
fn what_never_holds_is_an_error() {
    for (template, expected) in [
        ("{{ triage.severity == 3 }}", "E `triage.severity` is a text, which never equals an integer"),
        ("{{ 3 == triage.severity }}", "E `triage.severity` is a text, which never equals an integer"),
        ("{{ triage.severity == \"hihg\" }}", "E `triage.severity` is never `hihg`; did you mean `high`?"),
        ("{{ triage.severity != \"hihg\" }}", "E `triage.severity` is never `hihg`; did you mean `high`?"),
        (
            "{{ triage.severity in ['low', 'hihg'] }}",
            "E `triage.severity` is never `hihg`; did you mean `high`?",
        ),
        (
            "{{ triage.count == triage.severity }}",
            "E `triage.count` is an integer, which never equals `triage.severity`, a text",
        ),
        (
            "{{ triage.count > 'x' }}",
            "E `triage.count` is an integer, which is neither less nor greater than a text",
        ),
        ("{{ triage.count in 'x' }}", "E `triage.count` is an integer, which is never in a text"),
        ("{{ 'x' in triage.count }}", "E `triage.count` is an integer, which nothing can be in"),
        ("{{ 3 in triage.labels }}", "E this is an integer, which is never in a list"),
        (
            "{{ 1 < triage.severity < 3 }}",
            "E `triage.severity` is a text, which is neither less nor greater than an integer",
        ),
        (
            "{{ triage.count + 'x' }}",
            "E an integer and a text do not go together here; `|string` makes a text of anything",
        ),
        ("{{ triage.labels - 1 }}", "E a list and an integer do not go together here"),
        ("{{ -triage.severity }}", "E `triage.severity` is a text, not a number"),
        (
            "{{ triage.labels|upper }}",
            "E `upper` takes a text, and `triage.labels` is a list; `|string` makes a text of anything",
        ),
        (
            "{{ triage.count|length }}",
            "E `length` takes a list, an object or a text, and `triage.count` is an integer",
        ),
        ("{{ triage.labels|sum }}", "E `sum` takes a list of numbers, and `triage.labels` is a list"),
        ("{{ triage.labels|items }}", "E `items` takes an object, and `triage.labels` is a list"),
        ("{{ triage.severity is odd }}", "E `odd` takes a number, and `triage.severity` is a text"),
    ] {
        let found = lines(&workflow(template));
        agree(&found[..1], &[expected.replacen(' ', " steps[1].prompt: ", 1)], template);
    }
}

#[test]
fn what_may_not_be_there_is_a_warning() {
    let ask = |what: &str| format!("ask `{what} is defined` first, or give it a default");
    for (template, what) in [
        ("{{ triage.note }}", "triage.note"),
        ("{{ triage.note == 'x' }}", "triage.note"),
        ("{% if triage.note %}x{% endif %}", "triage.note"),
        ("{{ triage.note|upper }}", "triage.note"),
        ("{{ triage.note == 'x' and triage.note is defined }}", "triage.note"),
        ("{{ triage.scores.speed }}", "triage.scores.speed"),
        ("{% for item in triage.items %}{{ item.line }}{% endfor %}", "item.line"),
        ("{% if triage.note is defined or triage.urgent %}{{ triage.note }}{% endif %}", "triage.note"),
    ] {
        finds(template, &[&format!("W `{what}` may not be there, since it is not required; {}", ask(what))]);
    }
    let short = format!(
        "W `triage.labels[0]` may not be there, since the list may be shorter; {}",
        ask("triage.labels[0]")
    );
    finds("{{ triage.labels[0] }}", &[&short]);
    finds(
        "{{ triage.owner.name }}",
        &["W `triage.owner` may be null, which has no fields; give it a default"],
    );
    let items = "W `line` may not be there in each of the items; go through them with `{% for %}`, and give it a default";
    finds("{{ triage.items|map(attribute='line')|join }}", &[items]);
}

#[test]
fn a_condition_gives_a_boolean_and_not_always_the_same() {
    decides("triage.urgent", &[]);
    decides("triage.severity == \"high\" and triage.confidence > 0.5", &[]);
    decides("vars.flag", &[]);
    decides("trigger.x", &[]);
    decides(
        "triage.severity",
        &["E the condition gives a text, never true or false; compare it with something"],
    );
    decides(
        "triage.count + 1",
        &["E the condition gives an integer, never true or false; compare it with something"],
    );
    let maybe = "W the condition may give a text, not only true or false; compare it with something";
    decides("triage.urgent and triage.severity", &[maybe]);
    decides("true", &["W this is always true"]);
    decides("1 == 2", &["W this is always false"]);
    decides("triage.severity is defined", &["W this is always true"]);
    decides("triage.severity == none", &["W `triage.severity` is a text, and never null"]);
    decides(
        "{{ triage.urgent }}",
        &[
            "E an expression stands here, not a template; leave the braces out, as in `triage.severity == \"high\"`",
        ],
    );
    decides("", &["E an expression is missing"]);
}

#[test]
fn steps_are_read_when_they_are_done() {
    let made = Workflow::new("order")
        .step(model("first", "{{ later.text }}{{ steps.later.seconds }}"))
        .step(
            Step::condition("choice", "input == \"x\"")
                .then([model("yes", "{{ first.text }}{{ choice.taken }}")])
                .otherwise([model("no", "{{ yes.text }}")]),
        )
        .step(
            Step::parallel("both")
                .branch("a", [model("one", "x")])
                .branch("b", [model("two", "{{ one.text }}")]),
        )
        .step(model("later", "{{ one.text }}{{ two.text }}{{ yes.text }}{{ both.branches }}"))
        .step(model("asked", "{% if yes is defined %}{{ yes.text }}{{ steps.yes.attempts }}{% endif %}"))
        .step(model(
            "taken",
            "{% if choice.taken == 'then' %}{{ yes.text }}{% else %}{{ no.text }}{% endif %}",
        ))
        .step(Step::condition("again", "no is defined").then([model("inside", "{{ no.text }}")]))
        .gives("result", "{{ inside.text }}{{ later.text }}");
    agree(
        &lines(&made),
        &[
            "E steps[0].prompt: `later` comes later; only steps that come before can be read",
            "E steps[0].prompt: `later` comes later; only steps that come before can be read",
            "E steps[1].then[0].prompt: `choice` is not done while its own steps are; its output is there when all of its steps are done",
            "E steps[1].else[0].prompt: `yes` is on the other way of `choice`, which is not gone then; read it behind `choice`, with a default",
            "E steps[2].branches.b[0].prompt: `one` is in another branch of `both`, at the same time; read it behind `both`",
            "W steps[3].prompt: the step `yes` may not have run; ask `yes is defined` first",
            "W outputs.result: the step `inside` may not have run; ask `inside is defined` first",
        ],
        "steps",
    );
}

#[test]
fn findings_stand_at_the_very_word() {
    let mut made = workflow("");
    let source = "Sort:\n  {{ triage.severty }} {{ triage.severity == \"hihg\" }}\n";
    let mark = |offset, line, column| Mark { offset, place: Place { line, column } };
    let marks = vec![mark(0, 10, 5), mark(6, 11, 7)];
    made.steps[1] = model("next", source);
    if let super::super::definition::StepKind::Model(step) = &mut made.steps[1].kind {
        step.prompt.marks = marks;
    }
    let places: Vec<_> = made.check().as_slice().iter().map(|finding| finding.place.unwrap()).collect();
    assert_eq!(places, [Place { line: 11, column: 19 }, Place { line: 11, column: 52 }]);
}

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
    assert_eq!(
        lines(&with_threshold(fine().confidence_gate()).step(model("b", "{{ fine.anything }}"))),
        [""; 0]
    );
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
            "W steps[1].prompt: `{first.txt}` stays as it is written: `first` has no `txt`; did you mean `text`?",
            "W steps[1].prompt: `{frist.text}` stays as it is written: there is no step `frist`; did you mean `first`?",
            "W steps[1].prompt: `{second.text}` stays as it is written: `second` cannot read its own output; only steps that come before can be read",
            "E steps[4].if: `third` has no `exit_cod`; did you mean `exit_code`?",
            "E steps[5].if: `third.exit_code` is an integer, which never equals \"0\"",
            "E steps[6].if: `third.stdout` is a text, which is neither less nor greater than 3",
            "W steps[7].if: the step `d` may not have run",
            "E steps[8].if: one of `==`, `!=`, `>`, `>=`, `<`, `<=` is missing; version 1.0 compares a field with a literal, as in `triage.severity == \"high\"`",
        ],
        "steps",
    );
}
