//! Models that fail: nothing is reported as a success, and the cause is named.

use sandcastle::event::FailureKind;
use sandcastle::{AgentEvent, AttemptOutcome, Error, ErrorKind, Stage};

use super::{GOOD, N, Seen, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    a_key_that_is_refused,
    a_rate_limit_that_lasts,
    a_service_that_is_broken,
    a_request_that_is_refused,
    a_connection_that_is_lost,
    an_answer_that_is_cut_off,
    an_answer_that_is_empty,
    a_session_that_nobody_knows,
];

also_for![
    pi in with_pi:
    a_key_that_is_refused,
    a_rate_limit_that_lasts,
    a_service_that_is_broken,
    a_request_that_is_refused,
    a_connection_that_is_lost,
    an_answer_that_is_cut_off,
    an_answer_that_is_empty,
    a_session_that_nobody_knows,
];

also_for![
    gemini in with_gemini:
    a_key_that_is_refused,
    a_rate_limit_that_lasts,
    a_service_that_is_broken,
    a_request_that_is_refused,
];

/// A run whose model works, says a good answer too early, and then gives this reply for ever.
pub(super) async fn failure(subject: &Subject, reply: Reply, kind: FailureKind) -> Error {
    let work = Reply::text(GOOD).and_shell("git commit --quiet --allow-empty --message Work").usage(1100, 11);
    let bench = subject.bench([work, reply.always()]).await;
    let seen = Seen::default();
    let error = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
    let told =
        |event: &AgentEvent| matches!(event, AgentEvent::TurnFailed { failure, .. } if *failure == kind);
    assert_eq!(seen.count(told), 1, "{seen:#?}");

    let work = error.work().expect("what had been done");
    let outcome =
        if kind == FailureKind::Transport { AttemptOutcome::Transport } else { AttemptOutcome::AgentFailed };
    assert_eq!(work.attempts.iter().map(|attempt| attempt.outcome).collect::<Vec<_>>(), [outcome]);
    assert_eq!(work.commits.len(), 1, "{error:#?}");
    assert_eq!((work.usage.input_tokens, work.usage.output_tokens), (1100, 11), "{error:#?}");
    assert!(work.session_id().is_some() && work.session_file().is_some(), "{error:#?}");
    error
}

#[track_caller]
pub(super) fn assert_says(error: &Error, cause: &str, hint: &str) {
    let (message, hints) = (error.to_string(), error.hints().join("; "));
    assert!(message.to_lowercase().contains(cause), "no `{cause}` in: {message}");
    assert!(hints.contains(hint), "no `{hint}` in: {hints}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

async fn a_key_that_is_refused(subject: Subject) {
    let error = failure(&subject, Reply::status(401), FailureKind::Authentication).await;
    assert_says(&error, "401", "a valid key");
}

async fn a_rate_limit_that_lasts(subject: Subject) {
    let error = failure(&subject, Reply::status(429).retry_after(1), FailureKind::Transport).await;
    assert_says(&error, "429", "try again later");
}

async fn a_service_that_is_broken(subject: Subject) {
    let error = failure(&subject, Reply::status(500), FailureKind::Transport).await;
    // Codex has words of its own for this status, and keeps the number to itself.
    let cause = if subject.agent.name() == "codex" { "high demand" } else { "500" };
    assert_says(&error, cause, "try again later");
}

async fn a_request_that_is_refused(subject: Subject) {
    let reply = Reply::status(400).because("the prompt is too purple");
    let error = failure(&subject, reply, FailureKind::Request).await;
    assert!(error.to_string().contains("the prompt is too purple"), "{error:#}");
}

async fn a_connection_that_is_lost(subject: Subject) {
    let error = failure(&subject, Reply::dropped(), FailureKind::Transport).await;
    assert_says(&error, "connect", "try again later");
}

async fn an_answer_that_is_cut_off(subject: Subject) {
    let bench = subject.bench([Reply::text("<result>{\"n\":").at_output_limit().always()]).await;
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(error.structured_output().expect("the reason").stage(), Stage::Truncated, "{error:#}");
}

async fn an_answer_that_is_empty(subject: Subject) {
    let bench = subject.bench([Reply::empty().always()]).await;
    let error = sandcastle::run(bench.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("without saying anything"), "{error:#}");
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(error.structured_output().expect("the reason").stage(), Stage::Empty, "{error:#}");
}

async fn a_session_that_nobody_knows(subject: Subject) {
    let bench = subject.bench([]).await;
    for unknown in ["00000000-0000-4000-8000-000000000000", "no-such-session"] {
        for options in [bench.options().resume_session(unknown), bench.options().fork_session(unknown)] {
            let error = sandcastle::run(options).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error:#}");
            assert!(error.to_string().contains(unknown) && !error.hints().is_empty(), "{error:#}");
        }
    }
    assert!(bench.server.turns().is_empty());
}
