//! What Gemini CLI does in a way of its own.

use std::time::Duration;

use rustix::process::Signal;
use sandcastle::event::FailureKind;
use sandcastle::testing::ScratchRepo;
use sandcastle::{AgentEvent, ErrorKind, Stage};

use super::failures::{assert_says, failure};
use super::{GOOD, LONG, N, PROMPT, Seen, Subject};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::RealAgent;
use crate::support::repository::Repository;

/// What the model thought is not printed at all; what a tool shows and the prompt says are.
#[tokio::test]
async fn only_what_is_said_is_an_answer() {
    let Some(subject) = Subject::gemini() else { return };
    let show = format!("echo '{GOOD}'");
    let bench = subject.bench([Reply::thinking(GOOD).and_shell(show), Reply::text("Finished.")]).await;
    let seen = Seen::default();
    let prompt = format!("{PROMPT} For example {GOOD}");
    let error = sandcastle::run_with::<N>(seen.by(bench.prompted(&prompt))).await.unwrap_err();

    let output = error.structured_output().unwrap_or_else(|| panic!("{error:#?}"));
    assert_eq!(output.stage(), Stage::Missing);
    assert_eq!(error.work().unwrap().text, "Finished.");
    assert!(bench.server.turns()[1].tool_results()[0].contains(GOOD));
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::Thinking { .. })), 0, "{seen:#?}");
    assert_eq!(seen.count(|event| matches!(event, AgentEvent::Unknown { .. })), 0, "{seen:#?}");
}

/// The program repeats the prompt, and when it exits it drops what nobody has read yet: a model that answers at once,
/// as no real one does, would make it lose the end of its output.
#[tokio::test]
async fn a_long_prompt_arrives() {
    let Some(subject) = Subject::gemini() else { return };
    let prompt = format!("{PROMPT}\n{}", "word ".repeat(60_000) + "end");
    let bench = subject.bench([Reply::text(GOOD).slowly(Duration::from_secs(2))]).await;
    sandcastle::run_with::<N>(bench.prompted(&prompt)).await.unwrap();
    assert!(bench.server.turns()[0].user_texts().contains(&prompt));
}

#[tokio::test]
async fn silence_ends_a_request() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([Reply::silence(LONG)]).await;
    // The program is silent while it starts, too.
    let options = bench.options().idle_timeout(Duration::from_secs(15));
    let error = sandcastle::run(options).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
    assert_eq!(bench.server.turns().len(), 1);
}

#[tokio::test]
async fn a_connection_that_is_lost() {
    let Some(subject) = Subject::gemini() else { return };
    let error = failure(&subject, Reply::dropped(), FailureKind::Transport).await;
    assert_says(&error, "fetch failed", "try again later");
}

/// The program asks four times, and ends with exit code 0 all the same.
#[tokio::test]
async fn w_33_an_answer_that_is_empty_is_no_success() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([Reply::empty().always()]).await;
    let error = sandcastle::run(bench.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("without saying anything"), "{error:#}");
    assert!(error.work().unwrap().warnings[0].contains("an empty response"), "{error:#?}");
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(error.structured_output().expect("the reason").stage(), Stage::Empty, "{error:#}");
}

/// The program says of an answer that ran into the limit what it says of any other.
#[tokio::test]
async fn an_answer_that_is_cut_off_is_not_closed() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([Reply::text("<result>{\"n\":").at_output_limit().always()]).await;
    let error = sandcastle::run_with::<N>(bench.options()).await.unwrap_err();
    assert_eq!(error.structured_output().expect("the reason").stage(), Stage::Unclosed, "{error:#}");
}

#[tokio::test]
async fn a_session_that_nobody_knows() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([Reply::text("one")]).await;
    let first = sandcastle::run(bench.options()).await.unwrap();
    // `1` and `latest` would be the first session to the program.
    for unknown in ["00000000-0000-4000-8000-000000000000", "1", "latest"] {
        let error = sandcastle::run(bench.options().resume_session(unknown)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error:#}");
        assert!(error.to_string().contains(unknown) && !error.hints().is_empty(), "{error:#}");
    }

    let elsewhere = ScratchRepo::new().await.unwrap();
    let error = sandcastle::run(first.resume("go on").cwd(elsewhere.path())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error:#}");
    assert!(error.hints()[0].contains("in the same folder"), "{error:#}");
    assert_eq!(bench.server.turns().len(), 1);
}

#[tokio::test]
async fn a_fork_is_refused_at_entry() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([]).await;
    let session = "00000000-0000-4000-8000-000000000000";
    let error = sandcastle::run(bench.options().fork_session(session)).await.unwrap_err();
    assert!(error.is_entry_check(), "{error:#?}");
    assert!(bench.server.requests().is_empty());
}

/// An answer that broke off is asked for again without a word; both are printed, and the later one counts.
#[tokio::test]
async fn an_answer_that_is_asked_for_again_is_found() {
    let Some(subject) = Subject::gemini() else { return };
    let settings = |bench: &super::Bench| bench.home.path().join(".gemini/settings.json");
    let bench = subject.bench([Reply::text("<result>{\"n\":").cut_short(), Reply::text(GOOD)]).await;
    let few = std::fs::read_to_string(settings(&bench)).unwrap();
    std::fs::write(settings(&bench), few.replace("\"maxAttempts\":1", "\"maxAttempts\":2")).unwrap();
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, format!("<result>{{\"n\":{GOOD}"));
    assert_eq!(bench.server.turns().len(), 2);
}

/// What it keeps is in its home and in the temporary folder.
#[tokio::test]
async fn the_work_tree_is_left_as_it_was() {
    let Some(subject) = Subject::gemini() else { return };
    let bench = subject.bench([Reply::text(GOOD)]).await;
    sandcastle::run_with::<N>(bench.options()).await.unwrap();
    // What is ours hides itself.
    let left = bench.repository.git(["status", "--porcelain", "--ignored"]).await.unwrap();
    assert_eq!(left, "!! .sandcastle/");
    assert_eq!(bench.server.requests().len(), 1, "nothing but the turn");
}

/// It prints no `result` then, and exits with success: only the line tells that a turn is over.
#[test]
fn a_signal_ends_a_request_with_success_and_without_a_result() {
    let Some(agent) = RealAgent::gemini() else { return };
    let server = ModelServer::start([Reply::silence(LONG)]);
    let (home, repository) = (agent.home(&server), Repository::new());
    // Not to the script that starts the real program and passes no signal on.
    let home = home.with(&[("GEMINI_CLI_NO_RELAUNCH", "1".to_owned())]);
    let running = agent.turn(&home, repository.path()).input("hello").start();
    server.wait_for_turns(1);
    std::thread::sleep(Duration::from_millis(300));
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    assert_eq!(finished.events_of("result").len(), 0, "{finished:#?}");
}

/// A status is cut to what an exit code can hold: 401 is 145, and 512 would be a success.
#[test]
fn a_refusal_is_the_exit_code() {
    let Some(agent) = RealAgent::gemini() else { return };
    let server = ModelServer::start([Reply::status(401).always()]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let finished = agent.turn(&home, repository.path()).input("hello").run();
    assert_eq!(finished.code(), Some(401 % 256), "{finished:#?}");
    assert_eq!(finished.event("result")["status"], "error", "{finished:#?}");
}
