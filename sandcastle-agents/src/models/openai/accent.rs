//! Where servers that speak chat completions differ from OpenAI and from each other, as far as a request shows it.

/// How a server wants its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accent {
    pub(super) limit: LimitName,
    pub(super) named_tool: NamedTool,
    pub(super) strict: Strict,
    pub(super) routing: Routing,
    pub(super) ids: CallIds,
}

/// What the limit of an answer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitName {
    MaxTokens,
    /// What it is called where reasoning counts, too.
    MaxCompletionTokens,
}

/// How one tool is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedTool {
    /// By its name.
    ByName,
    /// By offering no other and requiring a call: the server takes a name for permission to do as the model likes.
    ByBeingTheOnlyOne,
}

/// Whether `strict` is said of tools whose schema is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strict {
    Said,
    Unsaid,
}

/// Whether something stands before the server that chooses who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Routing {
    None,
    /// A router that has to be told to pass over whoever would ignore a parameter.
    RequireParameters,
}

/// Which ids of calls a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallIds {
    /// Its own, whatever they look like: some models read them.
    AsGiven,
    /// Those of at most 40 characters.
    Short,
}

impl Accent {
    pub(crate) const OPENAI: Self = Self {
        limit: LimitName::MaxCompletionTokens,
        named_tool: NamedTool::ByName,
        strict: Strict::Said,
        routing: Routing::None,
        ids: CallIds::Short,
    };

    /// What most servers understand.
    pub(crate) const PLAIN: Self =
        Self { limit: LimitName::MaxTokens, strict: Strict::Unsaid, ids: CallIds::AsGiven, ..Self::OPENAI };

    pub(crate) const LLAMA_CPP: Self = Self { named_tool: NamedTool::ByBeingTheOnlyOne, ..Self::PLAIN };

    pub(crate) const OPEN_ROUTER: Self = Self { routing: Routing::RequireParameters, ..Self::PLAIN };
}
