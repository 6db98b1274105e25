//! What is found in workflows, with its words; and that what is found nothing in runs.

mod generated;
mod narrowing;
mod structure;

use serde_json::{Value, json};

use super::super::definition::{Mark, Step};
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
    for filter in ["first", "last", "min", "max"] {
        let said = format!(
            "W `triage.labels|{filter}` may not be there, since the list may be shorter; ask `triage.labels|length > 0` first, or give it a default"
        );
        finds(&format!("{{{{ triage.labels|{filter} }}}}"), &[&said]);
        finds(
            &format!("{{% if triage.labels|length > 0 %}}{{{{ triage.labels|{filter} }}}}{{% endif %}}"),
            &[],
        );
    }
    finds(
        "{{ triage.labels|sort|first }}",
        &["W `triage.labels|sort|first` may not be there, since the list may be shorter; give it a default"],
    );
    finds(
        "{{ triage.owner.name }}",
        &["W `triage.owner` may be null, which has no fields; give it a default"],
    );
    let items = "W `line` may not be there in each of the items; go through them with `{% for %}`, and give it a default";
    finds("{{ triage.items|map(attribute='line')|join }}", &[items]);
}

#[test]
fn schemas_are_read_as_types_make_them() {
    let schema = json!({
        "type": "object",
        "properties": {
            "kind": { "allOf": [{ "$ref": "#/$defs/Kind" }], "description": "What it is." },
            "verdict": { "oneOf": [
                { "type": "string", "const": "approve" },
                {
                    "type": "object",
                    "properties": { "reject": { "type": "string" } },
                    "required": ["reject"],
                    "additionalProperties": false,
                },
            ] },
            "parent": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
            "score": { "type": ["number", "null"] },
            "extra": { "type": "object", "additionalProperties": true },
            "any": true,
        },
        "required": ["kind", "verdict", "parent", "score", "extra", "any"],
        "$defs": { "Kind": { "oneOf": [
            { "type": "string", "const": "bug", "description": "Wrong." },
            { "type": "string", "enum": ["idea", "question"] },
        ] } },
    });
    for (template, expected) in [
        ("{{ s.kind }}{{ s.any.thing[3].at.all }}{{ s.extra.whatever }}{{ s.verdict == 'approve' }}", None),
        ("{% if s.parent %}{{ s.parent.kind }}{{ s.parent.verdict }}{% endif %}", None),
        ("{{ s.score == none }}{{ s.score|default(0, true) + 1 }}", None),
        ("{{ s.kind == 'bgu' }}", Some("E `s.kind` is never `bgu`; did you mean `bug`?")),
        ("{{ s.verdict.rejct }}", Some("E `s.verdict` has no `rejct`; did you mean `reject`?")),
        ("{{ s.verdict.reject }}", Some("W `s.verdict.reject` may not be there, since it is not required")),
        ("{{ s.verdict == 1 }}", Some("E `s.verdict` is a text or an object, which never equals an integer")),
        ("{{ s.parent.kind }}", Some("W `s.parent` may be null, which has no fields")),
        ("{{ s.parent.parent.knd }}", Some("W `s.parent` may be null, which has no fields")),
        ("{{ s.score == 'x' }}", Some("E `s.score` is a number or null, which never equals a text")),
    ] {
        let made = Workflow::new("types").step(typed("s", schema.clone())).step(model("next", template));
        let found = lines(&made);
        let expected: Vec<_> =
            expected.iter().map(|line| line.replacen(' ', " steps[1].prompt: ", 1)).collect();
        agree(&found[..found.len().min(1)], &expected, template);
    }
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
