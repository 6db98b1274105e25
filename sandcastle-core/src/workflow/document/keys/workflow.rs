//! The keys of the document itself, and of what its steps share.

use super::steps::MODEL_SPEC;
use super::{Group, Key, SECONDS, Shape};

/// The keys of a document.
pub(in crate::workflow::document) static WORKFLOW: Group = Group {
    what: "a workflow",
    needed: None,
    keys: &[
        Key::new("version", Shape::Version, "Which rules the document follows.").required(),
        Key::new("name", Shape::Filled, "The name; by default that of the file."),
        Key::new("description", Shape::Text, "What it is for."),
        Key::new(
            "vars",
            Shape::Named(&Shape::Variable),
            "Values that whoever runs the workflow may set. Each is its default, or a map that describes it; one without a \
             default has to be set. Expressions read them as `vars.NAME`.",
        )
        .since_1_1(),
        Key::new(
            "models",
            Shape::Named(&Shape::Group(&MODEL_SPEC)),
            "Names for models. `default` is asked by steps that name none.",
        ),
        Key::new("guardrails", Shape::Group(&GUARDRAILS), "When an answer is not certain enough, and what happens then."),
        Key::new("max_parallel", Shape::Whole(1, 256), "How many steps run at the same time at the most."),
        Key::new("steps", Shape::Steps, "What is done, in this order.").required(),
        Key::new(
            "outputs",
            Shape::Named(&Shape::Spelled),
            "What the workflow gives, as templates; by default the outputs of all steps by their names.",
        )
        .since_1_1(),
    ],
};

static GUARDRAILS: Group = Group {
    what: "`guardrails`",
    needed: None,
    keys: &[
        Key::new(
            "confidence_threshold",
            Shape::Number(0.0, 1.0),
            "What is strictly below it is not certain enough.",
        ),
        Key::new(
            "fallback_action",
            Shape::Choice(&["fail", "escalate_to_human"]),
            "What happens then: the workflow fails, which is the default, or somebody is asked.",
        ),
    ],
};

/// The keys of a variable beside those of a schema.
pub(in crate::workflow::document) static VARIABLE: Group =
    Group { what: "a variable", needed: None, keys: super::schema_node::KEYS };

/// How long a service may be silent.
pub(super) const SILENCE: Key =
    Key::new("timeout", SECONDS, "How long the service may be silent, in seconds.");
