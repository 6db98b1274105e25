//! The agents that a scaffold can have: their types, models, keys, and how an image gets them.

use serde_json::{Value, json};

/// What a scaffold has to know of an agent.
#[derive(Debug)]
pub(crate) struct ScaffoldAgent {
    /// Its name, that of the registry.
    pub(crate) name: &'static str,
    /// Its type in the library.
    type_name: &'static str,
    /// The model for planning, reviewing and merging.
    pub(crate) strong: &'static str,
    /// The model for implementing; the strong one where there is no cheaper one to be named.
    pub(crate) cheap: &'static str,
    /// Its lines in `.env.example`.
    env: &'static [&'static str],
    /// The variables that a workflow fills in from secrets.
    keys: &'static [&'static str],
    install: Install,
    /// Lines of its own in the image recipe.
    image_env: &'static [&'static str],
    /// How it is started by hand with the prompt in this file.
    by_hand: &'static str,
    /// What to know before the first run.
    pub(crate) hint: Option<&'static str>,
}

/// How an agent gets onto a machine.
#[derive(Debug)]
enum Install {
    /// A package of npm, installed for all users.
    Npm(&'static str),
    /// A script of its maker, which installs it below the home folder.
    Script(&'static str),
}

/// The agents, the default one first.
pub(crate) const AGENTS: &[ScaffoldAgent] = &[
    ScaffoldAgent {
        name: "claude-code",
        type_name: "ClaudeCode",
        strong: "claude-opus-4-8",
        cheap: "claude-sonnet-4-6",
        env: &[
            "# One of the two: a token for your subscription (`claude setup-token` makes one), or a key.",
            "CLAUDE_CODE_OAUTH_TOKEN=",
            "ANTHROPIC_API_KEY=",
        ],
        keys: &["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
        install: Install::Script("https://claude.ai/install.sh"),
        image_env: &[
            "# The image is a sandbox, so the agent may also work in it as root.",
            "ENV IS_SANDBOX=1",
        ],
        by_hand: "claude",
        hint: Some("`claude setup-token` makes a token of a subscription"),
    },
    ScaffoldAgent {
        name: "codex",
        type_name: "Codex",
        strong: "gpt-5.4",
        cheap: "gpt-5.4-mini",
        env: &["CODEX_API_KEY="],
        keys: &["CODEX_API_KEY"],
        install: Install::Npm("@openai/codex"),
        image_env: &[],
        by_hand: "codex",
        hint: None,
    },
    ScaffoldAgent {
        name: "pi",
        type_name: "Pi",
        strong: "claude-opus-4-8",
        cheap: "claude-sonnet-4-6",
        env: &["ANTHROPIC_API_KEY="],
        keys: &["ANTHROPIC_API_KEY"],
        install: Install::Npm("@mariozechner/pi-coding-agent"),
        image_env: &[],
        by_hand: "pi",
        hint: None,
    },
    ScaffoldAgent {
        name: "opencode",
        type_name: "OpenCode",
        strong: "opencode/big-pickle",
        cheap: "opencode/big-pickle",
        env: &["OPENCODE_API_KEY="],
        keys: &["OPENCODE_API_KEY"],
        install: Install::Npm("opencode-ai"),
        image_env: &[],
        by_hand: "opencode --prompt",
        hint: None,
    },
    ScaffoldAgent {
        name: "gemini",
        type_name: "Gemini",
        strong: "gemini-2.5-pro",
        cheap: "gemini-2.5-flash",
        env: &["GEMINI_API_KEY="],
        keys: &["GEMINI_API_KEY"],
        install: Install::Npm("@google/gemini-cli"),
        image_env: &[],
        by_hand: "gemini -i",
        hint: None,
    },
    ScaffoldAgent {
        name: "copilot",
        type_name: "Copilot",
        strong: "claude-sonnet-4.5",
        cheap: "claude-sonnet-4.5",
        env: &["# A token with the permission `Copilot Requests`.", "COPILOT_GITHUB_TOKEN="],
        keys: &["COPILOT_GITHUB_TOKEN"],
        install: Install::Npm("@github/copilot"),
        image_env: &[],
        by_hand: "copilot -i",
        hint: None,
    },
    ScaffoldAgent {
        name: "cursor",
        type_name: "Cursor",
        strong: "composer-2",
        cheap: "composer-2",
        env: &["CURSOR_API_KEY="],
        keys: &["CURSOR_API_KEY"],
        install: Install::Script("https://cursor.com/install"),
        image_env: &[],
        by_hand: "agent",
        hint: Some("Cursor cannot be asked again, so its answers have no retries"),
    },
];

/// Lists the names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|agent| agent.name)
}

/// Returns the agent of this name.
pub(crate) fn find(name: &str) -> Option<&'static ScaffoldAgent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl ScaffoldAgent {
    /// Returns what the templates of the scaffold read.
    pub(super) fn described(&self) -> Value {
        let (as_root, as_user) = match self.install {
            Install::Npm(package) => (Some(format!("npm install -g {package}")), None),
            Install::Script(address) => (None, Some(run_script(address, "/tmp"))),
        };
        json!({
            "name": self.name,
            "type": self.type_name,
            "keys": self.keys,
            "image_env": self.image_env,
            "install_as_root": as_root,
            "install_as_user": as_user,
            "host_command": format!("{} \"$(cat .sandcastle/SETUP_ISSUE_TRACKER.md)\"", self.by_hand),
        })
    }

    /// Returns its lines in `.env.example`.
    pub(super) fn env(&self) -> &'static [&'static str] {
        self.env
    }

    /// Names the variables with its keys, one of which it needs.
    pub(crate) fn keys(&self) -> &'static [&'static str] {
        self.keys
    }

    /// Words the commands that install it on a machine of GitHub Actions.
    pub(super) fn install_on_runner(&self) -> Vec<String> {
        match self.install {
            Install::Npm(package) => vec![format!("npm install -g {package}")],
            Install::Script(address) => vec![
                run_script(address, "\"$RUNNER_TEMP\""),
                "echo \"$HOME/.local/bin\" >> \"$GITHUB_PATH\"".to_owned(),
            ],
        }
    }
}

/// Words a command that fetches a script and runs it. In a pipe, a script that cannot be fetched would be no failure.
fn run_script(address: &str, folder: &str) -> String {
    format!(
        "curl -fsSL {address} -o {folder}/install.sh && bash {folder}/install.sh && rm {folder}/install.sh"
    )
}

#[cfg(test)]
mod tests {
    use sandcastle::registry;

    use super::*;

    #[test]
    fn every_agent_of_the_registry_can_be_scaffolded_but_the_one_for_tests() {
        let mut registered: Vec<_> = registry::AGENTS.iter().map(|entry| entry.name).collect();
        registered.retain(|name| *name != "scripted");
        registered.sort_unstable();
        let mut scaffolded: Vec<_> = names().collect();
        scaffolded.sort_unstable();
        assert_eq!(scaffolded, registered);
    }

    #[test]
    fn the_example_of_the_variables_has_every_key_and_no_value() {
        for agent in AGENTS {
            let lines = agent.env.iter().filter(|line| !line.starts_with('#'));
            let keys: Vec<_> = lines.map(|line| line.strip_suffix('=').unwrap()).collect();
            assert_eq!(keys, agent.keys, "{}", agent.name);
        }
    }
}
