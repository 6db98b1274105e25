//! Work first, and the output afterwards: the question goes to the session of the work, and changes nothing.

use std::sync::{Arc, Mutex};

use sandcastle::{AnswerGuarantee, BranchStrategy, OutputStrategy, RunEvent, TurnMode};
use serde_json::json;

use super::{BAD, Bench, GOOD, N, Retried, Subject, also_for, for_both_agents};
use crate::support::model_server::Reply;

for_both_agents![
    the_session_of_the_last_iteration_is_asked,
    a_bad_answer_is_corrected_without_tools,
    an_edit_in_the_question_does_not_happen,
    the_question_alone_has_the_schema,
];

also_for![
    pi in with_pi:
    the_session_of_the_last_iteration_is_asked,
    a_bad_answer_is_corrected_without_tools,
    an_edit_in_the_question_does_not_happen,
];

also_for![
    opencode in with_opencode:
    the_session_of_the_last_iteration_is_asked,
    an_edit_in_the_question_does_not_happen,
];

also_for![
    gemini in with_gemini:
    the_session_of_the_last_iteration_is_asked,
    an_edit_in_the_question_does_not_happen,
];

const QUESTION: &str = "Report as <result>JSON</result>.";

/// Work that is committed, in one iteration.
fn work() -> [Reply; 2] {
    let commit = "git commit --quiet --allow-empty --message Work";
    [Reply::shell(commit).usage(1000, 100), Reply::text("The work.").usage(10, 1)]
}

async fn the_session_of_the_last_iteration_is_asked(subject: Subject) {
    let replies = work().into_iter().chain(work()).chain([Reply::text(GOOD).usage(200, 20)]);
    let bench = subject.bench(replies).await;
    let options = bench.prompted("Do it.").max_iterations(2).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();

    assert_eq!((result.output.n, result.text.as_str(), result.commits.len()), (5, "The work.", 2));
    let modes: Vec<_> = result.iterations.iter().map(|iteration| iteration.mode).collect();
    assert_eq!(modes, [TurnMode::Work, TurnMode::Work, TurnMode::SpeakOnly]);
    let [first, second, third] = &result.iterations[..] else { panic!("{result:#?}") };
    assert_ne!(first.session_id, second.session_id);
    assert_eq!(second.session_id, third.session_id);
    assert_eq!((third.usage.input_tokens, third.usage.output_tokens), (200, 20));
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (2220, 222));
    assert_eq!(bench.repository.git(["log", "-1", "--format=%s", "main"]).await.unwrap(), "Work");
    let undone = result.warnings.iter().filter(|warning| warning.contains("undone")).count();
    assert_eq!(undone, 0, "{:?}", result.warnings);

    let turns = bench.server.turns();
    let question = turns.last().unwrap();
    let said = question.user_texts();
    assert!(said.iter().any(|text| text == "Do it."), "{said:?}");
    assert!(said.last().unwrap().contains(QUESTION), "{said:?}");
    assert!(question.assistant_texts().iter().any(|text| text == "The work."), "the same conversation");
}

async fn a_bad_answer_is_corrected_without_tools(subject: Subject) {
    let replies = work().into_iter().chain([Reply::text(BAD), Reply::text(GOOD)]);
    let bench = subject.bench(replies).await;
    let result =
        sandcastle::run_with_extraction::<Retried>(bench.prompted("Do it."), QUESTION).await.unwrap();
    assert_eq!((result.output.n, result.attempts.len(), result.commits.len()), (5, 2, 1));
    assert!(result.iterations[1..].iter().all(|iteration| iteration.mode == TurnMode::SpeakOnly));
}

impl Bench {
    /// A call of the program's own shell tool, whether it is offered or not.
    fn insists_on(&self, command: &str) -> Reply {
        match self.agent.name() {
            "codex" => Reply::shell(command),
            "claude-code" => Reply::tool("Bash", json!({ "command": command, "description": "Edits" })),
            "gemini" => Reply::tool("run_shell_command", json!({ "command": command })),
            _ => Reply::tool("bash", json!({ "command": command, "description": "Edits" })),
        }
    }
}

async fn an_edit_in_the_question_does_not_happen(subject: Subject) {
    let bench = subject.bench([]).await;
    let edit = bench.insists_on("echo edited > README.md; echo late > late.txt; git commit -qam Late");
    let bench = subject.bench(work().into_iter().chain([edit, Reply::text(GOOD).always()])).await;
    let before = std::fs::read_to_string(bench.repository.path().join("README.md")).unwrap();
    let undone = Arc::new(Mutex::new(0));
    let count = Arc::clone(&undone);
    let options = bench.prompted("Do it.").on_event(move |event| {
        *count.lock().unwrap() += u32::from(matches!(event, RunEvent::ChangeUndone { .. }));
    });
    let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();
    assert_eq!((result.output.n, result.commits.len()), (5, 1));
    assert_eq!(*undone.lock().unwrap(), 0, "the program itself has kept it from that: {:?}", result.warnings);
    assert_eq!(std::fs::read_to_string(bench.repository.path().join("README.md")).unwrap(), before);
    assert!(!bench.repository.path().join("late.txt").exists());
    assert_eq!(bench.repository.git(["log", "-1", "--format=%s"]).await.unwrap(), "Work");
}

async fn the_question_alone_has_the_schema(subject: Subject) {
    let replies = work().into_iter().chain([Reply::structured(json!({ "n": 5 }))]);
    let bench = subject.bench(replies).await;
    let options = bench.prompted("Do it.").output_strategy(OutputStrategy::Native);
    let result = sandcastle::run_with_extraction::<N>(options, "Report.").await.unwrap();
    assert_eq!((result.output.n, result.commits.len()), (5, 1));
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
    let with: Vec<_> = bench.schemas().iter().map(Option::is_some).collect();
    assert_eq!(with, [false, false, true]);
}
