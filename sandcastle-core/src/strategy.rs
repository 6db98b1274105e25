//! How a schema reaches a model, and what may be chosen.
//!
//! An agent or a model says what it can be held to ([`SchemaSupport`]), a caller says what is wanted ([`OutputStrategy`]), and
//! [`choose`] decides, before anything is sent. An explicit strategy is never replaced by another one: what cannot be served is
//! an error that names who cannot. Only [`OutputStrategy::Auto`] chooses, by what is positively declared, and the choice
//! is a record with its reason ([`StrategyChoice`]).

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::output::lower::{Count, Dialect, Lowering, Moved, lower};
use crate::output::{OutputFormat, OutputSpec};
use crate::secret::Secrets;
pub use crate::work::OutputStrategy;

/// Says how an answer was held to its schema. Whatever it says, the value was validated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnswerGuarantee {
    /// The prompt asked for a tag, and nothing but validation held the answer to the schema.
    Tag,
    /// The program's or the service's own structured output gave it.
    Native,
    /// It is the arguments of a tool that the model was made to call.
    ForcedTool,
    /// No answer was valid, and the caller's fallback function gave it.
    Fallback,
    /// No answer was valid, and it is the value that the caller had put by.
    Canned,
}

/// Says whether one way to hold an answer to a schema is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// It is known to work for this agent, version and model.
    Declared,
    /// The agent or the service has it, and nothing is known of this model; the service itself will say so.
    Unlisted,
    /// It is not there, or nobody has said that it is; with the reason, as a sentence without a period.
    Denied(String),
}

/// Says what an agent or a model can be held to. Nothing is assumed: what is not declared is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaSupport {
    /// Who, for messages: "the agent `codex`", "the model `m` of `openai`".
    pub who: String,
    /// What its wire accepts of JSON Schema.
    pub dialect: Option<Dialect>,
    /// Its own structured output.
    pub native: Support,
    /// Being made to call one tool.
    pub forced_tool: Support,
}

impl SchemaSupport {
    /// Declares nothing for `who`: words only.
    #[must_use]
    pub fn none(who: impl Into<String>) -> Self {
        let denied = |what: &str| Support::Denied(format!("it has no {what}"));
        Self {
            who: who.into(),
            dialect: None,
            native: denied("structured output of its own"),
            forced_tool: denied("tools that it can be made to call"),
        }
    }

    /// Sets what its wire accepts.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets whether it has a structured output of its own.
    #[must_use]
    pub fn with_native(mut self, support: Support) -> Self {
        self.native = support;
        self
    }

    /// Sets whether it can be made to call one tool.
    #[must_use]
    pub fn with_forced_tool(mut self, support: Support) -> Self {
        self.forced_tool = support;
        self
    }
}

/// Records which strategy was chosen, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StrategyChoice {
    /// What was chosen; never [`OutputStrategy::Auto`].
    pub strategy: OutputStrategy,
    /// Why, in one sentence.
    pub reason: String,
    /// What the wire accepts of JSON Schema; absent for words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// What descriptions say because the wire cannot carry it.
    pub moved: Vec<Moved>,
    /// What the dialect limits, counted.
    pub counts: Vec<Count>,
}

impl StrategyChoice {
    /// Returns everything in it that may quote the schema.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let moved = self.moved.iter_mut().flat_map(|moved| [&mut moved.pointer, &mut moved.text]);
        std::iter::once(&mut self.reason).chain(moved)
    }

    /// Returns it as it may be shown.
    pub(crate) fn masked(&self, secrets: &Secrets) -> Self {
        let mut masked = self.clone();
        masked.texts_mut().for_each(|text| *text = secrets.mask(text).into_owned());
        masked
    }
}

/// A choice, and the schema as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) choice: StrategyChoice,
    /// `None` for words.
    pub(crate) lowering: Option<Lowering>,
}

impl Chosen {
    /// Words, for this reason.
    pub(crate) fn tag(reason: impl Into<String>) -> Self {
        let choice = StrategyChoice {
            strategy: OutputStrategy::Tag,
            reason: reason.into(),
            dialect: None,
            moved: Vec::new(),
            counts: Vec::new(),
        };
        Self { choice, lowering: None }
    }

    fn constrained(strategy: OutputStrategy, reason: String, lowering: Lowering) -> Self {
        let choice = StrategyChoice {
            strategy,
            reason,
            dialect: Some(lowering.dialect),
            moved: lowering.moved.clone(),
            counts: lowering.counts.clone(),
        };
        Self { choice, lowering: Some(lowering) }
    }
}

/// Decides how the schema of `spec` reaches whom `support` is about.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] if an explicit strategy is not there, [`ErrorKind::InvalidOutput`] if its wire cannot
/// carry the schema.
pub(crate) fn choose(wanted: OutputStrategy, spec: &OutputSpec, support: &SchemaSupport) -> Result<Chosen> {
    match wanted {
        OutputStrategy::Tag => Ok(Chosen::tag("it was asked for")),
        OutputStrategy::Auto => Ok(strongest(spec, support)),
        strategy => explicit(strategy, spec, support),
    }
}

fn explicit(strategy: OutputStrategy, spec: &OutputSpec, support: &SchemaSupport) -> Result<Chosen> {
    let who = &support.who;
    if let Support::Denied(reason) = offered(strategy, support) {
        let message = format!("get `<{}>` by the strategy `{strategy}` from {who}: {reason}", spec.tag());
        return Err(
            Error::new(ErrorKind::InvalidOptions, message).with_hint("use the strategy `auto` or `tag`")
        );
    }
    let lowering = lowered(spec, support).map_err(|reason| {
        let message = format!("get `<{}>` by the strategy `{strategy}` from {who}: {reason}", spec.tag());
        Error::new(ErrorKind::InvalidOutput, message).with_hint(
            "change the type, or use the strategy `auto` or `tag`, which asks for the schema in words",
        )
    })?;
    Ok(Chosen::constrained(strategy, "it was asked for".to_owned(), lowering))
}

/// Takes the first way that is declared and that the schema fits.
fn strongest(spec: &OutputSpec, support: &SchemaSupport) -> Chosen {
    let mut reasons = Vec::new();
    for strategy in [OutputStrategy::Native, OutputStrategy::ForcedTool] {
        match offered(strategy, support) {
            Support::Denied(reason) => reasons.push(format!("`{strategy}`: {reason}")),
            Support::Unlisted => reasons.push(format!("`{strategy}`: nothing is known of {}", support.who)),
            Support::Declared => match lowered(spec, support) {
                Ok(lowering) => {
                    let reason = format!("`{strategy}` is declared for {}", support.who);
                    return Chosen::constrained(strategy, reason, lowering);
                }
                Err(reason) => reasons.push(format!("`{strategy}`: {reason}")),
            },
        }
    }
    Chosen::tag(reasons.join("; "))
}

fn offered(strategy: OutputStrategy, support: &SchemaSupport) -> &Support {
    match strategy {
        OutputStrategy::ForcedTool => &support.forced_tool,
        _ => &support.native,
    }
}

/// Makes the copy for the wire, or says why there is none.
fn lowered(spec: &OutputSpec, support: &SchemaSupport) -> Result<Lowering, String> {
    if spec.format() == OutputFormat::Text {
        return Err("the output is text, which has no schema".to_owned());
    }
    if !spec.has_schema() {
        return Err("there is no schema to send".to_owned());
    }
    let Some(dialect) = support.dialect else {
        return Err("it is not known what its wire accepts".to_owned());
    };
    let lowering = lower(&spec.shown_schema(), dialect);
    if lowering.is_sendable() {
        return Ok(lowering);
    }
    let reasons: Vec<_> = lowering.refused.iter().map(ToString::to_string).collect();
    Err(format!("its wire cannot carry the schema: {}", reasons.join("; ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Takes whatever the dialect carries.
    fn everything(dialect: Dialect) -> SchemaSupport {
        SchemaSupport::none("the agent `all`")
            .with_dialect(dialect)
            .with_native(Support::Declared)
            .with_forced_tool(Support::Declared)
    }

    /// What no strict wire carries, and the place that has to be named.
    fn shapes() -> [(Value, &'static str); 4] {
        let n = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let why =
            json!({ "type": "object", "properties": { "why": { "type": "string" } }, "required": ["why"] });
        let within = |name: &str, value: Value| json!({ "type": "object", "properties": { name: value }, "required": [name] });
        [
            (json!({ "oneOf": [n.clone(), why.clone()] }), "the root"),
            (json!({ "anyOf": [n, why] }), "the root"),
            (
                within("m", json!({ "type": "object", "additionalProperties": { "type": "integer" } })),
                "/properties/m",
            ),
            (within("xs", json!({ "type": "array", "items": {} })), "/properties/xs/items"),
        ]
    }

    #[test]
    fn case_072_case_073_case_076_case_080_auto_asks_by_the_tag_and_an_explicit_strategy_names_the_place() {
        for (schema, place) in shapes() {
            let spec = OutputSpec::json("result", schema).unwrap();
            for dialect in [Dialect::Codex, Dialect::OpenAi] {
                let support = everything(dialect);
                let chosen = choose(OutputStrategy::Auto, &spec, &support).unwrap();
                assert_eq!(chosen.choice.strategy, OutputStrategy::Tag, "{place}");
                assert!(chosen.lowering.is_none() && chosen.choice.reason.contains(place), "{chosen:?}");
                for strategy in [OutputStrategy::Native, OutputStrategy::ForcedTool] {
                    let error = choose(strategy, &spec, &support).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
                    let message = error.to_string();
                    assert!(message.contains("the agent `all`") && message.contains(place), "{message}");
                }
            }
        }
    }

    #[test]
    fn auto_takes_nothing_that_is_not_declared() {
        let spec = OutputSpec::json("result", json!({ "type": "object", "properties": {} })).unwrap();
        let unlisted = everything(Dialect::OpenAi).with_native(Support::Unlisted);
        let chosen = |support: &SchemaSupport| choose(OutputStrategy::Auto, &spec, support).unwrap().choice;
        assert_eq!(chosen(&unlisted).strategy, OutputStrategy::ForcedTool);
        let nothing = unlisted.clone().with_forced_tool(Support::Denied("it talks".to_owned()));
        let choice = chosen(&nothing);
        assert_eq!(choice.strategy, OutputStrategy::Tag);
        assert!(
            choice.reason.contains("nothing is known of") && choice.reason.contains("it talks"),
            "{choice:?}"
        );
        // Asked for by name, it is tried: the service itself will say.
        let tried = choose(OutputStrategy::Native, &spec, &nothing).unwrap().choice;
        assert_eq!(tried.strategy, OutputStrategy::Native);
    }
}
