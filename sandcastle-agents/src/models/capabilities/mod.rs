//! What models can be held to, and what they cost.
//!
//! What is known is a table (`table.txt`), dated and with its sources; whoever makes a model may say otherwise
//! ([`Capabilities`]). Nothing is guessed: a model at its service's own address that is not listed is unknown, and one at
//! another address can do nothing until somebody says so.

mod family;
mod table;

use sandcastle_core::SchemaSupport;
use sandcastle_core::Support;
use sandcastle_core::model::{OwnTools, Price};
use sandcastle_core::output::lower::Dialect;

pub(crate) use self::table::{Thoughts, thoughts};

/// Says what a model, or a server of one's own, can be held to.
///
/// It takes the place of everything that is known of the model. Whatever is declared, every answer is validated here.
///
/// ```
/// use sandcastle_agents::models::{Capabilities, OpenAiCompatible};
/// use sandcastle_core::output::lower::Dialect;
///
/// // A server that enforces schemas as llama.cpp does, and can do so beside tools.
/// let capabilities = Capabilities::of(Dialect::LlamaCpp).with_native().with_native_beside_tools();
/// let model = OpenAiCompatible::new("qwen3", "http://127.0.0.1:8000/v1").declares(capabilities);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    dialect: Option<Dialect>,
    native: Support,
    beside_tools: Support,
    forced_tool: Support,
}

impl Capabilities {
    /// Declares nothing, for this reason: a fragment such as `the gateway drops schemas`.
    #[must_use]
    pub fn none(reason: impl Into<String>) -> Self {
        let denied = Support::Denied(reason.into());
        Self { dialect: None, native: denied.clone(), beside_tools: denied.clone(), forced_tool: denied }
    }

    /// Says what the wire accepts of JSON Schema, and nothing else yet.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        Self { dialect: Some(dialect), ..Self::none("it was not declared") }
    }

    /// Declares a structured output of the service's own.
    #[must_use]
    pub fn with_native(mut self) -> Self {
        self.native = Support::Declared;
        self
    }

    /// Declares that the structured output works while tools are offered, too.
    #[must_use]
    pub fn with_native_beside_tools(mut self) -> Self {
        self.beside_tools = Support::Declared;
        self
    }

    /// Declares that the model can be made to call one tool.
    #[must_use]
    pub fn with_forced_tool(mut self) -> Self {
        self.forced_tool = Support::Declared;
        self
    }

    /// Denies that the model can be made to call one tool, for this reason.
    #[must_use]
    pub fn without_forced_tool(mut self, reason: impl Into<String>) -> Self {
        self.forced_tool = Support::Denied(reason.into());
        self
    }

    /// The same, for whom it is about.
    pub(crate) fn support(&self, who: String, tools: OwnTools) -> SchemaSupport {
        let native = match (&self.native, tools) {
            (Support::Denied(_), _) | (_, OwnTools::None) => &self.native,
            (_, OwnTools::Some) => &self.beside_tools,
        };
        let support =
            SchemaSupport::none(who).with_native(native.clone()).with_forced_tool(self.forced_tool.clone());
        match self.dialect {
            Some(dialect) => support.with_dialect(dialect),
            None => support,
        }
    }
}

/// Whether a service is asked at its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Official {
    Yes,
    No,
}

/// What is known of a model.
pub(crate) fn known(provider: &str, model: &str, official: Official) -> Capabilities {
    if official == Official::No {
        return Capabilities::none(
            "a custom base address declares nothing; in Rust, `declares` says what it can do",
        );
    }
    let dialect = table::dialect(provider);
    match table::row(provider, model) {
        Some(row) => Capabilities {
            dialect,
            native: row.native,
            beside_tools: row.beside_tools,
            forced_tool: row.forced_tool,
        },
        None => Capabilities {
            dialect,
            native: Support::Unlisted,
            beside_tools: Support::Unlisted,
            forced_tool: Support::Unlisted,
        },
    }
}

/// What a model costs at its service's own address.
pub(crate) fn price(provider: &str, model: &str, official: Official) -> Option<Price> {
    (official == Official::Yes).then(|| table::row(provider, model)?.price).flatten()
}
