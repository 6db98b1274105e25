//! The engine with the real programs: every promise of a run, kept by Claude Code, Codex, pi, OpenCode and Gemini CLI.
//!
//! A scenario is written once and played with the first two, and with the others where they can keep it, so that they
//! cannot drift apart; what only one of them does stands in the file of its name. `programs` has the facts of the programs
//! themselves, without the engine. The model is a script on loopback, and each test has a home, a repository and a model
//! server of its own.

mod answers;
mod budgets;
mod captures;
mod claude_code;
mod codex;
mod corrections;
mod endings;
mod extraction;
mod failures;
mod gemini;
mod native;
mod opencode;
mod pi;
mod programs;
mod pull_requests;
mod residents;
mod seen;
mod sessions;
mod terminal;
mod transfers;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandcastle::testing::ScratchRepo;
use sandcastle::{Agent, ClaudeCode, Codex, Gemini, Logging, NoSandbox, OpenCode, Pi, RunOptions};

use self::residents::Residents;
use self::seen::Seen;
use crate::run::{N, Retried};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::{GEMINI_MODEL, Home, RealAgent, SCRIPTED_MODEL};

/// The prompt of a run whose prompt does not matter.
const PROMPT: &str = "Do it, and answer as <result>JSON</result>.";
const GOOD: &str = r#"<result>{"n":5}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

/// A stretch of silence that no test waits for.
const LONG: Duration = Duration::from_secs(3600);
/// How long something may take that a program does at once, on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes two tests of each scenario, one for each program.
macro_rules! for_both_agents {
    ($($scenario:ident),+ $(,)?) => {
        mod with_claude_code {
            $(
                #[tokio::test]
                async fn $scenario() {
                    if let Some(subject) = crate::real_agents::Subject::claude_code() {
                        super::$scenario(subject).await;
                    }
                }
            )+
        }

        mod with_codex {
            $(
                #[tokio::test]
                async fn $scenario() {
                    if let Some(subject) = crate::real_agents::Subject::codex() {
                        super::$scenario(subject).await;
                    }
                }
            )+
        }
    };
}
use for_both_agents;

/// Makes a test of each scenario that another program keeps as well.
macro_rules! also_for {
    ($subject:ident in $module:ident: $($scenario:ident),+ $(,)?) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $scenario() {
                    if let Some(subject) = crate::real_agents::Subject::$subject() {
                        super::$scenario(subject).await;
                    }
                }
            )+
        }
    };
}
use also_for;

/// An installed program, and the agent of the library that runs it.
#[derive(Clone, Debug)]
struct Subject {
    program: RealAgent,
    agent: Arc<dyn Agent>,
}

impl Subject {
    fn claude_code() -> Option<Self> {
        let program = RealAgent::claude_code()?;
        let agent = Arc::new(ClaudeCode::new("sonnet").program(&program.program));
        Some(Self { program, agent })
    }

    fn codex() -> Option<Self> {
        RealAgent::codex().map(Self::codex_of)
    }

    fn gemini() -> Option<Self> {
        let program = RealAgent::gemini()?;
        let agent = Arc::new(Gemini::new(GEMINI_MODEL).program(&program.program));
        Some(Self { program, agent })
    }

    /// Codex by the script that npm installs, which starts the real program as its child.
    fn codex_launcher() -> Option<Self> {
        RealAgent::codex_launcher().map(Self::codex_of)
    }

    fn codex_of(program: RealAgent) -> Self {
        let agent = Arc::new(Codex::new("").program(&program.program));
        Self { program, agent }
    }

    fn pi() -> Option<Self> {
        let program = RealAgent::pi()?;
        let agent = Arc::new(Pi::new(SCRIPTED_MODEL).program(&program.program));
        Some(Self { program, agent })
    }

    fn opencode() -> Option<Self> {
        let program = RealAgent::opencode()?;
        let agent = Arc::new(OpenCode::new(SCRIPTED_MODEL).program(&program.program));
        Some(Self { program, agent })
    }

    /// A place to run it in, with a model that gives these replies.
    async fn bench(&self, replies: impl IntoIterator<Item = Reply>) -> Bench {
        let server = ModelServer::start(replies);
        let home = self.program.home(&server);
        let repository = ScratchRepo::new().await.unwrap();
        Bench { agent: Arc::clone(&self.agent), server, home, repository }
    }
}

/// A model, a home and a repository.
struct Bench {
    agent: Arc<dyn Agent>,
    server: ModelServer,
    home: Home,
    repository: ScratchRepo,
}

impl Bench {
    /// A run in the repository, in which the program has nothing of this process's environment.
    fn options(&self) -> RunOptions {
        self.prompted(PROMPT)
    }

    fn prompted(&self, prompt: &str) -> RunOptions {
        self.prompted_at(&self.home, self.repository.path(), prompt)
    }

    /// A run with another home and in another folder.
    fn prompted_at(&self, home: &Home, cwd: &Path, prompt: &str) -> RunOptions {
        self.options_at(home, cwd).prompt(prompt)
    }

    fn options_without_prompt(&self) -> RunOptions {
        self.options_at(&self.home, self.repository.path())
    }

    fn options_at(&self, home: &Home, cwd: &Path) -> RunOptions {
        let empty = NoSandbox::new().clear_env();
        let sandbox =
            home.environment().into_iter().fold(empty, |sandbox, (key, value)| sandbox.env(key, value));
        RunOptions::shared(Arc::clone(&self.agent), Arc::new(sandbox)).cwd(cwd).logging(Logging::off())
    }

    /// Waits until the model has been asked this often.
    async fn asked(&self, count: usize) {
        let begun = Instant::now();
        while self.server.turns().len() < count {
            assert!(begun.elapsed() < PATIENCE, "asked {} times, not {count}", self.server.turns().len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the program has written the prompt to a session file. Claude Code does so a moment after it has
    /// asked the model; a program that is killed before has no session to go on with.
    async fn remembered(&self) {
        let begun = Instant::now();
        let session_folders =
            [".claude/projects", ".codex/sessions", ".gemini/tmp"].map(|name| self.home.path().join(name));
        while !session_folders.iter().any(|folder| holds(folder, PROMPT)) {
            assert!(begun.elapsed() < PATIENCE, "the prompt is in no session file");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Everything that the program started and that still runs, itself included.
    fn residents(&self) -> Residents {
        Residents::of(self.home.path())
    }
}

/// Whether a file below this folder holds the text.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        holds(&path, text) || fs::read_to_string(path).is_ok_and(|contents| contents.contains(text))
    })
}
