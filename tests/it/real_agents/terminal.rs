//! The terminal program of Claude Code, opened by `sandcastle interactive` on a real terminal.

use std::fs;
use std::time::Duration;

use sandcastle::testing::ScratchRepo;
use serde_json::json;

use crate::support::model_server::{ModelServer, Reply};
use crate::support::process::Invocation;
use crate::support::real_agent::RealAgent;
use crate::support::terminal::{CTRL_C, Terminal};

#[tokio::test]
async fn row_161_a_session_with_claude_code_is_held_and_left() {
    let Some(agent) = RealAgent::claude_code() else { return };
    let commit = "git commit -q --allow-empty -m Work";
    let server = ModelServer::start([Reply::shell(commit), Reply::text("It is committed.")]);
    let repository = ScratchRepo::new().await.unwrap();
    let home = agent.home(&server).with(&[("TERM", "xterm-256color".to_owned())]);
    // As after the first start, which asks what a person likes and whom they trust.
    let settings = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": { "approved": [home.environment()["ANTHROPIC_API_KEY"]], "rejected": [] },
        "projects": { repository.path().canonicalize().unwrap().display().to_string(): { "hasTrustDialogAccepted": true } },
    });
    fs::write(home.path().join(".claude.json"), settings.to_string()).unwrap();
    let programs = agent.program.parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", home.environment()["PATH"]);
    let command = Invocation::new(env!("CARGO_BIN_EXE_sandcastle"), repository.path())
        .arguments(["interactive", "--agent", "claude-code", "--model", "sonnet", "--prompt", "Commit."])
        .environment(home.environment())
        .environment([("PATH".to_owned(), path)]);
    let mut terminal = Terminal::start(command);
    let modes = terminal.modes();
    terminal.wait_for("committed.");
    assert_ne!(terminal.modes(), modes, "it reads keys and not lines");
    // The first asks whether that is meant.
    while terminal.is_running() && !terminal.seen().contains("agent     claude-code") {
        terminal.enter(CTRL_C);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains(" Work\n") && seen.contains("exit code 0\n"), "{seen}");
    assert!(server.turns()[0].user_texts().iter().any(|text| text == "Commit."));
}
