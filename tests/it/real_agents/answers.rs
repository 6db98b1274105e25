//! From what a program prints to a value, and what is not taken for one.

use sandcastle::{AgentEvent, AnswerGuarantee, AttemptOutcome, Exit, OutputSpec, Stage};
use serde_json::json;

use super::{GOOD, N, Seen, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    a_value_in_one_turn,
    a_value_whose_shape_is_known_at_run_time,
    a_commit_and_then_a_value,
    a_tag_that_a_tool_call_interrupts,
    a_tag_in_two_pieces_of_one_answer,
    only_what_is_said_is_an_answer,
    a_long_prompt_arrives,
];

also_for![
    pi in with_pi:
    a_value_in_one_turn,
    a_commit_and_then_a_value,
    a_tag_that_a_tool_call_interrupts,
    a_tag_in_two_pieces_of_one_answer,
    only_what_is_said_is_an_answer,
    a_long_prompt_arrives,
];

also_for![
    gemini in with_gemini:
    a_value_in_one_turn,
    a_commit_and_then_a_value,
    a_tag_that_a_tool_call_interrupts,
    a_tag_in_two_pieces_of_one_answer,
];

async fn a_value_in_one_turn(subject: Subject) {
    let bench = subject.bench([Reply::text(format!("Here: {GOOD} Bye.")).usage(120, 34)]).await;
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();

    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, format!("Here: {GOOD} Bye."));
    assert_eq!(result.branch, "main");
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (120, 34));
    assert_eq!(result.warnings, [] as [&str; 0]);
    let [iteration] = result.iterations.as_slice() else { panic!("{result:#?}") };
    assert_eq!(iteration.exit, Exit::Code(0));
    assert_eq!(iteration.usage, result.usage);

    let session = result.session_id().expect("a session");
    let file = iteration.session_file.as_ref().expect("a session file");
    assert!(file.starts_with(bench.home.path()), "{}", file.display());
    // Gemini CLI names it by the first part of the id.
    assert!(file.to_string_lossy().contains(&session.as_str()[..8]), "{}", file.display());
    assert!(std::fs::read_to_string(file).unwrap().contains(super::PROMPT));
    assert_eq!(bench.server.turns().len(), 1);
}

async fn a_value_whose_shape_is_known_at_run_time(subject: Subject) {
    let bench = subject.bench([Reply::text(GOOD)]).await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let spec = OutputSpec::json("result", schema).unwrap();
    let result = sandcastle::run_spec(bench.options(), spec).await.unwrap();
    assert_eq!(result.output, json!({ "n": 5 }));
}

async fn a_commit_and_then_a_value(subject: Subject) {
    let work = "echo new > new.txt && git add new.txt && git commit --quiet --message 'Add a file'";
    let bench = subject.bench([Reply::text("Working. ").and_shell(work), Reply::text(GOOD)]).await;
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();

    assert_eq!(result.output, N { n: 5 });
    let [commit] = result.commits.as_slice() else { panic!("{result:#?}") };
    assert_eq!(commit.subject, "Add a file");
    assert_eq!(commit.sha, bench.repository.git(["rev-parse", "HEAD"]).await.unwrap().as_str());
    assert_eq!(std::fs::read_to_string(bench.repository.path().join("new.txt")).unwrap(), "new\n");
    let [attempt] = result.attempts.as_slice() else { panic!("{result:#?}") };
    assert_eq!((attempt.outcome, &attempt.commits), (AttemptOutcome::Accepted, &result.commits));
    // Both requests of the turn count.
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (22, 14));
}

async fn a_tag_that_a_tool_call_interrupts(subject: Subject) {
    let bench = subject
        .bench([Reply::text("<resu").and_shell("true"), Reply::text("lt>{\"n\":5}</re").and_text("sult>")])
        .await;
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, GOOD);
}

async fn a_tag_in_two_pieces_of_one_answer(subject: Subject) {
    let bench = subject.bench([Reply::text("<result>{\"n\"").and_text(":5}</result>")]).await;
    let result = sandcastle::run_with::<N>(bench.options()).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, GOOD);
}

/// Thinking and tools show what looks like an answer; the model says none.
async fn only_what_is_said_is_an_answer(subject: Subject) {
    let show = format!("echo '{GOOD}'");
    let bench = subject.bench([Reply::thinking(GOOD).and_shell(show), Reply::text("Finished.")]).await;
    let seen = Seen::default();
    let error = sandcastle::run_with::<N>(seen.by(bench.options())).await.unwrap_err();

    let output = error.structured_output().unwrap_or_else(|| panic!("{error:#?}"));
    assert_eq!(output.stage(), Stage::Missing);
    assert_eq!(error.work().unwrap().text, "Finished.");
    let thought = |event: &AgentEvent| matches!(event, AgentEvent::Thinking { text } if text.contains(GOOD));
    assert!(seen.count(thought) > 0, "{seen:#?}");
    assert!(bench.server.turns()[1].tool_results()[0].contains(GOOD));
}

async fn a_long_prompt_arrives(subject: Subject) {
    let prompt = format!("{}\n{}", super::PROMPT, "word ".repeat(60_000) + "end");
    let bench = subject.bench([Reply::text(GOOD)]).await;
    sandcastle::run_with::<N>(bench.prompted(&prompt)).await.unwrap();
    assert!(bench.server.turns()[0].user_texts().contains(&prompt));
}
