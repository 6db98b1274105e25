//! The programs of agents: whether each is there, and its version. None of them sees anything of the user's.

use futures_util::future::BoxFuture;
use sandcastle::sandbox::{Inherit, Program};

use super::tools::of_answer;
use super::{Finding, LIMIT, State, Subject};
use crate::programs::answer;

/// The program of each agent, and how to get it.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("claude-code", "claude", "curl -fsSL https://claude.ai/install.sh | bash"),
    ("codex", "codex", "npm install -g @openai/codex"),
    ("pi", "pi", "npm install -g @mariozechner/pi-coding-agent"),
    ("opencode", "opencode", "npm install -g opencode-ai"),
    ("gemini", "gemini", "npm install -g @google/gemini-cli"),
    ("copilot", "copilot", "npm install -g @github/copilot"),
    ("cursor", "agent", "curl -fsSL https://cursor.com/install | bash"),
];

pub(super) fn probes() -> impl Iterator<Item = BoxFuture<'static, Finding>> {
    PROGRAMS
        .iter()
        .map(|(name, program, hint)| Box::pin(probe(name, program, hint)) as BoxFuture<'static, Finding>)
}

#[expect(clippy::disallowed_methods, reason = "the command reads the environment: where programs are found")]
async fn probe(name: &'static str, program: &'static str, hint: &'static str) -> Finding {
    let home = match tempfile::tempdir() {
        Ok(home) => home,
        Err(error) => return Finding::new(Subject::Agent, name, State::Broken).detail(error.to_string()),
    };
    let mut program = Program::new(program)
        .args(["--version"])
        .cwd(home.path())
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    program.inherit = Inherit::Nothing;
    of_answer(Subject::Agent, name, answer(&program, LIMIT).await).hint(hint)
}

#[cfg(test)]
mod tests {
    use sandcastle::registry;

    use super::PROGRAMS;

    #[test]
    fn every_agent_of_the_registry_is_looked_for() {
        let registered = registry::AGENTS.iter().map(|entry| entry.name).filter(|name| *name != "scripted");
        assert!(registered.eq(PROGRAMS.iter().map(|(name, ..)| *name)));
    }
}
