//! What only Claude Code does.

use std::sync::Arc;

use sandcastle::testing::ScratchRepo;
use sandcastle::{AgentEvent, ClaudeCode, ErrorKind, Stage};
use serde_json::json;

use super::{GOOD, N, Seen, Subject};
use crate::support::model_server::Reply;

#[tokio::test]
async fn a_limit_of_turns_is_named() {
    let Some(mut subject) = Subject::claude_code() else { return };
    subject.agent = Arc::new(ClaudeCode::new("sonnet").program(&subject.program.program).max_turns(1));
    let bench = subject.bench([Reply::shell("true").always()]).await;
    let error = sandcastle::run(bench.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("maximum number of turns"), "{error:#}");
    assert!(error.hints()[0].contains("raise the agent's limit"), "{error:#}");
}

#[tokio::test]
async fn money_is_reported() {
    let Some(subject) = Subject::claude_code() else { return };
    let bench = subject.bench([Reply::text("done").usage(1000, 1000)]).await;
    let result = sandcastle::run(bench.options()).await.unwrap();
    assert!(result.usage.cost_usd.is_some_and(|cost| cost > 0.0), "{:?}", result.usage);
}

/// The program itself looks for a session in the folder it was held in; it is brought to where it goes on.
#[tokio::test]
async fn case_117_a_session_goes_on_in_another_repository() {
    let Some(subject) = Subject::claude_code() else { return };
    let bench = subject.bench([Reply::text("one"), Reply::text("two")]).await;
    let first = sandcastle::run(bench.options()).await.unwrap();
    let elsewhere = ScratchRepo::new().await.unwrap();
    let second = sandcastle::run(first.resume("go on").cwd(elsewhere.path())).await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", first.session_id()));
    let unknown = first.resume("go on").resume_session("00000000-0000-4000-8000-000000000000");
    let error = sandcastle::run(unknown).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error:#}");
    assert_eq!(bench.server.turns().len(), 2, "it was not started");
}

/// A sub-agent asks the same model, so its answer is the second reply.
#[tokio::test]
async fn the_answer_of_a_sub_agent_is_not_taken() {
    let Some(subject) = Subject::claude_code() else { return };
    let call = json!({ "description": "count", "prompt": "Count.", "subagent_type": "general-purpose" });
    let replies = [
        Reply::tool("Agent", call).usage(1000, 1),
        Reply::text(GOOD).usage(200, 20),
        Reply::text("Finished.").usage(30, 300),
    ];
    let bench = subject.bench(replies).await;
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    let output = error.structured_output().unwrap_or_else(|| panic!("{error:#?}"));
    assert_eq!(output.stage(), Stage::Missing);
    assert!(bench.server.turns()[2].tool_results()[0].contains(GOOD));
    // What it used counts all the same.
    assert_eq!((output.usage.input_tokens, output.usage.output_tokens), (1230, 321));
}

/// The program waits for it, tells the model of its end, and ends its turn a second time.
#[tokio::test]
async fn a_command_in_the_background_is_waited_for() {
    let Some(subject) = Subject::claude_code() else { return };
    let command = "sleep 1; git commit --quiet --allow-empty --message Late";
    let call = json!({ "command": command, "description": "late work", "run_in_background": true });
    let replies = [
        Reply::tool("Bash", call).usage(1000, 1),
        Reply::text("It is running. ").usage(200, 20),
        Reply::text(GOOD).usage(30, 300),
    ];
    let bench = subject.bench(replies).await;
    let seen = Seen::default();
    let result = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, format!("It is running. {GOOD}"));
    assert_eq!(result.commits[0].subject, "Late");
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (1230, 321));
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::TurnCompleted { .. })), 2, "{seen:#?}");
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::Unknown { .. })), 0, "{seen:#?}");
}
