//! OpenCode: the promises of a run, and what only it does.
//!
//! Each start of it costs seconds, so its tests are few, and each shows much.

use std::time::{Duration, Instant};

use sandcastle::event::FailureKind;
use sandcastle::{AgentEvent, AttemptOutcome, ErrorKind, Exit, Stage};

use super::endings::{cancelled, sleepers};
use super::{BAD, GOOD, LONG, N, PROMPT, Retried, Seen, Subject};
use crate::support::model_server::Reply;
use crate::support::processes::UniqueSleep;

/// A commit, a tag that a tool call interrupts, an answer in its thinking, and what was used.
#[tokio::test]
async fn case_108_a_value_comes_out_of_its_events() {
    let Some(subject) = Subject::opencode() else { return };
    let work = "echo new > new.txt && git add new.txt && git commit --quiet --message 'Add a file'";
    let replies = [
        Reply::thinking(BAD).and_text("Here: <resu").and_shell(work).usage(100, 10),
        Reply::text("lt>{\"n\":5}</re").and_text("sult>").usage(2000, 200),
    ];
    let bench = subject.bench(replies).await;
    let seen = Seen::default();
    let result = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap();

    assert_eq!((result.output, result.text), (N { n: 5 }, format!("Here: {GOOD}")));
    let [commit] = result.commits.as_slice() else { panic!("{:#?}", result.commits) };
    assert_eq!(commit.subject, "Add a file");
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (2100, 210));
    let [iteration] = result.iterations.as_slice() else { panic!("{:#?}", result.iterations) };
    assert_eq!(iteration.exit, Exit::Code(0));
    assert!(iteration.session_id.is_some() && iteration.session_file.is_none(), "{iteration:#?}");
    assert_eq!(result.warnings, [] as [&str; 0]);
    let thought = |event: &AgentEvent| matches!(event, AgentEvent::Thinking { text } if text == BAD);
    assert_eq!(seen.count(thought), 1, "{seen:#?}");
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::Unknown { .. })), 0, "{seen:#?}");
}

/// The prompt is long and begins like an option; the correction is in the same session, and a fork is in another.
#[tokio::test]
async fn a_bad_answer_is_corrected_in_its_session_and_the_session_forks() {
    let Some(subject) = Subject::opencode() else { return };
    let replies = [(BAD, 10), (GOOD, 200), ("forked", 3000)];
    let replies = replies.map(|(text, count)| Reply::text(text).usage(count, count));
    let bench = subject.bench(replies).await;
    let prompt = format!("--{PROMPT}\n{}end", "word ".repeat(60_000));
    let result = sandcastle::run_with::<Retried>(bench.prompted(&prompt)).await.unwrap();

    assert_eq!(result.output, Retried { n: 5 });
    let [first, second] = result.attempts.as_slice() else { panic!("{:#?}", result.attempts) };
    assert_eq!((first.outcome, second.outcome), (AttemptOutcome::SchemaValidate, AttemptOutcome::Accepted));
    assert!(first.session_id.is_some() && first.session_id == second.session_id);
    assert_eq!((first.usage.input_tokens, second.usage.input_tokens), (10, 200));
    assert!(bench.server.turns()[0].user_texts().contains(&prompt));
    assert_eq!(bench.server.turns()[1].assistant_texts(), [BAD]);

    let session = result.session_id().unwrap().as_str();
    let fork = sandcastle::run(bench.options().fork_session(session)).await.unwrap();
    assert_eq!((fork.text.as_str(), fork.usage.input_tokens), ("forked", 3000));
    assert_ne!(fork.session_id(), result.session_id());
    assert_eq!(bench.server.turns()[2].assistant_texts(), [BAD, GOOD]);
}

#[tokio::test]
async fn a_key_that_is_refused_fails_the_run() {
    let Some(subject) = Subject::opencode() else { return };
    let bench = subject.bench([Reply::status(401).always()]).await;
    let seen = Seen::default();
    let error = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
    assert!(error.to_string().contains("401") && error.hints()[0].contains("a valid key"), "{error:#}");
    let told = |event: &AgentEvent| {
        matches!(event, AgentEvent::TurnFailed { failure: FailureKind::Authentication, .. })
    };
    assert_eq!(seen.count(told), 1, "{seen:#?}");
    assert!(error.work().unwrap().session_id().is_some());
}

#[tokio::test]
async fn a_session_that_nobody_knows_is_an_error_of_its_own() {
    let Some(subject) = Subject::opencode() else { return };
    let bench = subject.bench([]).await;
    let error = sandcastle::run(bench.options().resume_session("ses_unknown")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error:#}");
    assert!(error.to_string().contains("Session not found"), "{error:#}");
    assert!(bench.server.turns().is_empty());
}

#[tokio::test]
async fn an_answer_at_the_output_limit_is_truncated() {
    let Some(subject) = Subject::opencode() else { return };
    let bench = subject.bench([Reply::text("<result>{\"n\":").at_output_limit()]).await;
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(error.structured_output().expect("the reason").stage(), Stage::Truncated, "{error:#}");
}

/// Its tool stays when it is terminated; nothing of it may.
#[tokio::test]
async fn a_tool_is_ended_and_the_session_goes_on() {
    let Some(subject) = Subject::opencode() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep), Reply::text(GOOD)]).await;
    let error = cancelled(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
    let session = error.work().unwrap().session_id().expect("a session").as_str();
    let result = sandcastle::run_with::<N>(bench.options().resume_session(session)).await.unwrap();
    assert_eq!(result.session_id().unwrap().as_str(), session);
}

#[tokio::test]
async fn dropping_a_run_leaves_nothing_of_it() {
    let Some(subject) = Subject::opencode() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep)]).await;
    let mut run = Box::pin(sandcastle::run_with::<N>(bench.options()));
    tokio::select! {
        ended = &mut run => panic!("it sleeps: {ended:?}"),
        () = sleep.wait_for(2) => {}
    }
    assert!(bench.residents().are_there());
    drop(run);
    bench.residents().assert_gone();
    assert_eq!(sleep.alive(), 0);
}

/// It repeats a request that fails without a word, so the silence is what ends the run.
#[tokio::test]
async fn silent_repetitions_are_ended_by_the_idle_timeout() {
    let Some(subject) = Subject::opencode() else { return };
    let enough = 2 * time_of_a_turn(&subject).await + Duration::from_secs(6);
    let bench = subject.bench([Reply::status(500).always()]).await;
    let options = bench.options().idle_timeout(enough);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
    assert!(bench.server.turns().len() > 1);
}

/// A stream without an end is asked for again, for ever and in words: only the total timeout ends that.
#[tokio::test]
async fn a_turn_that_never_ends_is_ended_by_the_total_timeout() {
    let Some(subject) = Subject::opencode() else { return };
    let enough = 3 * time_of_a_turn(&subject).await + Duration::from_secs(6);
    let bench = subject.bench([Reply::text("half an ans").cut_short().always()]).await;
    let options = bench.options().idle_timeout(LONG).total_timeout(enough);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::TotalTimeout, "{error:#}");
    assert!(bench.server.turns().len() > 1);
    assert!(error.work().unwrap().text.starts_with("half an anshalf"), "{error:#?}");
}

/// How long the program takes for next to nothing, on this machine and with all that it does besides.
async fn time_of_a_turn(subject: &Subject) -> Duration {
    let bench = subject.bench([Reply::text(GOOD)]).await;
    let begun = Instant::now();
    sandcastle::run_with::<N>(bench.options()).await.unwrap();
    begun.elapsed()
}
