//! Budgets with the real programs: one that holds itself to what it is told, and two that are watched.

use sandcastle::{AgentEvent, ErrorKind, Exit, Spent, Stage};

use super::{BAD, GOOD, N, Retried, Seen, Subject};
use crate::support::model_server::Reply;

/// A reply that does some work and is answered by another one, for ever.
fn at_work(input: u64, output: u64) -> Reply {
    Reply::shell("echo 1 >>work.txt").usage(input, output).always()
}

#[tokio::test]
async fn claude_code_holds_itself_to_what_is_left() {
    let Some(subject) = Subject::claude_code() else { return };
    let bench = subject.bench([Reply::text(BAD).usage(1000, 1000), at_work(1000, 1000)]).await;
    let once = subject.bench([Reply::text("done").usage(1000, 1000)]).await;
    let price = sandcastle::run(once.options()).await.unwrap().usage.cost_usd.expect("a price");
    let limit = price * 2.5;
    let error = sandcastle::run_with::<Retried>(bench.options().max_cost(limit)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.attempts.len()), (Stage::SchemaValidate, 2));
    let Some(Spent::Cost { limit: told, used }) = output.spent else { panic!("{error:#}") };
    assert!((told - limit).abs() < 1e-9 && used >= limit, "{told} {used}");
    assert_eq!(error.work().unwrap().iterations[1].exit, Exit::Code(1), "it ended by itself");
    let asked = bench.server.turns().len();
    assert_eq!(asked, 3, "1.5 answers were left to the second process");
    assert!(used < price * 3.5, "each process counts for itself: {used} of {asked} at {price}");
}

#[tokio::test]
async fn the_budget_of_claude_code_is_no_failure_of_the_agent() {
    let Some(subject) = Subject::claude_code() else { return };
    let cheap = Reply::shell("echo 1 >>work.txt").usage(1, 1);
    let bench = subject.bench([cheap, at_work(10_000, 10_000)]).await;
    let error = sandcastle::run_with::<N>(bench.options().max_cost(0.01)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget, "{error:#}");
    assert!(error.to_string().contains("the budget of $0.01 is spent"), "{error:#}");
    assert!(bench.repository.path().join("work.txt").exists(), "what was done is kept");
    bench.residents().assert_gone();
}

/// It tells its tokens at its end, so a retry is what they can forbid.
#[tokio::test]
async fn claude_code_and_codex_are_bounded_between_processes() {
    for subject in [Subject::claude_code(), Subject::codex()].into_iter().flatten() {
        let bench = subject.bench([Reply::text(BAD).usage(1000, 10), Reply::text(GOOD)]).await;
        let error = sandcastle::run_with::<Retried>(bench.options().max_tokens(1000)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
        assert!(matches!(error.spent(), Some(Spent::Tokens { limit: 1000, .. })), "{error:#}");
        assert_eq!(error.work().unwrap().iterations.len(), 1);
    }
}

/// Ended in the middle of a turn, after the answer that reached the limit.
async fn ended_at_work(subject: Subject) {
    let bench = subject.bench([at_work(400, 100)]).await;
    let seen = Seen::default();
    let error = sandcastle::run_with::<N>(seen.by(bench.options().max_tokens(1200))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget, "{error:#}");
    let used = error.work().unwrap().usage.total_tokens();
    assert!((1200..3000).contains(&used), "{used}");
    assert_eq!(error.work().unwrap().iterations[0].exit, Exit::Ended);
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::TurnCompleted { .. })), 0, "{seen:#?}");
    bench.residents().assert_gone();
}

#[tokio::test]
async fn pi_is_ended_at_work() {
    if let Some(subject) = Subject::pi() {
        ended_at_work(subject).await;
    }
}

#[tokio::test]
async fn opencode_is_ended_at_work() {
    if let Some(subject) = Subject::opencode() {
        ended_at_work(subject).await;
    }
}

/// The answer that goes over the limit ends the turn, too: it is delivered.
#[tokio::test]
async fn a_good_answer_is_delivered_over_the_budget() {
    for subject in [Subject::pi(), Subject::opencode()].into_iter().flatten() {
        let bench = subject.bench([Reply::text(GOOD).usage(1000, 100)]).await;
        let result = sandcastle::run_with::<N>(bench.options().max_tokens(1000)).await.unwrap();
        assert_eq!(result.output, N { n: 5 });
        assert!(
            result.warnings.iter().any(|warning| warning.contains("the budget of 1000 tokens")),
            "{result:#?}"
        );
    }
}
