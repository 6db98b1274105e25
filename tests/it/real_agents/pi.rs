//! pi: the promises of a run, and what only it does.
//!
//! It writes a session down once the model has answered, exits as after a success whatever happened, and begins a turn
//! again by itself: where it differs so from the other programs, their scenarios are not its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use sandcastle::event::FailureKind;
use sandcastle::testing::ScratchRepo;
use sandcastle::{AgentEvent, AttemptOutcome, ErrorKind};

use super::endings::{cancelled, sleepers};
use super::{GOOD, LONG, N, PROMPT, Seen, Subject};
use crate::support::model_server::Reply;
use crate::support::processes::UniqueSleep;

/// It tries three times more, and tells of each.
#[tokio::test]
async fn w_33_trouble_of_the_service_is_no_success() {
    let Some(subject) = Subject::pi() else { return };
    let bench = subject.bench([Reply::text(GOOD).and_shell("true"), Reply::status(429).always()]).await;
    let seen = Seen::default();
    let error = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
    assert!(error.to_string().contains("429"), "{error:#}");
    let waits = seen.count(|event| matches!(event, AgentEvent::Waiting { .. }));
    assert_eq!((waits, bench.server.turns().len()), (3, 5));
    let told =
        |event: &AgentEvent| matches!(event, AgentEvent::TurnFailed { failure: FailureKind::Transport, .. });
    assert_eq!(seen.count(told), 1, "{seen:#?}");
    assert_eq!(error.work().unwrap().attempts[0].outcome, AttemptOutcome::Transport);
}

#[tokio::test]
async fn a_turn_that_it_begins_again_is_one_turn() {
    let Some(subject) = Subject::pi() else { return };
    let bench = subject.bench([Reply::status(500), Reply::text(GOOD)]).await;
    let seen = Seen::default();
    let result = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap();
    assert_eq!((result.output, result.text.as_str()), (N { n: 5 }, GOOD));
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::TurnFailed { .. })), 0, "{seen:#?}");
}

#[tokio::test]
async fn a_request_that_hangs_is_ended() {
    let Some(subject) = Subject::pi() else { return };
    let bench = subject.bench([Reply::silence(LONG)]).await;
    cancelled(&bench, bench.asked(1)).await;
    let bench = subject.bench([Reply::silence(LONG)]).await;
    let error =
        sandcastle::run_with::<N>(bench.options().idle_timeout(Duration::from_secs(2))).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
}

/// An answer in many pieces is no silence, though it is said only when it is whole.
#[tokio::test]
async fn a_slow_answer_is_not_taken_for_silence() {
    let Some(subject) = Subject::pi() else { return };
    let long = "x".repeat(4000 * 6);
    let slow = Reply::text(format!("{long}{GOOD}")).slowly(Duration::from_millis(800));
    let bench = subject.bench([slow]).await;
    let options = bench.options().idle_timeout(Duration::from_secs(6));
    assert_eq!(sandcastle::run_with::<N>(options).await.unwrap().output, N { n: 5 });
}

#[tokio::test]
async fn a_tool_is_ended_and_the_session_goes_on() {
    let Some(subject) = Subject::pi() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep), Reply::text(GOOD)]).await;
    let error = cancelled(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
    let work = error.work().unwrap();
    assert_eq!(work.text, "Working.");
    let session = work.session_id().unwrap().as_str();
    let result = sandcastle::run_with::<N>(bench.options().resume_session(session)).await.unwrap();
    assert_eq!(result.session_id().unwrap().as_str(), session);
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["Working."]);
}

#[tokio::test]
async fn dropping_a_run_ends_a_tool() {
    let Some(subject) = Subject::pi() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep)]).await;
    let mut run = Box::pin(sandcastle::run_with::<N>(bench.options()));
    tokio::select! {
        ended = &mut run => panic!("it sleeps: {ended:?}"),
        () = sleep.wait_for(2) => {}
    }
    drop(run);
    bench.residents().assert_gone();
    assert_eq!(sleep.alive(), 0);
}

/// It would ask whether to copy the session, and end as after a success when nobody answers.
#[tokio::test]
async fn case_117_a_session_goes_on_in_another_repository() {
    let Some(subject) = Subject::pi() else { return };
    let bench = subject.bench([Reply::text("one"), Reply::text("two")]).await;
    let first = sandcastle::run(bench.options()).await.unwrap();
    let elsewhere = ScratchRepo::new().await.unwrap();
    let second = sandcastle::run(first.resume("go on").cwd(elsewhere.path())).await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", first.session_id()));
    let unknown = first.resume("go on").resume_session("00000000-0000-4000-8000-000000000000");
    assert_eq!(sandcastle::run(unknown).await.unwrap_err().kind(), ErrorKind::SessionNotFound);
    assert_eq!(bench.server.turns().len(), 2, "it was not started");
}

#[tokio::test]
async fn the_file_is_found_from_a_folder_behind_a_link() {
    let Some(subject) = Subject::pi() else { return };
    let bench = subject.bench([Reply::text("one"), Reply::text("two")]).await;
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("link");
    symlink(bench.repository.path(), &link).unwrap();
    let first = sandcastle::run(bench.options().cwd(&link)).await.unwrap();
    let file = first.iterations[0].session_file.as_ref().expect("a session file");
    assert!(fs::read_to_string(file).unwrap().contains(PROMPT));
    let second = sandcastle::run(first.resume("go on").cwd(bench.repository.path())).await.unwrap();
    assert_eq!(second.session_id(), first.session_id());
}
