//! Runs that are ended from outside: the program and all it started are gone, and the session can go on.

use std::time::Duration;

use sandcastle::{CancellationToken, Error, ErrorKind};

use super::{BAD, Bench, GOOD, LONG, N, PROMPT, Retried, Seen, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;
use crate::support::processes::UniqueSleep;

for_both_agents![
    cancelling_ends_a_tool,
    cancelling_ends_a_request,
    dropping_ends_a_tool,
    dropping_ends_a_request,
    cancelling_ends_a_correction,
    silence_ends_a_request,
    what_a_program_leaves_behind_is_ended,
];

also_for![
    gemini in with_gemini:
    cancelling_ends_a_tool,
    cancelling_ends_a_request,
    dropping_ends_a_tool,
    what_a_program_leaves_behind_is_ended,
];

/// A command that sleeps, and leaves another sleeper in a session of its own.
pub(super) fn sleepers(sleep: &UniqueSleep) -> Reply {
    let seconds = sleep.seconds();
    Reply::text("Working.")
        .and_shell(format!("setsid sleep {seconds} </dev/null >/dev/null 2>&1 & sleep {seconds}"))
}

/// Cancels a run at this moment.
pub(super) async fn cancelled(bench: &Bench, moment: impl Future<Output = ()>) -> Error {
    let token = CancellationToken::new();
    let run = tokio::spawn(sandcastle::run_with::<N>(bench.options().cancel(token.clone())));
    moment.await;
    assert!(bench.residents().are_there());
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    bench.residents().assert_gone();
    assert!(error.is_cancelled(), "{error:#}");
    error
}

/// Goes on with the session of a run that was ended.
async fn go_on(bench: &Bench, session: &str) {
    let asked = bench.server.turns().len();
    let result = sandcastle::run_with::<N>(bench.options().resume_session(session)).await.unwrap();
    assert_eq!((result.output.n, result.session_id().unwrap().as_str()), (5, session));
    let texts = bench.server.turns()[asked].user_texts();
    let prompts = texts.iter().filter(|text| text.trim_end() == PROMPT).count();
    assert_eq!(prompts, 2, "the prompt of the run that was ended, and the new one: {texts:#?}");
}

async fn cancelling_ends_a_tool(subject: Subject) {
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep), Reply::text(GOOD)]).await;
    let error = cancelled(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
    let work = error.work().unwrap();
    assert_eq!(work.text, "Working.");
    assert!(work.session_file().is_some());
    go_on(&bench, work.session_id().unwrap()).await;
}

async fn cancelling_ends_a_request(subject: Subject) {
    let bench = subject.bench([Reply::silence(LONG), Reply::text(GOOD)]).await;
    let error = cancelled(&bench, bench.asked(1)).await;
    go_on(&bench, error.work().unwrap().session_id().unwrap()).await;
}

async fn dropping_ends_a_tool(subject: Subject) {
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep), Reply::text(GOOD)]).await;
    let session = dropped(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
    go_on(&bench, &session).await;
}

async fn dropping_ends_a_request(subject: Subject) {
    let bench = subject.bench([Reply::silence(LONG), Reply::text(GOOD)]).await;
    let session = dropped(&bench, bench.asked(1)).await;
    go_on(&bench, &session).await;
}

/// Drops a run at this moment, and returns the session that it had.
async fn dropped(bench: &Bench, moment: impl Future<Output = ()>) -> String {
    let seen = Seen::default();
    let mut run = Box::pin(sandcastle::run_with::<N>(seen.by(bench.options())));
    tokio::select! {
        ended = &mut run => panic!("it hangs: {ended:?}"),
        () = async { tokio::join!(moment, bench.remembered()); } => {}
    }
    assert!(bench.residents().are_there());
    drop(run);
    bench.residents().assert_gone();
    seen.session().expect("a session")
}

/// The correction of an answer is ended as any other turn, and what the answer lacked is not forgotten.
async fn cancelling_ends_a_correction(subject: Subject) {
    let bench = subject.bench([Reply::text(BAD).usage(30, 3), Reply::silence(LONG)]).await;
    let token = CancellationToken::new();
    let run = tokio::spawn(sandcastle::run_with::<Retried>(bench.options().cancel(token.clone())));
    bench.asked(2).await;
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    bench.residents().assert_gone();
    assert!(error.is_cancelled(), "{error:#}");
    assert_eq!(error.structured_output().unwrap().raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(error.work().unwrap().usage.input_tokens, 30);
}

async fn what_a_program_leaves_behind_is_ended(subject: Subject) {
    let sleep = UniqueSleep::new();
    let command = format!("setsid sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds());
    let bench = subject.bench([Reply::shell(command), Reply::text(GOOD)]).await;
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();
    assert_eq!(sleep.alive(), 0);
    bench.residents().assert_gone();
    assert!(result.warnings.iter().any(|warning| warning.contains("left behind")), "{:?}", result.warnings);
}

async fn silence_ends_a_request(subject: Subject) {
    let bench = subject.bench([Reply::silence(LONG), Reply::text(GOOD)]).await;
    let options = bench.options().idle_timeout(Duration::from_secs(5));
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    bench.residents().assert_gone();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
    assert_eq!(bench.server.turns().len(), 1);
    go_on(&bench, error.work().unwrap().session_id().unwrap()).await;
}
