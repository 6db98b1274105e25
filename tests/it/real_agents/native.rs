//! Structured output of the programs themselves: the schema on the wire, the value that comes back, and what is made of
//! everything else.

use sandcastle::output::lower::{Dialect, lower};
use sandcastle::{AnswerGuarantee, AttemptOutcome, ErrorKind, OutputSpec, OutputStrategy, RunOptions, Stage};
use serde_json::{Value, json};

use super::{Bench, GOOD, Subject, also_for, for_both_agents};
use crate::support::model_server::{Reply, Request};

use OutputStrategy::{Auto, Native};

for_both_agents![
    the_schema_is_on_the_wire_as_lowered_and_the_value_comes_back,
    a_value_after_work_is_one_too,
    a_wrong_value_is_corrected_with_the_schema_sent_again,
    a_session_goes_on_with_a_schema,
    words_are_no_value_and_with_auto_the_tag_is,
    a_refusal_at_the_entry_asks_nothing,
];

also_for![
    pi in with_pi:
    an_agent_without_a_schema_is_refused_by_name,
];
also_for![
    opencode in with_opencode:
    an_agent_without_a_schema_is_refused_by_name,
];
also_for![
    gemini in with_gemini:
    an_agent_without_a_schema_is_refused_by_name,
];

const UNTAGGED: &str = "Count the files.";

/// A schema that every wire takes as it is, so that the tests are about the way and not about the lowering.
fn spec(retries: u32) -> OutputSpec {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "description": "How many there are." } },
        "required": ["n"],
        "additionalProperties": false,
    });
    OutputSpec::json("result", schema).unwrap().max_retries(retries).unwrap()
}

impl Bench {
    fn native(&self, prompt: &str, strategy: OutputStrategy) -> RunOptions {
        self.prompted(prompt).output_strategy(strategy)
    }

    fn is_codex(&self) -> bool {
        self.agent.name() == "codex"
    }

    /// The schema as it is to arrive.
    fn wire(&self) -> Value {
        let dialect = if self.is_codex() { Dialect::Codex } else { Dialect::ClaudeCode };
        lower(spec(0).schema(), dialect).wire
    }

    /// The schema that a request holds the model to, if it does.
    fn schema_of(&self, request: &Request) -> Option<Value> {
        if self.is_codex() {
            let format = request.body.pointer("/text/format")?;
            assert_eq!(
                (&format["type"], &format["strict"]),
                (&json!("json_schema"), &json!(true)),
                "{format}"
            );
            return Some(format["schema"].clone());
        }
        let tools = request.body["tools"].as_array()?;
        let tool = tools.iter().find(|tool| tool["name"] == "StructuredOutput")?;
        Some(tool["input_schema"].clone())
    }

    /// The schemas of all requests, in order.
    pub(super) fn schemas(&self) -> Vec<Option<Value>> {
        self.server.turns().iter().map(|request| self.schema_of(request)).collect()
    }
}

async fn the_schema_is_on_the_wire_as_lowered_and_the_value_comes_back(subject: Subject) {
    for strategy in [Native, Auto] {
        let bench = subject.bench([Reply::structured(json!({ "n": 5 })).usage(120, 34)]).await;
        let result = sandcastle::run_spec(bench.native(UNTAGGED, strategy), spec(0)).await.unwrap();
        assert_eq!(result.output, json!({ "n": 5 }));
        assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
        let choice = result.strategy.as_ref().unwrap();
        assert_eq!((choice.strategy, result.attempts[0].strategy), (Native, Native));
        assert_eq!(bench.schemas(), [Some(bench.wire())]);
        // Stable bytes, in the order of the schema.
        let sent = bench.schemas()[0].as_ref().unwrap().to_string();
        assert_eq!(sent, bench.wire().to_string());
        assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (120, 34));
        assert_eq!(result.warnings, [] as [&str; 0]);
        assert_eq!(bench.server.turns()[0].user_texts().last().unwrap(), UNTAGGED);
    }
}

async fn a_value_after_work_is_one_too(subject: Subject) {
    let work = Reply::text("Working. ").and_shell("git commit --quiet --allow-empty --message One");
    let bench = subject.bench([work, Reply::structured(json!({ "n": 5 }))]).await;
    let result = sandcastle::run_spec(bench.native(UNTAGGED, Native), spec(0)).await.unwrap();
    assert_eq!((result.output, result.commits.len()), (json!({ "n": 5 }), 1));
    // Every request of the turn has the schema.
    assert_eq!(bench.schemas(), vec![Some(bench.wire()); 2]);
}

async fn a_wrong_value_is_corrected_with_the_schema_sent_again(subject: Subject) {
    // Claude Code checks by itself and has the model try again; what it lets pass is checked here.
    let wrong = match subject.agent.name() {
        "codex" => Reply::structured(json!({ "n": "three" })),
        _ => Reply::text("There are three."),
    };
    let reminded = (subject.agent.name() != "codex").then(|| Reply::text("I have said so."));
    let replies = [wrong].into_iter().chain(reminded).chain([Reply::structured(json!({ "n": 3 }))]);
    let bench = subject.bench(replies).await;
    let result = sandcastle::run_spec(bench.native(UNTAGGED, Native), spec(2)).await.unwrap();

    assert_eq!((result.output, result.answer_guarantee), (json!({ "n": 3 }), Some(AnswerGuarantee::Native)));
    let [first, second] = result.attempts.as_slice() else { panic!("{:#?}", result.attempts) };
    let expected =
        if bench.is_codex() { AttemptOutcome::SchemaValidate } else { AttemptOutcome::NativeMissing };
    assert_eq!((first.outcome, second.outcome), (expected, AttemptOutcome::Accepted));
    assert!(first.session_id.is_some() && first.session_id == second.session_id);
    let schemas = bench.schemas();
    assert_eq!(schemas, vec![Some(bench.wire()); schemas.len()]);
    let correction = bench.server.turns().pop().unwrap().user_texts().pop().unwrap();
    assert!(correction != UNTAGGED && correction.contains("not accepted"), "{correction}");
}

async fn a_session_goes_on_with_a_schema(subject: Subject) {
    let bench = subject.bench([Reply::text("Hello."), Reply::structured(json!({ "n": 5 })).always()]).await;
    let first = sandcastle::run(bench.prompted("Say hello.")).await.unwrap();
    let options = |run: RunOptions| run.output_strategy(Native);
    let resumed = sandcastle::run_spec(options(first.resume(UNTAGGED)), spec(0)).await.unwrap();
    assert_eq!(
        (resumed.output, resumed.answer_guarantee),
        (json!({ "n": 5 }), Some(AnswerGuarantee::Native))
    );
    let forked = sandcastle::run_spec(options(first.fork(UNTAGGED)), spec(0)).await.unwrap();
    assert_eq!((forked.output, forked.answer_guarantee), (json!({ "n": 5 }), Some(AnswerGuarantee::Native)));
    assert_eq!(bench.schemas(), [None, Some(bench.wire()), Some(bench.wire())]);
}

async fn words_are_no_value_and_with_auto_the_tag_is(subject: Subject) {
    let bench = subject.bench([Reply::text(GOOD).always()]).await;
    let error = sandcastle::run_spec(bench.native(super::PROMPT, Native), spec(0)).await.unwrap_err();
    let output = error.structured_output().unwrap_or_else(|| panic!("{error:#}"));
    let expected = if bench.is_codex() { Stage::JsonParse } else { Stage::Missing };
    assert_eq!(output.stage(), expected);
    assert_eq!(output.strategy.as_ref().unwrap().strategy, Native);

    let result = sandcastle::run_spec(bench.native(super::PROMPT, Auto), spec(0)).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (json!({ "n": 5 }), Some(AnswerGuarantee::Tag)));
}

async fn a_refusal_at_the_entry_asks_nothing(subject: Subject) {
    let bench = subject.bench([Reply::text(GOOD).always()]).await;
    let options = bench.native(super::PROMPT, OutputStrategy::ForcedTool);
    let error = sandcastle::run_spec(options, spec(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    let name = format!("the agent `{}`", subject.agent.name());
    assert!(error.is_entry_check() && error.to_string().contains(&name), "{error}");
    let text = OutputSpec::text("result").unwrap();
    let error = sandcastle::run_spec(bench.native(super::PROMPT, Native), text).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{error}");
    assert_eq!(bench.server.requests().len(), 0);
    assert!(!bench.residents().are_there());
}

async fn an_agent_without_a_schema_is_refused_by_name(subject: Subject) {
    let bench = subject.bench([Reply::text(GOOD).always()]).await;
    let error = sandcastle::run_spec(bench.native(super::PROMPT, Native), spec(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    let name = format!("the agent `{}`", subject.agent.name());
    assert!(error.is_entry_check() && error.to_string().contains(&name), "{error}");
    assert_eq!(bench.server.requests().len(), 0);
}

/// The service refuses the schema, in its own words; then words ask for the answer, once.
#[tokio::test]
async fn case_075_a_grammar_that_is_too_large_is_asked_for_by_the_tag() {
    let Some(subject) = Subject::codex() else { return };
    let refusal = Reply::status(400).because(
        "Invalid schema for response_format 'codex_output_schema': the compiled grammar is too large",
    );
    let bench = subject.bench([refusal.clone(), Reply::text(GOOD)]).await;
    let result = sandcastle::run_spec(bench.native(super::PROMPT, Auto), spec(0)).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (json!({ "n": 5 }), Some(AnswerGuarantee::Tag)));
    assert_eq!(bench.schemas(), [Some(bench.wire()), None]);
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::SchemaRefused, AttemptOutcome::Accepted]);
    let told = result.warnings.iter().filter(|warning| warning.contains("asked for by the tag"));
    assert_eq!(told.count(), 1, "{:?}", result.warnings);

    let bench = subject.bench([refusal.always()]).await;
    let error = sandcastle::run_spec(bench.native(super::PROMPT, Native), spec(2)).await.unwrap_err();
    assert_eq!((error.kind(), bench.server.turns().len()), (ErrorKind::AgentFailed, 1), "{error:#}");
    assert!(error.to_string().contains("the schema of the answer was refused"), "{error}");
}

#[tokio::test]
async fn no_other_refusal_of_the_service_changes_the_strategy() {
    for subject in [Subject::claude_code(), Subject::codex()].into_iter().flatten() {
        let bench = subject.bench([Reply::status(400).because("prompt is too long").always()]).await;
        let error = sandcastle::run_spec(bench.native(super::PROMPT, Auto), spec(0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
        assert!(bench.schemas().iter().all(Option::is_some), "{:?}", bench.schemas());
        assert_eq!(error.work().unwrap().iterations.len(), 1);
    }
}

/// The program itself has the model try again, five times by default.
#[tokio::test]
async fn claude_code_checks_the_value_and_gives_up_at_last() {
    let Some(subject) = Subject::claude_code() else { return };
    let replies = [Reply::structured(json!({ "n": "x" })), Reply::structured(json!({ "n": 5 }))];
    let bench = subject.bench(replies).await;
    let result = sandcastle::run_spec(bench.native(UNTAGGED, Native), spec(0)).await.unwrap();
    assert_eq!((result.output, result.attempts.len()), (json!({ "n": 5 }), 1));

    let bench = subject.bench([Reply::structured(json!({ "n": "x" })).always()]).await;
    let error = sandcastle::run_spec(bench.native(UNTAGGED, Native), spec(0)).await.unwrap_err();
    assert_eq!(error.work().unwrap().attempts[0].outcome, AttemptOutcome::NativeMissing, "{error:#}");
    assert!(error.to_string().contains("structured output"), "{error}");
}
