//! Conversations that go on, and conversations that part.

use std::fs;

use sandcastle::{CancellationToken, RunResult, SessionId};

use super::{Bench, GOOD, N, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    a_session_is_resumed_by_its_id,
    a_session_is_resumed_from_a_result,
    a_session_is_forked_by_its_id,
    two_forks_of_one_result_part,
    every_iteration_is_a_session_of_its_own,
    w_22_nothing_of_the_first_turn_stops_the_next,
];

also_for![
    pi in with_pi:
    a_session_is_resumed_by_its_id,
    a_session_is_forked_by_its_id,
    two_forks_of_one_result_part,
    every_iteration_is_a_session_of_its_own,
];

also_for![
    gemini in with_gemini:
    a_session_is_resumed_by_its_id,
];

async fn a_session_is_resumed_by_its_id(subject: Subject) {
    let bench =
        subject.bench([Reply::text("first answer").usage(100, 10), Reply::text(GOOD).usage(2000, 200)]).await;
    let first = sandcastle::run(bench.prompted("first prompt")).await.unwrap();
    let options = bench.options().resume_session(first.session_id().unwrap().as_str());
    let second = sandcastle::run_with::<N>(options).await.unwrap();

    assert_eq!(second.output, N { n: 5 });
    assert_eq!(second.session_id(), first.session_id());
    assert_eq!(second.iterations[0].session_file, first.iterations[0].session_file);
    assert_eq!((first.usage.input_tokens, first.usage.output_tokens), (100, 10));
    assert_eq!((second.usage.input_tokens, second.usage.output_tokens), (2000, 200));
    let said = &bench.server.turns()[1];
    assert_eq!(said.assistant_texts(), ["first answer"]);
    assert!(said.user_texts().iter().any(|text| text == "first prompt"), "{:?}", said.user_texts());
}

async fn a_session_is_resumed_from_a_result(subject: Subject) {
    let replies = [("one", 10), ("two", 200), ("three", 3000)];
    let bench = subject.bench(replies.map(|(text, count)| Reply::text(text).usage(count, count))).await;
    let first = sandcastle::run(bench.prompted("begin")).await.unwrap();
    let second = first.resume("go on").await.unwrap();
    let third = second.resume("and on").await.unwrap();

    assert_eq!(first.session_id(), third.session_id());
    assert_eq!(bench.server.turns()[2].assistant_texts(), ["one", "two"]);
    for (result, (text, count)) in [first, second, third].iter().zip(replies) {
        assert_eq!((result.text.as_str(), result.usage.output_tokens), (text, count));
    }
}

async fn a_session_is_forked_by_its_id(subject: Subject) {
    let replies = [("one", 10), ("two", 200), ("three", 3000)];
    let bench = subject.bench(replies.map(|(text, count)| Reply::text(text).usage(count, count))).await;
    let parent = sandcastle::run(bench.prompted("begin")).await.unwrap();
    let before = fs::read(session_file(&parent)).unwrap();

    let options = bench.prompted("part").fork_session(parent.session_id().unwrap().as_str());
    let fork = sandcastle::run(options).await.unwrap();
    assert_eq!(fork.text, "two");
    assert_eq!((fork.usage.input_tokens, fork.usage.output_tokens), (200, 200));
    assert_ne!(fork.session_id(), parent.session_id());
    assert_ne!(session_file(&fork), session_file(&parent));
    assert_eq!(fs::read(session_file(&parent)).unwrap(), before);
    assert_eq!(bench.server.turns()[1].assistant_texts(), ["one"]);

    // The fork is a session like any other.
    let resumed = fork.resume("go on").await.unwrap();
    assert_eq!(resumed.session_id(), fork.session_id());
    assert_eq!((resumed.usage.input_tokens, resumed.usage.output_tokens), (3000, 3000));
    assert_eq!(bench.server.turns()[2].assistant_texts(), ["one", "two"]);
}

async fn two_forks_of_one_result_part(subject: Subject) {
    let bench = subject.bench([Reply::text("one"), Reply::text("forked").always()]).await;
    let parent = sandcastle::run(bench.prompted("begin")).await.unwrap();
    let before = fs::read(session_file(&parent)).unwrap();

    let (left, right) = tokio::join!(parent.fork("left"), parent.fork("right"));
    let (left, right) = (left.unwrap(), right.unwrap());
    let ids: Vec<&SessionId> = [&parent, &left, &right].map(|run| run.session_id().unwrap()).to_vec();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!(fs::read(session_file(&parent)).unwrap(), before);
    for (fork, other) in [("left", "right"), ("right", "left")] {
        let said = conversation(&bench, fork);
        assert!(said.iter().any(|text| text == "begin"), "{said:?}");
        assert!(said.iter().all(|text| text != other), "{said:?}");
    }
}

async fn every_iteration_is_a_session_of_its_own(subject: Subject) {
    let bench = subject
        .bench([
            Reply::text("One half is done.").usage(40, 4),
            Reply::text("All of it: <promise>COMPLETE</promise>").usage(500, 50),
        ])
        .await;
    let result = sandcastle::run(bench.options().max_iterations(5)).await.unwrap();

    assert_eq!(result.completion_signal.as_deref(), Some("<promise>COMPLETE</promise>"));
    let [first, second] = result.iterations.as_slice() else { panic!("{result:#?}") };
    assert!(first.session_id.is_some() && first.session_id != second.session_id, "{result:#?}");
    assert_eq!((first.usage.input_tokens, second.usage.input_tokens), (40, 500));
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (540, 54));
    assert_eq!(bench.server.turns()[1].assistant_texts(), [] as [&str; 0]);
}

/// A template with an argument, an output, a token that is cancelled afterwards.
async fn w_22_nothing_of_the_first_turn_stops_the_next(subject: Subject) {
    let bench = subject.bench([GOOD, "two", "three"].map(Reply::text)).await;
    let template = bench.repository.write("prompt.md", "Say {{WHAT}} as <result>.").unwrap();
    let token = CancellationToken::new();
    let mut options = bench.options_without_prompt().prompt_file(template).prompt_arg("WHAT", "it");
    options = options.cancel(token.clone()).completion_signal("two");
    let first = sandcastle::run_with::<N>(options).await.unwrap();
    token.cancel();

    let second = first.resume("Go on with {{WHAT}}.").await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", first.session_id()));
    assert_eq!(second.completion_signal.as_deref(), Some("two"));
    let third = second.fork("And {{WHAT}}?").await.unwrap();
    assert_eq!(third.text, "three");
    let said = bench.server.turns()[2].user_texts();
    for prompt in ["Say it as <result>.", "Go on with {{WHAT}}.", "And {{WHAT}}?"] {
        assert!(said.iter().any(|text| text == prompt), "{prompt}: {said:?}");
    }
}

fn session_file(result: &RunResult<()>) -> &std::path::Path {
    result.iterations[0].session_file.as_deref().expect("a session file")
}

/// What the user said in the conversation that ends with `newest`.
fn conversation(bench: &Bench, newest: &str) -> Vec<String> {
    let texts = bench.server.turns().into_iter().map(|turn| turn.user_texts());
    texts.into_iter().find(|texts| texts.iter().any(|text| text == newest)).expect("that request")
}
