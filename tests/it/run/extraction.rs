//! Work first, and the output afterwards: two phases in one workplace.

use std::path::Path;
use std::sync::{Arc, Mutex};

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder, SchemaDelivery, TurnMode};
use sandcastle::event::FailureKind;
use sandcastle::journal::{RescuedWork, RunState, Runs};
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{
    Agent, AgentEvent, AnswerGuarantee, AttemptOutcome, BranchStrategy, ErrorKind, Extraction, OutputSpec,
    OutputStrategy, Result, RunEvent, RunOptions, Stage,
};
use serde_json::json;

use super::{Bench, N, Retried, say};
use crate::support::desk::wait_for;
use crate::support::process::Invocation;
use crate::support::requirement::variable;

const QUESTION: &str = "Report as <result>JSON</result>.";
const GOOD: &str = r#"<result>{"n":5}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

fn work(bench: &Bench, turns: impl IntoIterator<Item = Turn>) -> RunOptions {
    work_of(bench, bench.agent(turns))
}

fn work_of(bench: &Bench, agent: impl Agent) -> RunOptions {
    RunOptions::new(agent, sandcastle::NoSandbox::new())
        .cwd(bench.repository.path())
        .prompt("Do it.")
        .logging(sandcastle::Logging::file(bench.log()))
}

#[tokio::test]
async fn w_47_any_number_of_iterations_and_then_the_output() {
    let bench = Bench::new().await;
    let produce = Turn::new().shell("date +%N > x-$$").commit("Work").say("I did it.").usage(10, 1);
    let answer = say("Here: ").say(GOOD).usage(20, 2);
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let options = work(&bench, [produce, answer])
        .max_iterations(3)
        .branch_strategy(BranchStrategy::merge_to_head())
        .on_event(move |event| seen.lock().unwrap().push(event.clone()));
    let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();

    assert_eq!(result.output, N { n: 5 });
    assert_eq!(result.text, "I did it.");
    assert_eq!((result.commits.len(), result.branch.as_str()), (3, "main"));
    let modes: Vec<_> = result.iterations.iter().map(|iteration| iteration.mode).collect();
    assert_eq!(modes, [TurnMode::Work, TurnMode::Work, TurnMode::Work, TurnMode::SpeakOnly]);
    assert_eq!(result.iterations[3].session_id, result.iterations[2].session_id);
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (50, 5));
    assert_eq!(result.iterations[3].usage.input_tokens, 20);
    assert_eq!(result.warnings, [] as [String; 0]);
    let prompts = bench.prompts(result.session_id().unwrap());
    assert_eq!(prompts, ["Do it.", QUESTION]);

    let events = events.lock().unwrap();
    let at = |wanted: &dyn Fn(&RunEvent) -> bool| events.iter().position(wanted).unwrap();
    let asked = at(&|event| matches!(event, RunEvent::ExtractionStarted { .. }));
    assert!(at(&|event| matches!(event, RunEvent::IterationStarted { number: 3 })) < asked);
    assert!(asked < at(&|event| matches!(event, RunEvent::IterationStarted { number: 4 })));
    let merged = events.iter().rposition(|event| matches!(event, RunEvent::Merged { .. })).unwrap();
    assert!(asked < merged, "the last iteration lands when the answer is there");
    assert!(bench.logged().contains("the work is done"), "{}", bench.logged());
}

#[tokio::test]
async fn a_completion_signal_ends_the_work_and_is_in_the_result() {
    let bench = Bench::new().await;
    let turns = [say("All done. <promise>COMPLETE</promise>"), say(GOOD)];
    let options = work(&bench, turns).max_iterations(5);
    let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();
    assert_eq!((result.output.n, result.iterations.len()), (5, 2));
    assert_eq!(result.completion_signal.as_deref(), Some("<promise>COMPLETE</promise>"));
}

#[tokio::test]
async fn a_prompt_file_and_its_arguments_are_those_of_the_work_alone() {
    let bench = Bench::new().await;
    let file = bench.state.path().join("prompt.md");
    std::fs::write(&file, "Fix {{WHAT}}.").unwrap();
    let options = RunOptions::new(bench.agent([say("ok"), say(GOOD)]), sandcastle::NoSandbox::new())
        .cwd(bench.repository.path())
        .prompt_file(&file)
        .prompt_arg("WHAT", "it")
        .logging(sandcastle::Logging::off());
    let question = "Report {{WHAT}} as <result>JSON</result>.";
    let result = sandcastle::run_with_extraction::<N>(options, question.to_owned()).await.unwrap();
    assert_eq!(bench.prompts(result.session_id().unwrap()), ["Fix it.", question]);
}

#[tokio::test]
async fn an_output_that_is_described_at_run_time_is_extracted_too() {
    let bench = Bench::new().await;
    let spec = OutputSpec::text("summary").unwrap();
    let turns = [say("ok"), say("<summary> short </summary>")];
    let result =
        sandcastle::run_spec_with_extraction(work(&bench, turns), spec, "As <summary>text</summary>.");
    assert_eq!(result.await.unwrap().output, "short");
}

#[tokio::test]
async fn an_answer_is_corrected_twice_unless_something_else_is_said() {
    let bench = Bench::new().await;
    let attempts = async |extraction: Extraction| {
        let options = work(&bench, [say("ok"), say(BAD), say(BAD), say(BAD), say(BAD), say(BAD), say(GOOD)]);
        let error = sandcastle::run_with_extraction::<N>(options, extraction).await.unwrap_err();
        error.structured_output().unwrap().attempts.len()
    };
    assert_eq!(attempts(QUESTION.into()).await, 3);
    assert_eq!(attempts(Extraction::new(QUESTION).max_retries(0)).await, 1);
    assert_eq!(attempts(Extraction::new(QUESTION).max_retries(4)).await, 5);

    let options = work(&bench, [say("ok"), say(BAD)]);
    let question = Extraction::new(QUESTION).max_retries(11);
    let error = sandcastle::run_with_extraction::<N>(options, question).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    let spec = OutputSpec::of::<Retried>().max_retries(1).unwrap();
    let options = work(&bench, [say("ok"), say(BAD), say(BAD), say(GOOD)]);
    let error = sandcastle::run_spec_with_extraction(options, spec, QUESTION).await.unwrap_err();
    assert_eq!(error.structured_output().unwrap().attempts.len(), 2);
}

#[tokio::test]
async fn a_second_answer_that_is_good_is_the_output() {
    let bench = Bench::new().await;
    let produce = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let result = sandcastle::run_with_extraction::<N>(work(&bench, [produce, say(BAD), say(GOOD)]), QUESTION)
        .await
        .unwrap();
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::SchemaValidate, AttemptOutcome::Accepted]);
    assert!(result.attempts.iter().all(|attempt| attempt.commits.is_empty()), "they are those of the work");
    assert_eq!(result.commits.len(), 1);
    assert!(result.iterations[1..].iter().all(|iteration| iteration.mode == TurnMode::SpeakOnly));
}

#[tokio::test]
async fn a_question_that_does_not_get_through_is_put_again() {
    let bench = Bench::new().await;
    let failing = || Turn::new().fail(FailureKind::Transport, "overloaded");
    let turns = [say("ok"), failing(), failing(), say(GOOD)];
    let question = Extraction::new(QUESTION).max_retries(0);
    let result = sandcastle::run_with_extraction::<N>(work(&bench, turns), question).await.unwrap();
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Transport, AttemptOutcome::Transport, AttemptOutcome::Accepted]);
    assert_eq!(bench.prompts(result.session_id().unwrap())[1..], [QUESTION, QUESTION, QUESTION]);
}

#[tokio::test]
async fn without_a_valid_answer_nothing_that_was_produced_is_lost() {
    let bench = Bench::new().await;
    let produce = Turn::new().write_file("x", "1").commit("Work").write_file("y", "2").say("The work.");
    let options = work(&bench, [produce, say("I say nothing of the kind."), say(BAD), say(BAD)])
        .branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let output = error.structured_output().unwrap();
    assert_eq!((output.stage(), output.attempts.len()), (Stage::SchemaValidate, 3));
    assert_eq!((output.commits.len(), output.answer.as_deref()), (1, Some(BAD)));
    assert!(output.session_id.is_some());
    let work = error.work().unwrap();
    assert_eq!((work.text.as_str(), &work.commits), ("The work.", &output.commits));
    let kept = output.preserved_worktree.as_ref().unwrap();
    assert_eq!(std::fs::read_to_string(kept.join("y")).unwrap(), "2");
    assert_eq!(bench.repository.git(["rev-list", "--count", "main"]).await.unwrap(), "1");
}

/// An agent that names no session.
#[derive(Debug)]
struct Nameless(Scripted);

impl Agent for Nameless {
    fn name(&self) -> &str {
        "nameless"
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand> {
        self.0.command(request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Silenced(self.0.decoder()))
    }
}

struct Silenced(Box<dyn Decoder>);

impl Decoder for Silenced {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        self.0.line(line, events);
        events.retain(|event| !matches!(event, AgentEvent::Session { .. }));
    }
}

#[tokio::test]
async fn without_a_session_the_error_names_the_agent_and_has_the_work() {
    let bench = Bench::new().await;
    let produce = Turn::new().write_file("x", "1").commit("Work").say("The work.");
    let options = work_of(&bench, Nameless(bench.agent([produce, say(GOOD)])))
        .branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSession);
    assert!(error.to_string().contains("`nameless`"), "{error}");
    assert!(!error.is_entry_check());
    let work = error.work().unwrap();
    assert_eq!((work.text.as_str(), work.commits.len()), ("The work.", 1));
    assert_eq!((work.attempts.len(), work.iterations.len()), (0, 1));
    let branch = work.branch.as_ref().unwrap();
    let held = bench.repository.git(["rev-parse", branch.as_str()]).await.unwrap();
    assert_eq!(work.commits[0].sha, held.as_str());
    assert!(work.preserved_worktree.as_ref().unwrap().join("x").exists());
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_refused_before_anything_is_started() {
    let bench = Bench::new().await;
    let refused = async |agent: Scripted, question: &str| {
        let options = work_of(&bench, agent);
        let error = sandcastle::run_with_extraction::<N>(options, question).await.unwrap_err();
        assert!(error.is_entry_check() && error.work().is_none(), "{error}");
        (error.kind(), format!("{error:#}"))
    };
    let agent = || bench.agent([say("ok"), say(GOOD)]);
    let (kind, said) = refused(agent().without_resume(), QUESTION).await;
    assert_eq!(kind, ErrorKind::InvalidOptions);
    assert!(said.contains("`scripted` cannot resume"), "{said}");
    let (kind, said) = refused(agent(), "Report.").await;
    assert_eq!(kind, ErrorKind::Prompt);
    assert!(said.contains("<result>"), "{said}");
    assert_eq!(refused(agent(), " \n").await.0, ErrorKind::Prompt);
    assert!(!bench.log().exists());
}

#[tokio::test]
async fn the_result_can_be_gone_on_with() {
    let bench = Bench::new().await;
    let turns = [say("ok"), say(GOOD), say("more")];
    let result = sandcastle::run_with_extraction::<N>(work(&bench, turns), QUESTION).await.unwrap();
    let more = result.resume("And now?").await.unwrap();
    assert_eq!((more.text.as_str(), more.iterations[0].mode), ("more", TurnMode::Work));
    assert_eq!(bench.prompts(more.session_id().unwrap()), ["Do it.", QUESTION, "And now?"]);
}

#[tokio::test]
async fn only_the_question_has_the_schema_and_it_needs_no_tag() {
    for delivery in [SchemaDelivery::Argument, SchemaDelivery::File] {
        for strategy in [OutputStrategy::Native, OutputStrategy::Auto] {
            let bench = Bench::new().await;
            let turns = [
                say("ok"),
                say("so").structured(json!({ "n": "x" })),
                say("so").structured(json!({ "n": 5 })),
            ];
            let options = work_of(&bench, bench.taking(delivery, turns)).output_strategy(strategy);
            let result = sandcastle::run_with_extraction::<N>(options, "Report.").await.unwrap();
            assert_eq!((result.output.n, result.attempts.len()), (5, 2));
            assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
            assert_eq!(result.strategy.as_ref().unwrap().strategy, OutputStrategy::Native);
            let schemas = bench.schemas(result.session_id());
            let with: Vec<_> = schemas.iter().map(Option::is_some).collect();
            assert_eq!(with, [false, true, true]);
            assert_eq!(result.warnings, [] as [String; 0], "a schema in a file is no change");
        }
    }
}

/// Names the folder of a run that is played by this very test in another process, to be killed.
const TO_BE_KILLED: &str = "SANDCASTLE_TEST_EXTRACTION_TO_BE_KILLED";

#[tokio::test]
async fn after_a_kill_in_the_question_the_work_and_the_value_are_found() {
    if let Some(folder) = variable(TO_BE_KILLED) {
        return played_to_be_killed(Path::new(&folder)).await;
    }
    let bench = Bench::new().await;
    let folder = bench.repository.path();
    let running = Invocation::of_this_test(TO_BE_KILLED, folder.to_str().unwrap()).start();
    wait_for(&folder.join("marker")).await;
    running.signal(rustix::process::Signal::KILL);
    running.finish();

    let runs = Runs::of(folder).await.unwrap();
    let [run] = &runs.list().await.unwrap()[..] else { panic!("one run") };
    assert_eq!((run.state, run.mode), (RunState::Died, TurnMode::SpeakOnly));
    let run = runs.show(&run.id).await.unwrap();
    assert_eq!(run.branches[0].commits[0].subject, "Work");
    assert_eq!(run.answer.as_ref().unwrap().value, Some(json!({ "n": 5 })));
    assert!(run.session.is_some());
    let recovered = runs.recover(&run.id).await.unwrap();
    assert!(recovered.ended_processes >= 1);
    let rescue = recovered.rescued.iter().find(|rescued| rescued.what == RescuedWork::Uncommitted).unwrap();
    assert_eq!(bench.repository.git(["show", &format!("{}:loose", rescue.branch)]).await.unwrap(), "x");
}

async fn played_to_be_killed(folder: &Path) {
    let work = Turn::new().write_file("made", "1").commit("Work").write_file("loose", "x").say("ok");
    let marker = folder.join("marker");
    let heard = format!(
        "until grep -q '\"note\":\"answered\"' '{}'/*/journal.jsonl; do sleep 0.01; done; touch '{}'; sleep 60",
        folder.join(".sandcastle/runs").display(),
        marker.display()
    );
    let answer = say(GOOD).complete().shell(heard);
    let options =
        RunOptions::new(Scripted::new(Script::new().turn(work).turn(answer)), sandcastle::NoSandbox::new())
            .cwd(folder)
            .branch_strategy(BranchStrategy::merge_to_head())
            .prompt("go")
            .logging(sandcastle::Logging::off());
    let _ = sandcastle::run_with_extraction::<N>(options, QUESTION).await;
}
