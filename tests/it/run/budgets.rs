//! Budgets of money and tokens: what they end, when, and what is kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandcastle::agent::Metering;
use sandcastle::event::FailureKind;
use sandcastle::testing::{Script, Sequence, Turn};
use sandcastle::{
    Agent, AttemptOutcome, BranchStrategy, Codex, Copilot, Cursor, ErrorKind, NoSandbox, RunEvent,
    RunOptions, SandboxOptions, Scripted, Spent, Stage, registry,
};

use super::{Bench, N, Retried, say};
use crate::support::processes::UniqueSleep;

const GOOD: &str = r#"<result>{"n":5}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

/// Commits, tells what it has used so far, and goes on with a tool in a session of its own.
fn spendthrift(sleep: &UniqueSleep) -> Turn {
    Turn::new()
        .write_file("x", "1")
        .commit("Work")
        .say("half")
        .shell(format!("setsid sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds()))
        .used(900, 150, Some(0.75))
        .hang()
}

fn budgets_told(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<Spent>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let options = options.on_event(move |event| {
        if let RunEvent::BudgetReached { spent } = event {
            seen.lock().unwrap().push(*spent);
        }
    });
    (options, told)
}

#[tokio::test]
async fn an_agent_at_work_is_ended_with_everything_it_started() {
    type Limit = fn(RunOptions) -> RunOptions;
    let limits: [(Limit, &str); 2] = [
        (|options| options.max_cost(0.5), "the budget of $0.5 is spent: $0.7500 were used"),
        (|options| options.max_tokens(1000), "the budget of 1000 tokens is spent: 1050 were used"),
    ];
    for (limit, said) in limits {
        let bench = Bench::new().await;
        let sleep = UniqueSleep::new();
        let (options, told) = budgets_told(limit(bench.options([spendthrift(&sleep)])));
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Budget, "{error:#}");
        assert_eq!(error.to_string(), format!("finish `scripted`: {said}"));
        assert_eq!(sleep.alive(), 0);
        let work = error.work().unwrap();
        assert_eq!((work.commits.len(), work.text.as_str()), (1, "half"));
        assert_eq!((work.usage.total_tokens(), work.usage.cost_usd), (1050, Some(0.75)));
        assert_eq!(work.attempts[0].outcome, AttemptOutcome::AgentFailed);
        assert!(work.session_id().is_some(), "it can be gone on with");
        assert_eq!(*told.lock().unwrap(), [*error.spent().unwrap()]);
        assert!(bench.logged().contains(said), "{}", bench.logged());
    }
}

#[tokio::test]
async fn what_is_below_the_limit_is_let_work() {
    let bench = Bench::new().await;
    let turn = Turn::new().used(10, 1, Some(0.1)).say(GOOD).usage(20, 2).cost(0.2);
    let (options, told) = budgets_told(bench.options([turn]).max_cost(0.21).max_tokens(23));
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!((result.output, result.warnings), (N { n: 5 }, Vec::<String>::new()));
    assert!(told.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_good_answer_is_delivered_whatever_it_has_cost() {
    let bench = Bench::new().await;
    let (options, told) = budgets_told(bench.options([say(GOOD).cost(9.0)]).max_cost(0.5));
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert!(result.warnings[0].contains("$9.0000 were used"), "{:?}", result.warnings);
    assert_eq!(*told.lock().unwrap(), [Spent::Cost { limit: 0.5, used: 9.0 }]);
}

/// What an agent says while it is stopped counts, if it completes its turn by that.
#[tokio::test]
async fn an_answer_that_is_completed_as_a_last_word_counts() {
    let bench = Bench::new().await;
    let turn = Turn::new().say(GOOD).ignore_stop().used(700, 300, None).sleep(Duration::from_millis(300));
    let turn = turn.usage(800, 300);
    let result = sandcastle::run_with::<N>(bench.options([turn]).max_tokens(1000)).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert!(result.warnings.iter().any(|warning| warning.contains("1100 were used")), "{result:#?}");
}

#[tokio::test]
async fn a_retry_that_cannot_be_paid_is_not_made() {
    let bench = Bench::new().await;
    let remaining = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&remaining);
    let turns = [say(BAD).usage(600, 100), say(BAD).usage(200, 100), say(GOOD)];
    let options = bench.options(turns).max_tokens(1000).on_event(move |event| {
        if let RunEvent::AttemptFailed { remaining, .. } = event {
            seen.lock().unwrap().push(*remaining);
        }
    });
    let error = sandcastle::run_with::<Retried>(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let expected = "then it failed to ask again: the budget of 1000 tokens is spent: 1000 were used";
    assert!(error.to_string().ends_with(expected), "{error}");
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.attempts.len()), (Stage::SchemaValidate, 2));
    assert_eq!(output.spent, Some(Spent::Tokens { limit: 1000, used: 1000 }));
    assert_eq!(error.spent(), output.spent.as_ref());
    assert_eq!(*remaining.lock().unwrap(), [2, 0]);
}

#[tokio::test]
async fn a_retry_that_runs_out_of_money_leaves_the_answer_before_it() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let turns = [say(BAD).cost(0.25), spendthrift(&sleep)];
    let error = sandcastle::run_with::<Retried>(bench.options(turns).max_cost(1.0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
    assert_eq!(sleep.alive(), 0);
    let output = error.structured_output().unwrap();
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(output.spent, Some(Spent::Cost { limit: 1.0, used: 1.0 }));
    assert_eq!(output.commits.len(), 1);
}

#[tokio::test]
async fn a_resend_that_cannot_be_paid_is_not_made() {
    let bench = Bench::new().await;
    let limited = Turn::new().used(500, 0, None).fail(FailureKind::Transport, "slow down");
    let turns = [say(BAD).usage(500, 0), limited, say(GOOD)];
    let error = sandcastle::run_with::<Retried>(bench.options(turns).max_tokens(1000)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
    assert_eq!(error.work().unwrap().iterations.len(), 2);
    assert!(error.spent().is_some(), "{error:#}");
}

#[tokio::test]
async fn an_iteration_that_cannot_be_paid_is_not_begun() {
    let bench = Bench::new().await;
    let turn = |name: &str| Turn::new().write_file(name, "1").commit(name).say("on").usage(500, 0);
    let script = Script::new().turn(turn("one")).turn(turn("two")).turn(turn("three"));
    let agent = Scripted::new(script.sequence(Sequence::AcrossSessions)).state_dir(bench.state.path());
    let options = bench.options_of(agent).branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run(options.max_iterations(3).max_tokens(1000)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(error.to_string(), "begin iteration 3: the budget of 1000 tokens is spent: 1000 were used");
    let work = error.work().unwrap();
    assert_eq!((work.iterations.len(), work.commits.len()), (2, 2));
    assert_eq!(bench.subjects("main").await, ["two", "one", "begin"], "what was done before has landed");
    assert_eq!(bench.left_over().await, (vec![], 0));
}

#[tokio::test]
async fn the_last_iteration_may_use_up_the_budget() {
    let bench = Bench::new().await;
    let script = Script::new().turn(say("on").usage(500, 0)).turn(say("on").usage(600, 0));
    let agent = Scripted::new(script.sequence(Sequence::AcrossSessions)).state_dir(bench.state.path());
    let result = sandcastle::run(bench.options_of(agent).max_iterations(2).max_tokens(1000)).await.unwrap();
    assert_eq!(result.iterations.len(), 2);
    assert!(result.warnings[0].contains("1100 were used"), "{:?}", result.warnings);
}

#[tokio::test]
async fn each_run_in_a_lent_sandbox_has_a_budget_of_its_own() {
    let bench = Bench::new().await;
    let sandbox =
        sandcastle::create_sandbox(SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path()))
            .await
            .unwrap();
    let options = |turns: [Turn; 1]| sandbox.run_with::<N>(bench.options(turns).max_tokens(1000));
    assert_eq!(options([say(GOOD).usage(900, 0)]).await.unwrap().output.n, 5);
    assert_eq!(options([say(GOOD).usage(900, 0)]).await.unwrap().output.n, 5);
    let sleep = UniqueSleep::new();
    let error = options([spendthrift(&sleep)]).await.unwrap_err();
    assert_eq!((error.kind(), sleep.alive()), (ErrorKind::Budget, 0), "{error:#}");
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn a_run_that_goes_on_begins_anew() {
    let bench = Bench::new().await;
    let turns = [say("one").usage(900, 0), say("two").usage(900, 0), say("three").usage(1000, 0)];
    let first = sandcastle::run(bench.options(turns).max_tokens(1000)).await.unwrap();
    let second = sandcastle::run(first.resume("go on")).await.unwrap();
    assert_eq!((second.text.as_str(), second.warnings.len()), ("two", 0));
    let third = sandcastle::run(second.resume("go on")).await.unwrap();
    assert!(third.warnings[0].contains("the budget of 1000 tokens"), "{:?}", third.warnings);
}

#[tokio::test]
async fn a_model_without_a_price_is_warned_of() {
    let bench = Bench::new().await;
    let result = sandcastle::run(bench.options([say("done")]).max_cost(1.0)).await.unwrap();
    assert!(result.warnings[0].contains("`scripted` told no cost"), "{:?}", result.warnings);
    assert!(result.warnings[0].contains("`max_tokens`"), "{:?}", result.warnings);
}

#[tokio::test]
async fn an_agent_that_cannot_be_held_to_a_budget_is_refused_by_its_name() {
    let bench = Bench::new().await;
    let options = |agent: Arc<dyn Agent>| {
        RunOptions::shared(agent, Arc::new(NoSandbox::new())).cwd(bench.repository.path()).prompt("go")
    };
    let refused = [
        (options(Arc::new(Codex::new(""))).max_cost(1.0), "codex", "use `max_tokens`"),
        (options(Arc::new(Cursor::new(""))).max_cost(1.0), "cursor", "use `max_tokens`"),
        (options(Arc::new(Copilot::new(""))).max_cost(1.0), "copilot", "`total_timeout`"),
        (options(Arc::new(Copilot::new(""))).max_tokens(1), "copilot", "`total_timeout`"),
    ];
    for (options, agent, hint) in refused {
        let error = sandcastle::run(options).await.unwrap_err();
        assert_eq!((error.kind(), error.work()), (ErrorKind::InvalidOptions, None), "{error:#}");
        assert!(error.to_string().contains(&format!("the agent `{agent}`")), "{error}");
        assert!(error.hints()[0].contains(hint), "{error:#}");
    }
    for options in [
        bench.options([say("x")]).max_cost(0.0),
        bench.options([say("x")]).max_cost(f64::NAN),
        bench.options([say("x")]).max_tokens(0),
    ] {
        assert_eq!(sandcastle::run(options).await.unwrap_err().kind(), ErrorKind::InvalidOptions);
    }
    let error = sandcastle::interactive(bench.options([say("x")]).max_cost(1.0)).await.unwrap_err();
    assert!(error.to_string().contains("`max_cost` in a session that a person holds"), "{error}");
}

/// What is declared is what the streams say: see the recorded ones.
#[test]
fn every_agent_declares_what_it_tells() {
    use Metering::{Absent, AtTheEnd, Running};
    let declared: Vec<_> = registry::AGENTS
        .iter()
        .map(|entry| (entry.name, entry.capabilities.tokens, entry.capabilities.cost))
        .collect();
    let expected = [
        ("claude-code", AtTheEnd, AtTheEnd),
        ("codex", AtTheEnd, Absent),
        ("pi", Running, Running),
        ("opencode", Running, Running),
        ("gemini", AtTheEnd, Absent),
        ("copilot", Absent, Absent),
        ("cursor", AtTheEnd, Absent),
        ("scripted", Running, Running),
    ];
    assert_eq!(declared, expected);
}
