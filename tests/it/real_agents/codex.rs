//! What only Codex does.

use sandcastle::ErrorKind;

use super::endings::{cancelled, sleepers};
use super::{GOOD, LONG, N, Subject};
use crate::support::model_server::Reply;
use crate::support::processes::UniqueSleep;

/// The most characters that it takes.
const MOST: usize = 1_048_576;

#[tokio::test]
async fn a_prompt_beyond_its_limit_is_refused_by_name() {
    let Some(subject) = Subject::codex() else { return };
    let bench = subject.bench([Reply::text(GOOD)]).await;
    let longest = format!("<result>{}", "é".repeat(MOST - "<result>".len()));
    let error = sandcastle::run_with::<N>(bench.prompted(&format!("{longest}é"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    assert!(error.is_entry_check() && error.work().is_none(), "{error:#?}");
    assert!(error.to_string().contains("1048577 characters to `codex`"), "{error:#}");
    assert!(bench.server.requests().is_empty());

    // The limit is the program's own.
    sandcastle::run_with::<N>(bench.prompted(&longest)).await.unwrap();
    assert!(bench.server.turns()[0].user_texts().contains(&longest));
}

#[tokio::test]
async fn a_session_that_is_at_work_is_not_resumed() {
    let Some(subject) = Subject::codex() else { return };
    let bench = subject.bench([Reply::text("one"), Reply::silence(LONG)]).await;
    let first = sandcastle::run(bench.options()).await.unwrap();
    let mut busy = Box::pin(sandcastle::run(first.resume("go on")));
    tokio::select! {
        ended = &mut busy => panic!("it hangs: {ended:?}"),
        () = bench.asked(2) => {}
    }
    let error = sandcastle::run(first.resume("meanwhile")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("already has an active writer"), "{error:#}");
    assert_eq!(bench.server.turns().len(), 2);
}

#[tokio::test]
async fn the_launcher_of_npm_leaves_nothing_behind() {
    let Some(subject) = Subject::codex_launcher() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep)]).await;
    cancelled(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
}
