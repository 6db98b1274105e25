//! The keys of steps: those that all have, and those of each kind.

use super::workflow::SILENCE;
use super::{Group, Key, Needed, SECONDS, Shape};
use crate::workflow::definition::WorkflowVersion;

/// One kind of step.
#[derive(Clone, Copy, Debug)]
pub(in crate::workflow::document) struct Kind {
    pub(in crate::workflow::document) name: &'static str,
    pub(in crate::workflow::document) since: WorkflowVersion,
    /// What it has beside the keys that all have.
    pub(in crate::workflow::document) group: Group,
    pub(in crate::workflow::document) doc: &'static str,
}

/// The names of the kinds.
const KIND_NAMES: &[&str] = &["model", "agent", "tool", "condition", "approval", "parallel"];

/// What every step has.
pub(in crate::workflow::document) const COMMON: &[Key] = &[
    Key::new("step", Shape::Name, "Its name, by which expressions read its output.").required(),
    Key::new("type", Shape::Choice(KIND_NAMES), "What it does.").required(),
];

/// Finds a kind by its name.
pub(in crate::workflow::document) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// All kinds.
pub(in crate::workflow::document) static KINDS: &[Kind] = &[
    Kind {
        name: "model",
        since: WorkflowVersion::V1_0,
        group: Group { what: "a `model` step", keys: MODEL, needed: None },
        doc: "Asks a model.",
    },
    Kind {
        name: "agent",
        since: WorkflowVersion::V1_0,
        group: Group {
            what: "an `agent` step",
            keys: AGENT,
            needed: Some(Needed::ExactlyOne(["prompt", "prompt_file"])),
        },
        doc: "Runs a coding agent in a sandbox.",
    },
    Kind {
        name: "tool",
        since: WorkflowVersion::V1_0,
        group: Group { what: "a `tool` step", keys: TOOL, needed: None },
        doc: "Runs a command.",
    },
    Kind {
        name: "condition",
        since: WorkflowVersion::V1_0,
        group: Group {
            what: "a `condition` step",
            keys: CONDITION,
            needed: Some(Needed::AtLeastOne(["then", "else"])),
        },
        doc: "Goes one of two ways.",
    },
    Kind {
        name: "approval",
        since: WorkflowVersion::V1_0,
        group: Group { what: "an `approval` step", keys: APPROVAL, needed: None },
        doc: "Waits for somebody's consent.",
    },
    Kind {
        name: "parallel",
        since: WorkflowVersion::V1_1,
        group: Group { what: "a `parallel` step", keys: PARALLEL, needed: None },
        doc: "Goes several ways at once, and joins them.",
    },
];

const MODEL: &[Key] = &[
    Key::new(
        "model",
        Shape::TextOr(&MODEL_SPEC),
        "Which model is asked: a name from `models`, or a map; by default `models.default`.",
    )
    .since_1_1(),
    Key::new("system", Shape::Text, "What the model is told about its part, a template.").since_1_1(),
    Key::new("prompt", Shape::Filled, "What it is asked, a template.").required(),
    STRATEGY,
    Key::new("temperature", Shape::Number(0.0, 2.0), "How freely it answers.").since_1_1(),
    Key::new("max_output_tokens", Shape::Whole(1, MAX_COUNT), "The most tokens of an answer."),
    TIMEOUT,
    Key::new(
        "transport_retries",
        Shape::Whole(0, 10),
        "How often a call is made again when its service fails; by default 0.",
    ),
    CONFIDENCE_GATE,
    OUTPUT_SCHEMA,
];

const AGENT: &[Key] = &[
    Key::new(
        "agent",
        Shape::TextOr(&AGENT_SPEC),
        "Which agent: its name, or a map with the model that it uses.",
    )
    .required(),
    Key::new("sandbox", Shape::TextOr(&SANDBOX_SPEC), "What it runs in; by default `none`."),
    Key::new(
        "branch",
        Shape::Filled,
        "Where it works: `head`, which is the default, `merge-to-head`, or the name of a branch, a template.",
    ),
    Key::new("base", Shape::Filled, "What a new branch begins at, a template."),
    Key::new("prompt", Shape::Filled, "What it is to do, a template."),
    Key::new("prompt_file", Shape::Filled, "A file with the prompt, below the folder of the document."),
    Key::new(
        "max_iterations",
        Shape::Whole(1, MAX_COUNT),
        "How often it may be started; only without `output_schema`.",
    ),
    Key::new("completion_signal", Shape::Filled, "What it says when it is done."),
    STRATEGY,
    TIMEOUT,
    Key::new("idle_timeout", SECONDS, "How long it may be silent, in seconds."),
    Key::new(
        "liveness",
        Shape::Choice(&["output", "processor"]),
        "What counts as a sign of life: `output`, which is the default, or `processor`, work of the processor as well.",
    ),
    Key::new("max_cost", Shape::Positive(1_000_000.0), "How much it may cost, in US dollars."),
    Key::new("max_tokens", Shape::Whole(1, 1 << 53), "How many tokens it may use."),
    Key::new(
        "copy_to_worktree",
        Shape::List(&Shape::Filled),
        "Files that it finds in its work tree, templates.",
    ),
    ENV,
    CONFIDENCE_GATE,
    OUTPUT_SCHEMA,
];

const TOOL: &[Key] = &[
    Key::new(
        "run",
        Shape::List(&Shape::Spelled),
        "The program and its arguments, templates. No shell reads them, and each stays one argument.",
    )
    .required(),
    Key::new("cwd", Shape::Filled, "Where it runs, below the folder of the workflow, a template."),
    ENV,
    Key::new("stdin", Shape::Text, "What it reads, a template; by default nothing."),
    TIMEOUT,
    Key::new(
        "on_failure",
        Shape::Choice(&["fail", "continue"]),
        "What happens if it fails: the workflow fails, which is the default, or goes on.",
    ),
    OUTPUT_SCHEMA,
];

const CONDITION: &[Key] = &[
    Key::new("if", Shape::Filled, "An expression that is true or false.").required(),
    Key::new("then", Shape::Steps, "What is done if it is true."),
    Key::new("else", Shape::Steps, "What is done if it is false."),
];

const APPROVAL: &[Key] = &[Key::new("message", Shape::Filled, "What is asked, a template.")];

const PARALLEL: &[Key] = &[
    Key::new(
        "branches",
        Shape::Named(&Shape::Steps),
        "The ways by their names; the steps of each are done in order.",
    )
    .required(),
    Key::new("limit", Shape::Whole(1, 256), "How many of them at a time; by default all of them."),
];

/// The most that a count can be.
const MAX_COUNT: u64 = u32::MAX as u64;

const STRATEGY: Key = Key::new(
    "strategy",
    Shape::Choice(&["auto", "tag", "native", "forced-tool"]),
    "How the schema reaches the model; by default `auto` for models and `tag` for agents.",
);
const TIMEOUT: Key = Key::new("timeout", SECONDS, "How long it may take in all, in seconds.");
const ENV: Key =
    Key::new("env", Shape::Environment, "Variables of its environment; the values are templates.");
const CONFIDENCE_GATE: Key = Key::new(
    "confidence_gate",
    Shape::Boolean,
    "Whether the `confidence` of its output is held against the threshold in `guardrails`.",
);
const OUTPUT_SCHEMA: Key = Key::new(
    "output_schema",
    Shape::OutputSchema,
    "What its output has to be: a JSON Schema whose root is an object and which leaves nothing open.",
)
.since_1_1();

/// A model behind a service.
pub(super) static MODEL_SPEC: Group = Group {
    what: "a model",
    needed: None,
    keys: &[
        Key::new("provider", Shape::Filled, "The service, such as `openai`.").required(),
        Key::new("name", Shape::Filled, "The model, as the service knows it.").required(),
        Key::new(
            "api_key",
            Shape::Secret,
            "The environment variable that holds the key, such as `${OPENAI_API_KEY}`.",
        ),
        Key::new("base_url", Shape::Address, "Where the service is, if it is not where it usually is."),
        Key::new(
            "supports",
            Shape::OneOrMore(&["native", "forced-tool"]),
            "Which strategies the service can hold an answer to its schema by; by default what is known of it, and \
             nothing of one behind a `base_url`.",
        ),
        SILENCE,
    ],
};

static AGENT_SPEC: Group = Group {
    what: "an agent",
    needed: None,
    keys: &[
        Key::new("name", Shape::Filled, "The agent, by its name.").required(),
        Key::new("model", Shape::Filled, "Its model; by default the agent's own choice."),
    ],
};

static SANDBOX_SPEC: Group = Group {
    what: "a sandbox",
    needed: None,
    keys: &[
        Key::new("name", Shape::Filled, "Which one: `none`, `bubblewrap`, `docker` or `podman`.").required(),
        Key::new("image", Shape::Filled, "The image, for those that have one."),
    ],
};
