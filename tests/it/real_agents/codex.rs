//! What only Codex does.

use sandcastle::ErrorKind;

use super::endings::{cancelled, sleepers};
use super::{GOOD, N, PROMPT, Subject};
use crate::support::model_server::Reply;
use crate::support::processes::UniqueSleep;

#[tokio::test]
async fn a_prompt_beyond_its_limit_is_refused_by_name() {
    let Some(subject) = Subject::codex() else { return };
    let bench = subject.bench([Reply::text(GOOD)]).await;
    let prompt = format!("{PROMPT}{}", "é".repeat(1_048_577 - PROMPT.len()));
    let error = sandcastle::run_with::<N>(bench.prompted(&prompt)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    assert!(error.is_entry_check() && error.work().is_none(), "{error:#?}");
    assert!(error.to_string().contains("1048577 characters to `codex`"), "{error:#}");
    assert!(bench.server.requests().is_empty());

    // The limit is the program's own: one character less is taken.
    let prompt: String = prompt.chars().skip(1).collect::<String>();
    let prompt = format!("{}<result>", prompt.chars().skip("<result>".len()).collect::<String>());
    sandcastle::run_with::<N>(bench.prompted(&prompt)).await.unwrap();
    assert!(bench.server.turns()[0].user_texts().contains(&prompt));
}

#[tokio::test]
async fn the_launcher_of_npm_leaves_nothing_behind() {
    let Some(subject) = Subject::codex_launcher() else { return };
    let sleep = UniqueSleep::new();
    let bench = subject.bench([sleepers(&sleep)]).await;
    cancelled(&bench, sleep.wait_for(2)).await;
    assert_eq!(sleep.alive(), 0);
}
