//! What conditions and defaults say of values: which of several objects it is, and what is there in any case.

use serde_json::{Value, json};

use super::super::super::definition::{Step, Workflow};
use super::{agree, lines, model, typed};

#[test]
fn a_tag_tells_which_of_several_objects_it_is() {
    let way = |kind: Value, field: &str| {
        json!({
            "type": "object",
            "properties": { "kind": kind, field: { "type": "string" } },
            "required": ["kind", field],
        })
    };
    let ways = json!([
        way(json!({ "const": "ok" }), "value"),
        way(json!({ "type": "string", "enum": ["bad"] }), "error"),
        way(json!({ "const": "odd" }), "error"),
        { "type": "null" },
    ]);
    let optional = |what: &str| format!("W {what} may not be there, since it is not required");
    for word in ["anyOf", "oneOf"] {
        let schema = json!({
            "type": "object",
            "properties": { "r": { word: ways }, "all": { "type": "array", "items": { word: ways } } },
            "required": ["r", "all"],
        });
        for (template, expected) in [
            ("{% if u.r and u.r.kind == \"ok\" %}{{ u.r.value }}{% endif %}", None),
            ("{% if u.r and u.r.kind != 'ok' %}{{ u.r.error }}{% endif %}", None),
            ("{% if u.r and u.r.kind in ['bad', 'odd'] %}{{ u.r.error }}{% endif %}", None),
            ("{{ u.r and u.r.kind == 'ok' and u.r.value == 'x' }}", None),
            ("{{ u.r.value if u.r and 'ok' == u.r['kind'] else 'none' }}", None),
            (
                "{% for r in u.all if r %}{% if r.kind == 'ok' %}{{ r.value }}{% else %}{{ r.error }}{% endif %}{% endfor %}",
                None,
            ),
            (
                "{% if u.r and u.r.kind == 'ok' %}{{ u.r.error }}{% endif %}",
                Some("E `u.r` has no `error`".to_owned()),
            ),
            (
                "{% if u.r and u.r.kind != 'ok' %}{{ u.r.value }}{% endif %}",
                Some("E `u.r` has no `value`".to_owned()),
            ),
            (
                "{% if u.r and u.r.kind in ['ok', 'bad'] %}{{ u.r.value }}{% endif %}",
                Some(optional("`u.r.value`")),
            ),
            ("{% if u.r %}{{ u.r.value }}{% endif %}", Some(optional("`u.r.value`"))),
        ] {
            let made = Workflow::new("tags").step(typed("u", schema.clone())).step(model("next", template));
            let expected: Vec<_> =
                expected.iter().map(|line| line.replacen(' ', " steps[1].prompt: ", 1)).collect();
            agree(&lines(&made), &expected, template);
        }
        let test = "u.r is not none and u.r.kind == \"ok\"";
        let choice = Step::condition("choice", test).then([model("inner", "{{ u.r.value }}")]);
        agree(&lines(&Workflow::new("tags").step(typed("u", schema)).step(choice)), &[""; 0], test);
    }
}

#[test]
fn defaults_within_a_variable_are_there() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string", "default": "x" }, "b": { "type": "string" } },
    });
    let made = |template| Workflow::new("vars").required_var("u", schema.clone()).step(model("m", template));
    agree(&lines(&made("{{ vars.u.a }}")), &[""; 0], "a default");
    let doubt = "W steps[0].prompt: `vars.u.b` may not be there, since it is not required";
    agree(&lines(&made("{{ vars.u.b }}")), &[doubt], "no default");
}
