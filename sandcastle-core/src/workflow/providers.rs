//! What makes the models, agents and sandboxes that a workflow names. None of them is known here.

use std::sync::Arc;
use std::time::Duration;

use crate::agent::Agent;
use crate::error::Result;
use crate::model::Model;
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;

/// Makes what a workflow names.
///
/// A workflow is checked as a whole before its first step runs, so everything that it names is made once by then; making
/// must not reach for a network.
pub trait Providers: Send + Sync + std::fmt::Debug + 'static {
    /// Makes a model.
    ///
    /// # Errors
    /// If there is no such provider, or if it cannot be asked without something that is missing, such as a key.
    fn model(&self, spec: &ModelSpec) -> Result<Arc<dyn Model>>;

    /// Makes an agent.
    ///
    /// # Errors
    /// If there is no agent of that name, or if it cannot be made so.
    fn agent(&self, spec: &AgentSpec) -> Result<Arc<dyn Agent>>;

    /// Makes a sandbox.
    ///
    /// # Errors
    /// If there is no sandbox of that name.
    fn sandbox(&self, spec: &SandboxSpec) -> Result<Arc<dyn SandboxProvider>>;
}

/// Names a model behind a service, as a document does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelSpec {
    /// The service, such as `anthropic`.
    pub provider: String,
    /// The model, as the service knows it.
    pub name: String,
    /// The environment variable that holds the key; never the key itself.
    pub api_key: Option<String>,
    /// Where the service is, if it is not where it usually is.
    pub base_url: Option<String>,
    /// Which of [`Native`](OutputStrategy::Native) and [`ForcedTool`](OutputStrategy::ForcedTool) the service can be held to,
    /// by the word of whoever names it. If none is named, what is known of the service counts.
    pub supports: Vec<OutputStrategy>,
    /// How long the service may be silent.
    pub timeout: Option<Duration>,
}

/// Names a coding agent, as a document does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSpec {
    /// The agent, such as `claude-code`.
    pub name: String,
    /// Its model; `None` is the agent's own choice.
    pub model: Option<String>,
}

/// Names a sandbox, as a document does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSpec {
    /// Which one: `none`, `bubblewrap`, `docker`, `podman`.
    pub name: String,
    /// The image, for those that have one.
    pub image: Option<String>,
}

impl ModelSpec {
    /// Names a model of a service.
    #[must_use]
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            name: name.into(),
            api_key: None,
            base_url: None,
            supports: Vec::new(),
            timeout: None,
        }
    }
}

impl AgentSpec {
    /// Names an agent.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), model: None }
    }
}

impl SandboxSpec {
    /// Names a sandbox.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), image: None }
    }
}
