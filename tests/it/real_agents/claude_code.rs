//! What only Claude Code does.

use std::sync::Arc;

use sandcastle::{ClaudeCode, ErrorKind, Stage};
use serde_json::json;

use super::{GOOD, N, Subject};
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

/// A sub-agent asks the same model, so its answer is the second reply.
#[tokio::test]
async fn the_answer_of_a_sub_agent_is_not_taken() {
    let Some(subject) = Subject::claude_code() else { return };
    let call = json!({ "description": "count", "prompt": "Count.", "subagent_type": "general-purpose" });
    let replies = [Reply::tool("Agent", call), Reply::text(GOOD), Reply::text("Finished.")];
    let bench = subject.bench(replies).await;
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(
        error.structured_output().map(sandcastle::StructuredOutputError::stage),
        Some(Stage::Missing),
        "{error:#?}"
    );
    println!(
        "{:#?}",
        bench
            .server
            .turns()
            .iter()
            .map(|t| (t.tools().len(), t.user_texts(), t.tool_results(), t.assistant_texts()))
            .collect::<Vec<_>>()
    );
    println!("{:?}", bench.server.turns()[0].tools());
}
