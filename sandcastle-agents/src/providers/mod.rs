//! What a workflow names, made: agents, models behind services, and sandboxes.
//!
//! [`BuiltIn`] knows all of them by name. Keys come from a function that whoever makes it hands in; nothing here reads the
//! environment, reaches for a network or starts a process.

#[cfg(feature = "models")]
mod models;
mod nearest;

use std::fmt;
use std::sync::Arc;

use sandcastle_core::agent::Agent;
use sandcastle_core::model::Model;
use sandcastle_core::sandbox::{Bubblewrap, Docker, NoSandbox, Podman, SandboxProvider};
use sandcastle_core::workflow::{AgentSpec, ModelSpec, Providers, SandboxSpec};
use sandcastle_core::{Error, ErrorKind, Result};

use self::nearest::unknown;
use crate::registry;

/// The sandboxes by name.
const SANDBOXES: &[&str] = &["none", "bubblewrap", "docker", "podman"];

type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Makes the agents, models and sandboxes that are built in.
///
/// | what | names |
/// |---|---|
/// | agents | those of the [registry] |
/// | models | `anthropic`, `openai`, `openai-responses`, `gemini`, `ollama`, `openrouter`, `llama-cpp`, `openai-compatible`; they need the feature `models` |
/// | sandboxes | `none`, `bubblewrap`, `docker`, `podman` |
///
/// ```
/// use sandcastle_agents::BuiltIn;
/// use sandcastle_core::workflow::{ModelSpec, Providers};
///
/// let providers = BuiltIn::new().keys(|variable| (variable == "OPENAI_API_KEY").then(|| "sk-...".to_owned()));
/// # #[cfg(feature = "models")]
/// assert_eq!(providers.model(&ModelSpec::new("openai", "gpt-4.1-mini"))?.name(), "gpt-4.1-mini");
///
/// let error = providers.model(&ModelSpec::new("opena", "gpt-4.1-mini")).unwrap_err();
/// # #[cfg(feature = "models")]
/// assert!(error.hints()[0].contains("`openai`"));
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct BuiltIn {
    keys: Option<Lookup>,
    image: Option<String>,
}

impl BuiltIn {
    /// Makes everything that needs no key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what looks up the value of a variable that holds a key, such as `ANTHROPIC_API_KEY`. A program that keeps its keys in
    /// the environment hands in that; the default knows none.
    #[must_use]
    pub fn keys(mut self, lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.keys = Some(Arc::new(lookup));
        self
    }

    /// Sets the image of containers for which none is named; the default is to refuse those.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Some(image.into());
        self
    }

    /// Looks a key up by the name of its variable. One that is empty is none: services answer it in words that do not help.
    #[cfg(feature = "models")]
    fn key(&self, variable: &str) -> Option<String> {
        self.keys.as_ref().and_then(|lookup| lookup(variable)).filter(|key| !key.trim().is_empty())
    }

    fn image_for(&self, spec: &SandboxSpec) -> Result<String> {
        spec.image.clone().or_else(|| self.image.clone()).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidOptions,
                format!("make the sandbox `{}`: it needs an image", spec.name),
            )
            .with_hint(format!("write `sandbox: {{ name: {}, image: ... }}`", spec.name))
        })
    }
}

impl Providers for BuiltIn {
    #[cfg(feature = "models")]
    fn model(&self, spec: &ModelSpec) -> Result<Arc<dyn Model>> {
        models::make(spec, &|variable| self.key(variable))
    }

    #[cfg(not(feature = "models"))]
    fn model(&self, spec: &ModelSpec) -> Result<Arc<dyn Model>> {
        Err(Error::new(ErrorKind::InvalidOptions, format!("make the model `{}`", shown(&spec.name)))
            .with_hint("models behind services need the feature `models`"))
    }

    fn agent(&self, spec: &AgentSpec) -> Result<Arc<dyn Agent>> {
        if registry::find(&spec.name).is_err() {
            let names: Vec<&str> = registry::AGENTS.iter().map(|entry| entry.name).collect();
            return Err(unknown("an agent", &spec.name, &names));
        }
        registry::find(&spec.name)?.create(spec.model.as_deref().unwrap_or_default())
    }

    fn sandbox(&self, spec: &SandboxSpec) -> Result<Arc<dyn SandboxProvider>> {
        let sandbox: Arc<dyn SandboxProvider> = match spec.name.as_str() {
            "docker" => Arc::new(Docker::new(self.image_for(spec)?)),
            "podman" => Arc::new(Podman::new(self.image_for(spec)?)),
            name if spec.image.is_some() && SANDBOXES.contains(&name) => {
                return Err(Error::new(
                    ErrorKind::InvalidOptions,
                    format!("make the sandbox `{name}` of an image: it has none"),
                )
                .with_hint("leave `image` out, or take `docker` or `podman`"));
            }
            "none" => Arc::new(NoSandbox::new()),
            "bubblewrap" => Arc::new(Bubblewrap::new()),
            name => return Err(unknown("a sandbox", name, SANDBOXES)),
        };
        Ok(sandbox)
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn").field("image", &self.image).finish_non_exhaustive()
    }
}

/// A name from outside, for a message.
fn shown(name: &str) -> String {
    format!("{:.60}", name.escape_debug().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_image(name: &str) -> SandboxSpec {
        let mut spec = SandboxSpec::new(name);
        spec.image = Some("work:1".to_owned());
        spec
    }

    #[test]
    fn what_is_built_in_is_made_by_name() {
        let providers = BuiltIn::new();
        let mut spec = AgentSpec::new("claude-code");
        spec.model = Some("opus".to_owned());
        assert_eq!(providers.agent(&spec).unwrap().model(), Some("opus"));
        for name in ["none", "bubblewrap"] {
            assert_eq!(providers.sandbox(&SandboxSpec::new(name)).unwrap().name(), name);
        }
        for name in ["docker", "podman"] {
            assert_eq!(providers.sandbox(&of_image(name)).unwrap().name(), name);
            assert_eq!(providers.clone().image("x:1").sandbox(&SandboxSpec::new(name)).unwrap().name(), name);
        }
    }

    #[test]
    fn what_is_not_known_is_answered_with_the_nearest_name() {
        let providers = BuiltIn::new();
        let agent = providers.agent(&AgentSpec::new("claude_code")).unwrap_err();
        assert_eq!(agent.to_string(), "find an agent named `claude_code`");
        assert_eq!(agent.hints(), ["did you mean `claude-code`?"]);
        let sandbox = providers.sandbox(&SandboxSpec::new("dokcer")).map(drop).unwrap_err();
        assert_eq!(sandbox.hints(), ["did you mean `docker`?"]);
        assert!(sandbox.is_entry_check());
    }

    #[test]
    fn an_image_is_for_containers_and_they_need_one() {
        let providers = BuiltIn::new();
        let error = providers.sandbox(&SandboxSpec::new("podman")).map(drop).unwrap_err();
        assert!(error.to_string().contains("needs an image"), "{error}");
        let error = providers.sandbox(&of_image("none")).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "make the sandbox `none` of an image: it has none");
    }
}
