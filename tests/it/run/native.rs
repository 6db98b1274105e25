//! Structured output of the agent's own: which way is chosen, what is taken as a value, and what never is.

use std::sync::{Arc, Mutex};

use sandcastle::agent::SchemaDelivery;
use sandcastle::event::{FailureKind, StopReason};
use sandcastle::output::lower::{Dialect, lower};
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{
    Agent, AnswerGuarantee, AttemptOutcome, Error, ErrorKind, Logging, NoSandbox, OutputSpec, OutputStrategy,
    RunEvent, RunOptions, SessionId, Stage,
};
use serde_json::{Value, json};

use super::{Bench, N, Retried, say};

pub(super) const TAGGED: &str = "Do it, and answer as <result>JSON</result>.";
pub(super) const UNTAGGED: &str = "Do it.";
pub(super) const GOOD: &str = r#"<result>{"n":5}</result>"#;

use OutputStrategy::{Auto, ForcedTool, Native, Tag};

/// Ends a turn with this value, and says something else.
pub(super) fn gives(value: Value) -> Turn {
    say("Done.").structured(value)
}

impl Bench {
    pub(super) fn asked(&self, agent: impl Agent, strategy: OutputStrategy, prompt: &str) -> RunOptions {
        RunOptions::new(agent, NoSandbox::new())
            .cwd(self.repository.path())
            .prompt(prompt)
            .output_strategy(strategy)
            .logging(Logging::file(self.log()))
    }

    pub(super) fn taking(&self, delivery: SchemaDelivery, turns: impl IntoIterator<Item = Turn>) -> Scripted {
        let script = turns.into_iter().fold(Script::new().native(delivery), Script::turn);
        Scripted::new(script).state_dir(self.state.path())
    }

    /// A run with the schema as an argument.
    pub(super) fn by(
        &self,
        strategy: OutputStrategy,
        prompt: &str,
        turns: impl IntoIterator<Item = Turn>,
    ) -> RunOptions {
        self.asked(self.taking(SchemaDelivery::Argument, turns), strategy, prompt)
    }

    /// How many sessions the agent has held.
    pub(super) fn sessions(&self) -> usize {
        let entries = std::fs::read_dir(self.state.path()).unwrap().flatten();
        entries.filter(|entry| entry.path().is_dir()).count()
    }

    pub(in crate::run) fn schemas(&self, session: Option<&SessionId>) -> Vec<Option<String>> {
        Scripted::schemas(self.state.path(), session.unwrap()).unwrap()
    }
}

/// Hears which strategies are told of.
pub(super) fn heard(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<OutputStrategy>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let options = options.on_event(move |event| {
        if let RunEvent::StrategyChosen { choice } = event {
            listener.lock().unwrap().push(choice.strategy);
        }
    });
    (options, told)
}

#[track_caller]
pub(super) fn stage_of(error: &Error) -> Stage {
    error.structured_output().unwrap_or_else(|| panic!("{error:#}")).stage()
}

pub(super) fn outcomes(error: &Error) -> Vec<AttemptOutcome> {
    error.work().unwrap().attempts.iter().map(|attempt| attempt.outcome).collect()
}

#[tokio::test]
async fn a_native_value_comes_back_typed_and_says_so() {
    for (delivery, dialect) in
        [(SchemaDelivery::Argument, Dialect::ClaudeCode), (SchemaDelivery::File, Dialect::Codex)]
    {
        let bench = Bench::new().await;
        let agent = bench.taking(delivery, [gives(json!({ "n": 5 }))]);
        let (options, told) = heard(bench.asked(agent, Native, UNTAGGED));
        let result = sandcastle::run_with::<N>(options).await.unwrap();

        assert_eq!(result.output, N { n: 5 });
        assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
        let choice = result.strategy.as_ref().unwrap();
        assert_eq!((choice.strategy, &*choice.reason), (Native, "it was asked for"));
        assert_eq!((choice.dialect, result.attempts[0].strategy), (Some(dialect), Native));
        assert_eq!(*told.lock().unwrap(), [Native]);
        assert_eq!(result.warnings, [] as [&str; 0]);
        let wire = lower(OutputSpec::of::<N>().schema(), dialect).wire.to_string();
        assert_eq!(bench.schemas(result.session_id()), [Some(wire)]);
    }
}

#[tokio::test]
async fn the_tag_is_the_default_and_nothing_else_is_sent_or_told() {
    let bench = Bench::new().await;
    let agent = bench.taking(SchemaDelivery::Argument, [say(GOOD).structured(json!({ "n": 7 }))]);
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(bench.repository.path()).prompt(TAGGED);
    let (options, told) = heard(options.logging(Logging::off()));
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Tag)));
    assert_eq!(result.strategy.unwrap().strategy, Tag);
    assert_eq!(result.attempts[0].strategy, Tag);
    assert_eq!(*told.lock().unwrap(), []);
    let session = result.iterations[0].session_id.as_ref();
    assert_eq!(bench.schemas(session), [None]);
}

#[tokio::test]
async fn auto_takes_what_is_declared_and_says_why() {
    let bench = Bench::new().await;
    let result =
        sandcastle::run_with::<N>(bench.by(Auto, UNTAGGED, [gives(json!({ "n": 5 }))])).await.unwrap();
    let choice = result.strategy.unwrap();
    assert_eq!((choice.strategy, result.answer_guarantee), (Native, Some(AnswerGuarantee::Native)));
    assert!(choice.reason.contains("declared for the agent `scripted`"), "{}", choice.reason);
}

/// Nothing is started, and what is refused is refused by name.
#[tokio::test]
async fn case_092_an_agent_without_a_schema_of_its_own_is_refused_by_name_or_asked_by_the_tag() {
    let bench = Bench::new().await;
    for (strategy, lack) in
        [(Native, "no structured output"), (ForcedTool, "no tools that it can be made to call")]
    {
        let options = bench.asked(bench.agent([say(GOOD)]), strategy, TAGGED);
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        let message = error.to_string();
        assert!(message.contains("the agent `scripted`") && message.contains(lack), "{message}");
        assert!(message.contains(strategy.as_str()) && error.work().is_none(), "{message}");
    }
    assert_eq!(bench.sessions(), 0);

    let result =
        sandcastle::run_with::<N>(bench.asked(bench.agent([say(GOOD)]), Auto, TAGGED)).await.unwrap();
    let choice = result.strategy.unwrap();
    assert_eq!((choice.strategy, result.answer_guarantee), (Tag, Some(AnswerGuarantee::Tag)));
    assert!(choice.reason.contains("no structured output"), "{}", choice.reason);
    let options = bench.asked(sandcastle::OpenCode::new("m/n"), Native, TAGGED);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert!(error.to_string().contains("the agent `opencode`"), "{error}");
}

#[tokio::test]
async fn a_forced_tool_is_refused_though_the_agent_has_structured_output() {
    let bench = Bench::new().await;
    let options = bench.by(ForcedTool, TAGGED, [gives(json!({ "n": 5 }))]);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::InvalidOptions, 0));
    assert!(error.to_string().contains("the agent `scripted`"), "{error}");
}

#[tokio::test]
async fn the_tag_is_needed_only_where_words_carry_the_shape() {
    let bench = Bench::new().await;
    for agent in [bench.agent([say(GOOD)]), bench.taking(SchemaDelivery::Argument, [say(GOOD)])] {
        let strategy = if agent.native_output().is_some() { Tag } else { Auto };
        let error = sandcastle::run_with::<N>(bench.asked(agent, strategy, UNTAGGED)).await.unwrap_err();
        assert_eq!((error.kind(), bench.sessions()), (ErrorKind::Prompt, 0), "{error}");
    }
    // A text has no schema, so words carry it.
    let text = OutputSpec::text("summary").unwrap();
    let options = bench.by(Auto, UNTAGGED, [say("<summary>x</summary>")]);
    let error = sandcastle::run_spec(options, text.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    let error = sandcastle::run_spec(bench.by(Native, UNTAGGED, []), text).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::InvalidOutput, 0), "{error}");
}

#[tokio::test]
async fn a_schema_that_fits_in_no_argument_is_refused_before_the_start() {
    let bench = Bench::new().await;
    let long = "x".repeat(140_000);
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["n"],
        "properties": { "n": { "type": "integer", "description": long } },
    });
    let spec = OutputSpec::json("result", schema).unwrap();
    let error = sandcastle::run_spec(bench.by(Native, UNTAGGED, []), spec.clone()).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::InvalidOutput, 0), "{error}");
    assert!(error.to_string().contains("the agent `scripted`"), "{error}");

    let result = sandcastle::run_spec(bench.by(Auto, TAGGED, [say(GOOD)]), spec.clone()).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    let agent = bench.taking(SchemaDelivery::File, [gives(json!({ "n": 5 }))]);
    let result = sandcastle::run_spec(bench.asked(agent, Native, UNTAGGED), spec).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
}

#[tokio::test]
async fn case_050_success_without_a_value_is_looked_for_in_the_tag_and_then_missing() {
    let bench = Bench::new().await;
    let error = sandcastle::run_with::<N>(bench.by(Native, TAGGED, [say(GOOD)])).await.unwrap_err();
    assert_eq!((stage_of(&error), outcomes(&error)), (Stage::Missing, vec![AttemptOutcome::NativeMissing]));
    assert!(error.to_string().contains("no structured value"), "{error}");

    let result = sandcastle::run_with::<N>(bench.by(Auto, TAGGED, [say(GOOD)])).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Tag)));
    assert_eq!(result.strategy.unwrap().strategy, Native);

    let error = sandcastle::run_with::<N>(bench.by(Auto, TAGGED, [say("plain text")])).await.unwrap_err();
    assert_eq!((stage_of(&error), outcomes(&error)), (Stage::Missing, vec![AttemptOutcome::NativeMissing]));
    let bad = r#"<result>{"n":"x"}</result>"#;
    let error = sandcastle::run_with::<N>(bench.by(Auto, TAGGED, [say(bad)])).await.unwrap_err();
    assert_eq!(stage_of(&error), Stage::SchemaValidate);
}

#[tokio::test]
async fn a_value_that_is_wrong_wrapped_or_encoded_twice_is_never_taken() {
    let wrong = [
        (json!({ "n": "x" }), "/n", "must be an integer"),
        (json!({ "output": { "n": 1 } }), "/output", "without an object around it"),
        (json!({ "result": { "n": 1 } }), "/result", "without an object around it"),
        (json!("{\"n\":1}"), "", "encoded twice"),
    ];
    for strategy in [Native, Auto] {
        for (value, path, says) in &wrong {
            let bench = Bench::new().await;
            // A good block beside a bad value does not excuse it.
            let turn = say(GOOD).structured(value.clone());
            let error = sandcastle::run_with::<N>(bench.by(strategy, TAGGED, [turn])).await.unwrap_err();
            assert_eq!(stage_of(&error), Stage::SchemaValidate, "{value}");
            let output = error.structured_output().unwrap();
            assert_eq!(output.problems[0].path, *path, "{value}");
            assert!(output.problems[0].message.contains(says), "{:?}", output.problems);
            assert_eq!(output.raw_matched.as_deref(), Some(&*value.to_string()));
            assert_eq!(output.strategy.as_ref().unwrap().strategy, Native);
        }
    }
}

#[tokio::test]
async fn a_wrong_value_is_corrected_in_its_session_with_the_schema_passed_again() {
    let bench = Bench::new().await;
    let turns = [gives(json!({ "n": "x" })), say("Sorry."), gives(json!({ "n": 5 }))];
    let result = sandcastle::run_with::<Retried>(bench.by(Native, UNTAGGED, turns)).await.unwrap();
    assert_eq!((result.output.n, result.answer_guarantee), (5, Some(AnswerGuarantee::Native)));
    let outcomes: Vec<_> = result.attempts.iter().map(|attempt| attempt.outcome).collect();
    use AttemptOutcome::{Accepted, NativeMissing, SchemaValidate};
    assert_eq!(outcomes, [SchemaValidate, NativeMissing, Accepted]);
    assert!(result.attempts.iter().all(|attempt| attempt.strategy == Native));
    let sent = bench.schemas(result.iterations[0].session_id.as_ref());
    assert!(sent.len() == 3 && sent.iter().all(|schema| schema.is_some() && *schema == sent[0]), "{sent:?}");
    let prompts = bench.prompts(result.iterations[0].session_id.as_ref().unwrap());
    assert!(prompts[1].contains("/n"), "{}", prompts[1]);
}

/// A refusal is not asked again; what was cut off is.
#[tokio::test]
async fn a_value_of_a_turn_that_was_refused_or_cut_off_is_none() {
    let expected = [
        (StopReason::Refused, Stage::Refused, 1),
        (StopReason::Filtered, Stage::Filtered, 1),
        (StopReason::OutputLimit, Stage::Truncated, 3),
        (StopReason::ContextLimit, Stage::Truncated, 3),
    ];
    for (stop, stage, attempts) in expected {
        let bench = Bench::new().await;
        let turns = std::iter::repeat_with(|| gives(json!({ "n": 5 })).stop(stop)).take(3);
        let error = sandcastle::run_with::<Retried>(bench.by(Auto, TAGGED, turns)).await.unwrap_err();
        assert_eq!((stage_of(&error), outcomes(&error).len()), (stage, attempts), "{error:#}");
    }
}

/// The program asked for a value as often as it does, and had none; a correction may still help.
#[tokio::test]
async fn a_program_that_gives_up_on_its_own_check_is_corrected() {
    let bench = Bench::new().await;
    let gave_up = Turn::new().fail(FailureKind::InvalidAnswer, "no valid output after 5 attempts");
    let turns = [gave_up, gives(json!({ "n": 5 }))];
    let result = sandcastle::run_with::<Retried>(bench.by(Native, UNTAGGED, turns)).await.unwrap();
    assert_eq!((result.output.n, result.attempts[0].outcome), (5, AttemptOutcome::NativeMissing));
    assert!(result.attempts[0].message.as_ref().unwrap().contains("5 attempts"), "{:?}", result.attempts);
}
