//! A place to play scripts in, as real processes.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use sandcastle_core::SessionId;
use sandcastle_core::agent::{Agent, AgentCommand, AgentRequest};
use sandcastle_core::event::{AgentEvent, FailureKind};
use sandcastle_core::jsonl::{Line, LineBuffer};
use sandcastle_core::session::SessionRequest;
use tempfile::TempDir;

use crate::scripted::{Script, Scripted, Turn};

/// A home, a working folder and a state folder.
pub(super) struct Place {
    pub(super) root: TempDir,
}

/// What one process did.
pub(super) struct Played {
    pub(super) output: Output,
    pub(super) events: Vec<AgentEvent>,
}

impl Place {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "work"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    pub(super) fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(super) fn agent(&self, script: Script) -> Scripted {
        Scripted::new(script).state_dir(self.state())
    }

    pub(super) fn spawn(&self, command: &AgentCommand) -> Child {
        #[expect(clippy::disallowed_methods, reason = "the test is what starts the program here")]
        let mut process = std::process::Command::new(&command.program);
        let mut child = process
            .args(&command.args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.root.path().join("home"))
            .envs(command.env.iter().map(|(key, value)| (key, value)))
            .current_dir(self.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&command.stdin).unwrap();
        child
    }

    pub(super) fn start(&self, agent: &Scripted, prompt: &str, session: &SessionRequest) -> Child {
        let command = agent.command(&AgentRequest::new(prompt, &self.work(), session)).unwrap();
        self.spawn(&command)
    }

    pub(super) fn play(&self, agent: &Scripted, prompt: &str, session: &SessionRequest) -> Played {
        let output = self.start(agent, prompt, session).wait_with_output().unwrap();
        Played { events: decode(agent, &output.stdout), output }
    }

    pub(super) fn play_turn(&self, turn: Turn) -> Played {
        self.play(&self.agent(Script::new().turn(turn)), "go", &SessionRequest::Fresh)
    }
}

impl Played {
    pub(super) fn code(&self) -> i32 {
        self.output.status.code().unwrap()
    }

    pub(super) fn stderr(&self) -> &str {
        str::from_utf8(&self.output.stderr).unwrap()
    }

    pub(super) fn session(&self) -> SessionId {
        let id = self.events.iter().find_map(|event| match event {
            AgentEvent::Session { id } => Some(id.clone()),
            _ => None,
        });
        id.unwrap_or_else(|| panic!("no session in {:?}; stderr: {}", self.events, self.stderr()))
    }

    pub(super) fn text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            AgentEvent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.events.iter().any(|event| matches!(event, AgentEvent::TurnCompleted { .. }))
    }

    pub(super) fn failure(&self) -> Option<FailureKind> {
        self.events.iter().find_map(|event| match event {
            AgentEvent::TurnFailed { failure, .. } => Some(*failure),
            _ => None,
        })
    }
}

pub(super) fn decode(agent: &Scripted, stdout: &[u8]) -> Vec<AgentEvent> {
    let mut decoder = agent.decoder();
    let mut lines = LineBuffer::new();
    let mut events = Vec::new();
    lines.push(stdout);
    while let Some(Line::Complete(line)) = lines.next_line() {
        decoder.line(line, &mut events);
    }
    assert_eq!(lines.finish(), None, "the last line has an end");
    decoder.end(&mut events);
    events
}
