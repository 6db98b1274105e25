//! What expressions give, what they refuse, and that hostile ones come to an end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

fn scope(values: Value) -> Scope {
    let Value::Object(values) = values else { panic!("a scope is an object") };
    Scope { values }
}

fn shown(template: &str, values: Value) -> Result<Value, String> {
    render(&Text::of(template), WorkflowVersion::V1_1, &scope(values))
}

#[track_caller]
fn gives(template: &str, values: Value, expected: Value) {
    assert_eq!(shown(template, values), Ok(expected), "{template}");
}

#[track_caller]
fn refuses(template: &str, values: Value, expected: &str) {
    match shown(template, values) {
        Ok(value) => panic!("{template} gives {value}"),
        Err(message) => assert!(message.contains(expected), "{template}: {message}"),
    }
}

fn decides(test: &str, values: Value) -> Result<bool, String> {
    evaluate(&Text::of(test), WorkflowVersion::V1_1, &scope(values))
}

#[test]
fn one_expression_keeps_the_type_of_its_value() {
    for value in [
        json!(null),
        json!(true),
        json!(0),
        json!(-7),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1.0),
        json!(0.1),
        json!(-0.5e-300),
        json!("text"),
        json!(""),
        json!([1, [2, "x"], {}]),
        json!({ "z": 1, "a": { "y": [null], "b": false }, "m": 2 }),
    ] {
        let given = shown("{{ a }}", json!({ "a": value }));
        assert_eq!(given.map(|given| given.to_string()), Ok(value.to_string()));
    }
}

#[test]
fn values_become_json_in_a_text() {
    let values = json!({ "o": { "z": 1, "a": [true, null, 1.5] }, "t": true, "n": null, "f": 2.0, "s": "x" });
    gives(
        "{{ o }}|{{ t }}|{{ n }}|{{ f }}|{{ s }}",
        values.clone(),
        json!(r#"{"z":1,"a":[true,null,1.5]}|true|null|2.0|x"#),
    );
    gives("{{ [t, n]|join('-') }}{{ t|string }}", values.clone(), json!("true-nulltrue"));
    gives(" {{ t }}", values, json!(" true"));
}

#[test]
fn a_line_end_behind_a_template_stays() {
    gives("{{ a }}\n", json!({ "a": 1 }), json!("1\n"));
    gives("x\n{%- if a %} y{% endif %}\n", json!({ "a": true }), json!("x y\n"));
}

#[test]
fn what_is_written_in_quotes_is_text() {
    gives(r#"{{ "{{ a.b }}" }}"#, json!({}), json!("{{ a.b }}"));
    gives(r#"{{ "a.b.c" }} {{ 'it''s' }}"#, json!({}), json!("a.b.c its"));
    gives("{% raw %}{{ a }}{% endraw %}{# nothing #}", json!({}), json!("{{ a }}"));
}

#[test]
fn a_value_is_never_a_template() {
    let hostile = "{{ secret }}{% for i in x %}{{ i }}{% endfor %}{# #}";
    gives("{{ a }}", json!({ "a": hostile, "secret": "s" }), json!(hostile));
    gives("> {{ a }}", json!({ "a": hostile, "secret": "s" }), json!(format!("> {hostile}")));
    gives("{{ [a, a]|join }}", json!({ "a": hostile }), json!(hostile.repeat(2)));
}

#[test]
fn fields_with_names_of_other_languages_are_fields() {
    let values = json!({ "a": { "__class__": 1, "items": [2], "keys": "k", "constructor": null, "": 3 } });
    gives(
        "{{ a.__class__ }}{{ a.items[0] }}{{ a['keys'] }}{{ a.constructor }}{{ a[''] }}",
        values,
        json!("12knull3"),
    );
    refuses("{{ a.__class__ }}", json!({ "a": {} }), "`a.__class__` is not there");
    refuses("{{ a.__init__.x }}", json!({ "a": "text" }), "`a.__init__` is not there");
}

#[test]
fn a_step_that_has_not_run_is_said_to_be_one() {
    let values = json!({ "c": { "text": "x" }, "steps": { "c": { "seconds": 1 } } });
    for template in [
        "{{ d }}",
        "{{ d.text }}",
        "x{{ d.text|upper }}",
        "{% if d.text == 'x' %}{% endif %}",
        "{{ steps.d.seconds }}",
        "{{ steps['d'].seconds }}",
    ] {
        refuses(template, values.clone(), "the step `d` has not run");
    }
    refuses("{{ c.txt }}", values.clone(), "`c.txt` is not there; did you mean `text`?");
    let old = evaluate(&Text::of("d.text == \"x\""), WorkflowVersion::V1_0, &scope(values));
    assert_eq!(old, Err("the step `d` has not run".to_owned()));
}

#[test]
fn what_is_missing_is_named_with_the_nearest_name() {
    let values = json!({ "triage": { "severity": "low", "items": [{ "label": 1 }] }, "note": null });
    for (template, expected) in [
        ("{{ triage.severty }}", "`triage.severty` is not there; did you mean `severity`?"),
        ("x {{ triage.severty }}", "`triage.severty` is not there; did you mean `severity`?"),
        ("{{ triag.severity }}", "`triag` is not there; did you mean `triage`?"),
        ("{{ triage.zzz }}", "`triage.zzz` is not there; there are `severity`, `items`"),
        ("{{ triage.severty == 'low' }}", "did you mean `severity`?"),
        ("{{ (triage.colour|default('')) == triage.severty }}", "did you mean `severity`?"),
        ("{{ triage.severty == (triage.colour|default('')) }}", "did you mean `severity`?"),
        (
            "{% for item in triage.items %}{{ item.lable }}{% endfor %}",
            "`item.lable` is not there; did you mean `label`?",
        ),
        ("{% if triage.urgent %}x{% endif %}", "`triage.urgent` is not there"),
        ("{% for x in triage.urgent %}x{% endfor %}", "`triage.urgent` is not there"),
        ("{{ triage.urgent|upper }}", "`triage.urgent` is not there"),
        ("{{ [triage.urgent] }}", "is not there"),
        ("{{ triage.urgent in ['a'] }}", "`triage.urgent` is not there"),
        ("{{ note.x }}", "`note.x` is not there"),
        ("{{ triage.items[3] }}", "`triage.items[3]` is not there; `triage.items` is shorter"),
        ("{{ triage.items[-2] }}", "is not there"),
        ("{{ triage['severty'] }}", "is not there; did you mean `severity`?"),
    ] {
        refuses(template, values.clone(), expected);
    }
    gives("{{ triage.colour|default('red') }}", values.clone(), json!("red"));
    gives("{{ triage.colour is defined and triage.colour == 1 }}", values, json!(false));
}

#[test]
fn a_condition_gives_a_boolean() {
    let values = json!({ "a": { "n": 3, "s": "x" } });
    assert_eq!(decides("a.n > 2 and a.s == \"x\"", values.clone()), Ok(true));
    assert_eq!(decides("not (a.n > 2)", values.clone()), Ok(false));
    assert_eq!(
        decides("a.n", values.clone()),
        Err("the condition gives a number, not true or false".to_owned())
    );
    assert_eq!(
        decides("a.s", values.clone()),
        Err("the condition gives a text, not true or false".to_owned())
    );
    assert!(decides("{{ a.n == 3 }}", values).unwrap_err().contains("leave the braces out"));
}

#[test]
fn the_language_has_no_more_than_it_says() {
    for (template, expected) in [
        ("{{ range(3) }}", "workflows have no functions"),
        ("{{ a.items() }}", "workflows have no functions"),
        ("{{ a ~ 1 }}", "workflows have no `~`"),
        ("{% set a = 1 %}", "workflows have no `{% set %}`"),
        ("{% with a = 1 %}{% endwith %}", "workflows have no `{% with %}`"),
        ("{% filter upper %}x{% endfilter %}", "workflows have no `{% filter %}`"),
        ("{% autoescape true %}x{% endautoescape %}", "workflows have no `{% autoescape %}`"),
        ("{% do f() %}", "workflows have no `{% do %}`"),
        ("{% for i in a recursive %}{% endfor %}", "workflows have no `recursive` loops"),
        ("{% include 'x' %}", "include"),
        ("{% macro x() %}{% endmacro %}", "macro"),
        ("{{ a|uper }}", "there is no filter `uper`; did you mean `upper`?"),
        ("{{ a|safe }}", "there is no filter `safe`"),
        ("{{ a|pprint }}", "there is no filter `pprint`"),
        ("{{ a is strng }}", "there is no test `strng`; did you mean `string`?"),
        ("{{ a is filter }}", "there is no test `filter`"),
        ("{{ [0] * 9 == 1 }}", "workflows have no `*` of lists"),
        ("{{ 1 if a }}", "`if` within an expression needs an `else`"),
        ("{{ a|upper(1) }}", "`upper` takes no argument, not 1"),
        ("{{ a|join(by=1) }}", "`join` takes no argument `by`"),
        ("{{ a|join(*b) }}", "workflows have no arguments behind `*`"),
        ("{{ a|map }}", "`map` needs `attribute`"),
        ("{{ a|sort(attribute=b) }}", "`attribute` needs a text in quotes"),
        ("{% for i in a %}{{ loop.cycle }}{% endfor %}", "`loop` has no `cycle`"),
        ("{{ a", "unexpected end of input"),
        ("{% if a %}", "unexpected end of input"),
        ("{{ }}", "unexpected"),
    ] {
        refuses(template, json!({ "a": 1, "b": "x" }), expected);
    }
}

/// Renders something hostile; it has to be refused, and soon.
#[track_caller]
fn ends(template: &str, values: Value, expected: &str) {
    let begun = Instant::now();
    refuses(template, values, expected);
    assert!(begun.elapsed() < Duration::from_secs(10), "{template:.60} took {:?}", begun.elapsed());
}

#[test]
fn hostile_sources_are_refused() {
    let nothing = || json!({ "a": 1 });
    ends(&format!("{{{{ {} }}}}", "-".repeat(3_000) + "1"), nothing(), "at most 8 of `-` and `not`");
    ends(&format!("{{{{ {}a }}}}", "not ".repeat(900)), nothing(), "at most 8 of `-` and `not`");
    ends(&format!("{{{{ {}{} }}}}", "(".repeat(400), ")".repeat(400)), nothing(), "");
    ends(&format!("{{{{ {}1{} }}}}", "[".repeat(200), "]".repeat(200)), nothing(), "recursion");
    ends(&format!("{{{{ a{} }}}}", ".b".repeat(1_500)), nothing(), "at most 500 words and signs");
    ends(&format!("{{{{ a{} }}}}", "|upper".repeat(600)), nothing(), "at most 500 words and signs");
    ends(&format!("{{{{ '{}' }}}}", "x".repeat(4_000)), nothing(), "at most 4000 characters");
    ends(&"x".repeat(70_000), nothing(), "at most 64 KiB");
    let branches = format!("{{% if a == 2 %}}{}{{% endif %}}", "{% elif a == 3 %}".repeat(3_000));
    ends(&branches, nothing(), "at most 60 `elif`");
    let nested = "{% if a %}".repeat(300) + &"{% endif %}".repeat(300);
    ends(&nested, nothing(), "recursion");
    assert!(decides(&"(".repeat(3_000), nothing()).is_err());
    assert!(decides(&" ".repeat(3_000), nothing()).is_err());
}

#[test]
fn signs_of_other_languages_are_answered_with_ours() {
    for (source, hint) in [
        ("a = 1", "compare with `==`"),
        ("a && a", "write `and`"),
        ("a || a", "write `or`"),
        ("!a", "write `not`"),
    ] {
        let Err(flaws) = read_expression(source) else { panic!("{source} is read") };
        assert_eq!(flaws[0].hint, hint, "{source}: {}", flaws[0].message);
    }
}

#[test]
fn hostile_expressions_come_to_an_end() {
    let big = "x".repeat(1_000_000);
    let values = || json!({ "big": big, "list": vec![0; 5_000], "a": 1, "zero": [0] });
    for template in [
        "{{ big * 1000 }}",
        "{{ (big|lines) * 100000 }}",
        "{{ ((big|lines) * 100000)|join }}",
        "{{ ((big|lines) * 100000)|join(big) }}",
        "{{ big|replace('x', big) }}",
        "{{ big|replace('', big) }}",
        "{{ ('\n' * 100000)|indent(100000) }}",
        "{{ 'x'|indent(99999999999) }}",
        "{{ (zero * 90000000)|length == (zero * 90000000)|list|length }}",
        "{{ (zero * 90000000)|sort }}",
        "{{ (zero * 90000000) == (zero * 90000000) }}",
        "{{ 5 in (zero * 90000000) }}",
        "{{ 10 ** 1000 }}",
        "{{ 2 ** 100 }}",
        "{{ 10.0 ** 400 }}",
        "{{ ('x,' * 400000)|split(',') }}",
        "{{ [big, big] }}",
        "{{ {'a': big, 'b': big} }}",
        "{{ big }}{{ big }}",
        "{% for i in list %}{% for j in list %}{% endfor %}{% endfor %}",
        "{% for i in list %}{{ big }}{% endfor %}",
        "{% for i in list %}{% for j in list %}{% if big == big %}{% endif %}{% endfor %}{% endfor %}",
        "{% for i in zero * 90000000 %}{% endfor %}",
        "{{ ((big|lines) * 1000)|sum }}",
        "{{ big|int }}",
    ] {
        ends(template, values(), "");
    }
}

#[test]
fn the_clock_ends_what_the_steps_do_not_see() {
    let deep = json!(vec![vec![0; 1_000]; 300]);
    let template = "{% for i in list %}{% for j in list %}{% if a == b %}{% endif %}{% endfor %}{% endfor %}";
    ends(template, json!({ "a": deep, "b": deep, "list": vec![0; 1_000] }), "it takes more than 1 s");
}

#[test]
fn a_value_that_is_too_deep_is_refused() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    ends("{{ a }}", json!({ "a": deep }), "more than 128 levels deep");
    gives("{{ b }}", json!({ "a": deep, "b": 2 }), json!(2));
}

#[test]
fn a_large_text_goes_through() {
    let big = "{{ x }} \u{1F600}".repeat(70_000);
    gives("{{ a }}", json!({ "a": big }), json!(big));
    gives("Read: {{ a }}", json!({ "a": big }), json!(format!("Read: {big}")));
    gives("{{ a[:5] }}{{ a|length }}", json!({ "a": big }), json!(format!("{{{{ x {}", big.chars().count())));
}

#[test]
fn names_of_hostile_objects_do_not_flood_a_message() {
    let fields: Map<String, Value> =
        (0..20_000).map(|i| (format!("{i}{}", "k".repeat(100)), json!(1))).collect();
    let message = shown("{{ a.x }}", json!({ "a": fields })).unwrap_err();
    assert!(message.len() < 2_000, "{} bytes", message.len());
}

#[test]
fn everything_that_is_named_is_found_wherever_it_stands() {
    let values = json!({ "a": [1, 2, 3], "i": 1, "o": { "k": "v" }, "n": "k" });
    gives("{{ a[:i] }}", values.clone(), json!([1]));
    gives("{{ (o if a[i:][i] == 3 else n)[n] }}", values.clone(), json!("v"));
    gives("{{ {n: [a, {'x': i}]} }}", values.clone(), json!({ "k": [[1, 2, 3], { "x": 1 }] }));
    gives("{% for x in a if x in [i] %}{{ n }}{% else %}{{ o }}{% endfor %}", values, json!("k"));
}

#[test]
fn loops_know_themselves() {
    let template = "{% for k, v in o|items %}{{ loop.index }}{{ k }}{{ v }}{% if not loop.last %},{% endif %}{% endfor %}";
    gives(template, json!({ "o": { "b": 1, "a": 2 } }), json!("1b1,2a2"));
    gives("{% for x in [] %}x{% else %}none{% endfor %}", json!({}), json!("none"));
    gives(
        "{{ items|map(attribute='n')|join(', ') }}",
        json!({ "items": [{ "n": 1 }, { "n": 2 }] }),
        json!("1, 2"),
    );
}

#[test]
fn placeholders_of_the_old_version_see_scalars_only() {
    let values = scope(
        json!({ "a": { "s": "{b.x}", "n": 1.5, "o": {}, "t": true, "z": null }, "b": { "x": "never" } }),
    );
    let fill = |text: &str| render(&Text::of(text), WorkflowVersion::V1_0, &values);
    assert_eq!(fill("{a.s} {a.n} {a.t} {a.z}"), Ok(json!("{b.x} 1.5 true null")));
    assert_eq!(fill("{a.o} {a.q} {q.a} {a} {{a.n}} {a.n"), Ok(json!("{a.o} {a.q} {q.a} {a} {1.5} {a.n")));
    assert_eq!(fill("{a.n}"), Ok(json!("1.5")));
    let big = scope(json!({ "a": { "s": "x".repeat(1_000) } }));
    let text = "{a.s}".repeat(10_000);
    assert!(
        render(&Text::of(text), WorkflowVersion::V1_0, &big).unwrap_err().contains("more than 1000000 bytes")
    );
}

#[test]
fn conditions_of_the_old_version_compare_with_a_literal() {
    let values = scope(json!({ "a": { "s": "high", "n": 3, "big": u64::MAX, "t": true } }));
    let decide = |test: &str| evaluate(&Text::of(test), WorkflowVersion::V1_0, &values);
    for (test, expected) in [
        ("a.s == \"high\"", true),
        ("a.s=='high'", true),
        (" a.s != \"low\" ", true),
        ("a.n >= 3", true),
        ("a.n > 3", false),
        ("a.n == 3.0", true),
        ("a.n < 3.5", true),
        ("a.big == 18446744073709551614", false),
        ("a.big <= 18446744073709551615", true),
        ("a.t == true", true),
        ("a.s == 3", false),
        ("a.s > \"h\"", true),
    ] {
        assert_eq!(decide(test), Ok(expected), "{test}");
    }
    for (test, expected) in [
        ("a.s", "is missing"),
        ("a == 1", "begins with a step and one of its fields"),
        ("a.s == high", "in quotes"),
        ("a.s == \"a\" and a.n == 3", "in quotes"),
        ("a.x == 1", "`x` is not there"),
        ("b.s == 1", "`b` is not there"),
        ("a.s > 3", "cannot be less or greater"),
        ("", "begins with"),
    ] {
        let message = decide(test).unwrap_err();
        assert!(message.contains(expected), "{test}: {message}");
    }
}
