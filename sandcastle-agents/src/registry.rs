//! The built-in agents by name.
//!
//! The command and other callers that get a name from outside look it up here; it is the only list of agents.

use std::path::Path;
use std::sync::Arc;

use sandcastle_core::agent::{Agent, Capabilities, Decoder};
use sandcastle_core::{Error, ErrorKind, Result};

pub use crate::native::NativeFacts;
use crate::{
    ClaudeCode, Codex, Copilot, Cursor, Gemini, OpenCode, Pi, Scripted, claude_code, codex, copilot, cursor,
    gemini, native, opencode, pi, scripted,
};

/// Describes one built-in agent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name in options and logs.
    pub name: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What is known of its structured output, if it has one.
    pub native: Option<&'static NativeFacts>,
    create: fn(&str) -> Result<Arc<dyn Agent>>,
    decoder: fn() -> Box<dyn Decoder>,
}

impl Entry {
    /// Creates the agent with a model; an empty one leaves the choice to the program.
    ///
    /// The model of the agent `scripted` is the path of a script, which has to be named.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when a script is not named or cannot be read.
    pub fn create(&self, model: &str) -> Result<Arc<dyn Agent>> {
        (self.create)(model)
    }

    /// Returns a reader for the output of one process of the agent.
    #[must_use]
    pub fn decoder(&self) -> Box<dyn Decoder> {
        (self.decoder)()
    }
}

/// Lists the built-in agents.
pub const AGENTS: &[Entry] = &[
    Entry {
        name: claude_code::NAME,
        capabilities: claude_code::CAPABILITIES,
        native: Some(native::CLAUDE_CODE),
        create: |model| Ok(Arc::new(ClaudeCode::new(model))),
        decoder: || Box::new(claude_code::ClaudeDecoder::default()),
    },
    Entry {
        name: codex::NAME,
        capabilities: codex::CAPABILITIES,
        native: Some(native::CODEX),
        create: |model| Ok(Arc::new(Codex::new(model))),
        decoder: || Box::new(codex::CodexDecoder::default()),
    },
    Entry {
        name: pi::NAME,
        capabilities: pi::CAPABILITIES,
        native: None,
        create: |model| Ok(Arc::new(Pi::new(model))),
        decoder: || Box::new(pi::PiDecoder::default()),
    },
    Entry {
        name: opencode::NAME,
        capabilities: opencode::CAPABILITIES,
        native: None,
        create: |model| Ok(Arc::new(OpenCode::new(model))),
        decoder: || Box::new(opencode::OpenCodeDecoder::default()),
    },
    Entry {
        name: gemini::NAME,
        capabilities: gemini::CAPABILITIES,
        native: None,
        create: |model| Ok(Arc::new(Gemini::new(model))),
        decoder: || Box::new(gemini::GeminiDecoder::default()),
    },
    Entry {
        name: copilot::NAME,
        capabilities: copilot::CAPABILITIES,
        native: None,
        create: |model| Ok(Arc::new(Copilot::new(model))),
        decoder: || Box::new(copilot::CopilotDecoder::default()),
    },
    Entry {
        name: cursor::NAME,
        capabilities: cursor::CAPABILITIES,
        native: None,
        create: |model| Ok(Arc::new(Cursor::new(model))),
        decoder: || Box::new(cursor::CursorDecoder::default()),
    },
    Entry {
        name: scripted::NAME,
        capabilities: scripted::CAPABILITIES,
        native: None,
        create: player,
        decoder: || Box::new(scripted::ScriptedDecoder),
    },
];

/// Creates the agent that plays the script in a file.
fn player(script: &str) -> Result<Arc<dyn Agent>> {
    if script.is_empty() {
        return Err(Error::new(ErrorKind::InvalidOptions, "play a script that is not named").with_hint(
            "name its file as the model; it holds JSON such as `{\"turns\": [{\"steps\": [{\"say\": \"hello\"}]}]}`",
        ));
    }
    Ok(Arc::new(Scripted::from_file(Path::new(script))?))
}

/// Returns the agent with this name.
///
/// ```
/// use sandcastle_agents::registry;
///
/// let agent = registry::find("claude-code")?.create("opus")?;
/// assert_eq!(agent.model(), Some("opus"));
/// assert!(registry::find("claud").is_err());
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] when there is none; the message lists those that there are.
pub fn find(name: &str) -> Result<&'static Entry> {
    AGENTS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<String> = AGENTS.iter().map(|entry| format!("`{}`", entry.name)).collect();
        Error::new(
            ErrorKind::InvalidOptions,
            format!("find an agent named `{:.60}`", name.escape_debug().to_string()),
        )
        .with_hint(format!("the agents are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_has_the_name_and_the_abilities_of_its_entry() {
        for entry in AGENTS.iter().filter(|entry| entry.name != scripted::NAME) {
            let agent = entry.create("m").unwrap();
            assert_eq!(agent.name(), entry.name);
            assert_eq!(agent.capabilities(), entry.capabilities);
            assert_eq!(agent.model(), Some("m"));
            assert_eq!(agent.native_output().is_some(), entry.native.is_some());
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = find("claud").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        for entry in AGENTS {
            assert!(error.hints()[0].contains(&format!("`{}`", entry.name)), "{error:#}");
        }
    }

    #[test]
    fn a_script_has_to_be_named() {
        let error = find("scripted").unwrap().create("").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        assert!(error.hints()[0].contains("\"turns\""), "{error:#}");
    }
}
