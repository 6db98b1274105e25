//! Sessions in a store of the run's: kept there after a turn, and brought from there to an agent with another home.

use std::fs;

use sandcastle::{BranchStrategy, RunEvent};

use super::{PROMPT, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    a_session_in_a_store_outlives_the_home_of_its_agent,
    w_16_a_session_that_is_not_captured_costs_no_commit,
];

also_for![
    pi in with_pi:
    a_session_in_a_store_outlives_the_home_of_its_agent,
];

async fn a_session_in_a_store_outlives_the_home_of_its_agent(subject: Subject) {
    let bench = subject.bench([Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    let store = tempfile::tempdir().unwrap();
    let strategy = BranchStrategy::merge_to_head;
    let options = bench.options().session_store(store.path()).branch_strategy(strategy());
    let first = sandcastle::run(options).await.unwrap();
    let id = first.session_id().expect("a session").clone();
    let file = first.iterations[0].session_file.clone().expect("its file");
    assert!(file.starts_with(store.path().canonicalize().unwrap()), "{}", file.display());
    let kept = fs::read(&file).unwrap();

    // Another home, as another machine or container has: nothing but the store knows the session.
    let other = subject.program.home(&bench.server);
    let resumed = bench
        .prompted_at(&other, bench.repository.path(), "go on")
        .session_store(store.path())
        .branch_strategy(strategy())
        .resume_session(id.as_str());
    let second = sandcastle::run(resumed).await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", Some(&id)));
    let heard = bench.server.turns()[1].user_texts().join(" ");
    assert!(heard.contains(PROMPT), "the history came along: {heard}");
    let grown = fs::read(&file).unwrap();
    assert!(grown.len() > kept.len(), "what was said is in the store again");

    let fork = bench
        .prompted_at(&other, bench.repository.path(), "another way")
        .session_store(store.path())
        .fork_session(id.as_str());
    let third = sandcastle::run(fork).await.unwrap();
    assert_ne!(third.session_id(), Some(&id));
    assert_eq!(fs::read(&file).unwrap(), grown, "a fork leaves its origin as it is");
}

async fn w_16_a_session_that_is_not_captured_costs_no_commit(subject: Subject) {
    let bench = subject
        .bench([Reply::shell("echo 1 >made && git add made && git commit -qm Work"), Reply::text("ok")])
        .await;
    let in_the_way = tempfile::NamedTempFile::new().unwrap();
    let options =
        bench.options().session_store(in_the_way.path()).branch_strategy(BranchStrategy::merge_to_head());
    let captured = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&captured);
    let options = options.on_event(move |event| {
        if matches!(event, RunEvent::SessionCaptured { .. }) {
            seen.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits.len()), ("main", 1));
    assert!(bench.repository.path().join("made").exists(), "it has landed");
    assert!(
        result.warnings.iter().any(|warning| warning.contains("was not captured")),
        "{:?}",
        result.warnings
    );
    assert!(!captured.load(std::sync::atomic::Ordering::Relaxed));
    assert!(result.session_id().is_some());
}
