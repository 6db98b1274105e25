//! Runs of the scripted agent: a real child process in a real repository.

mod attempts;
mod budgets;
mod ending;
mod entry;
mod extraction;
mod fallbacks;
mod handles;
mod held;
mod hooks;
mod iterations;
mod last_messages;
mod lent_schemas;
mod lowered;
mod merging;
mod moved;
mod native;
mod played;
mod refused_schemas;
mod repositories;
mod schema_files;
mod schema_secrets;
mod secrets;
mod shared;
mod speaking;
mod strategies;
mod versions;

use std::path::PathBuf;

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{AgentOutput, Logging, NoSandbox, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

/// The output that most tests ask for.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
pub(crate) struct N {
    pub(crate) n: i64,
}

/// The same, with two retries.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", max_retries = 2)]
pub(crate) struct Retried {
    pub(crate) n: i64,
}

/// A repository and a place for the sessions of scripted agents.
struct Bench {
    repository: ScratchRepo,
    state: TempDir,
}

impl Bench {
    async fn new() -> Self {
        Self { repository: ScratchRepo::new().await.unwrap(), state: TempDir::new().unwrap() }
    }

    fn agent(&self, turns: impl IntoIterator<Item = Turn>) -> Scripted {
        let script = turns.into_iter().fold(Script::new(), Script::turn);
        Scripted::new(script).state_dir(self.state.path())
    }

    fn options(&self, turns: impl IntoIterator<Item = Turn>) -> RunOptions {
        self.options_of(self.agent(turns))
    }

    fn options_of(&self, agent: Scripted) -> RunOptions {
        RunOptions::new(agent, NoSandbox::new())
            .cwd(self.repository.path())
            .prompt("Do it, and answer as <result>JSON</result>.")
            .logging(Logging::file(self.log()))
    }

    fn log(&self) -> PathBuf {
        self.state.path().join("run.log")
    }

    fn logged(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap()
    }

    /// The prompts that the only session was given.
    fn prompts(&self, session: &sandcastle::SessionId) -> Vec<String> {
        Scripted::prompts(self.state.path(), session).unwrap()
    }
}

fn say(text: &str) -> Turn {
    Turn::new().say(text)
}
