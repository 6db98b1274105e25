//! Trouble on the way to a service, and models that take over.

use std::time::Duration;

use super::*;
use crate::model::ToolSpec;
use crate::output::lower::Dialect;
use crate::strategy::OutputStrategy;
use crate::{AttemptOutcome, ErrorKind};

#[tokio::test(start_paused = true)]
async fn case_054_trouble_on_the_way_spends_no_retry_and_is_not_told_to_the_model() {
    let model = ScriptedModel::new().answer(BAD).fail(transport()).answer(GOOD);
    let result = asking(&model).max_retries(1).await.unwrap();
    assert_eq!((result.attempts.len(), result.iterations), (2, 2));
    let requests = model.requests();
    assert_eq!(requests[1], requests[2]);
    assert!(!last_said(&requests[2]).contains("overloaded"));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_again_as_often_as_allowed_and_later_each_time() {
    let model = (0..9).fold(ScriptedModel::new(), |model, _| model.fail(transport()));
    let (run, told) = listening(asking(&model));
    let begun = tokio::time::Instant::now();
    let error = run.run_typed().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelFailed);
    assert_eq!(error.model_failure().unwrap().kind, FailureKind::Transport);
    assert!(error.to_string().contains("the model `model` of `scripted`"), "{error}");
    assert_eq!(model.requests().len(), 4);
    let pauses: Vec<_> = told.lock().unwrap().iter().filter_map(pause).collect();
    let [Some(first), Some(second), Some(third), None] = pauses.as_slice() else { panic!("{pauses:?}") };
    assert!(begun.elapsed() >= *first + *second + *third, "{pauses:?}");
    assert!(*first >= Duration::from_millis(500) && *third >= Duration::from_secs(2), "{pauses:?}");
}

#[expect(clippy::option_option, reason = "whether it failed, and whether it is asked again")]
fn pause(event: &ModelRunEvent) -> Option<Option<Duration>> {
    match event {
        ModelRunEvent::CallFailed { again_after, .. } => Some(*again_after),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_is_asked_again_when_it_says_but_not_after_an_hour() {
    let soon = transport().with_retry_after(Duration::from_secs(20));
    let model = ScriptedModel::new().fail(soon).answer(GOOD);
    let begun = tokio::time::Instant::now();
    asking(&model).await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 20);

    let late = transport().with_retry_after(Duration::from_secs(3600));
    let model = ScriptedModel::new().fail(late).answer(GOOD);
    asking(&model).await.unwrap_err();
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn what_the_service_says_of_the_request_changes_nothing_and_is_not_asked_again() {
    for kind in [FailureKind::Request, FailureKind::Authentication, FailureKind::Limit, FailureKind::Other] {
        let failure = ModelFailure::new(kind, "no such thing").with_status(400);
        let model = ScriptedModel::new().native(Dialect::OpenAi).fail(failure).answer(GOOD);
        let other = answering([GOOD]);
        let error = asking(&model).alternate(other.clone()).max_retries(3).await.unwrap_err();
        assert_eq!((error.kind(), error.model_failure().unwrap().kind), (ErrorKind::ModelFailed, kind));
        assert_eq!((model.requests().len(), other.requests().len()), (1, 0));
    }
}

#[tokio::test]
async fn a_failure_says_what_can_be_done_about_it() {
    let known = ModelFailure::new(FailureKind::Other, "no").with_hint("do this");
    let late = transport().with_retry_after(Duration::from_secs(90));
    for (failure, hint) in [
        (known.clone(), Some("do this")),
        (ModelFailure { kind: FailureKind::Limit, ..known }, Some("do this")),
        (ModelFailure::new(FailureKind::Limit, "no"), Some("raise the limit at the service")),
        (late, Some("try again in 90 s, or name another model with `alternate`")),
        (ModelFailure::new(FailureKind::Request, "no").with_status(400), None),
    ] {
        let error = asking(&ScriptedModel::new().fail(failure)).await.unwrap_err();
        assert_eq!(error.hints().first().map(String::as_str), hint, "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_failed_calls_used_is_counted() {
    let mut failure = transport();
    failure.usage.output_tokens = 5;
    let model = ScriptedModel::new().price(a_dollar_each()).fail(failure).reply(using(GOOD, 2));
    let result = asking(&model).await.unwrap();
    assert_eq!((result.usage.output_tokens, result.cost()), (7, Some(7.0)));
    assert_eq!(result.attempts[0].usage.output_tokens, 7);
}

#[tokio::test(start_paused = true)]
async fn another_model_takes_over_and_is_asked_in_its_own_way() {
    let first = ScriptedModel::new().named("one", "a").native(Dialect::OpenAi).answer("{}").fail(transport());
    let second = ScriptedModel::new().named("two", "b").answer(GOOD);
    let (run, told) = listening(asking(&first).alternate(second.clone()).max_retries(1).transport_retries(0));
    let result = run.await.unwrap();
    assert_eq!((result.served_by.provider.as_str(), result.served_by.model.as_str()), ("two", "b"));
    assert_eq!(result.strategy.unwrap().strategy, OutputStrategy::Tag);
    let strategies: Vec<_> = result.attempts.iter().map(|attempt| attempt.strategy).collect();
    assert_eq!(strategies, [OutputStrategy::Native, OutputStrategy::Tag]);
    let request = &second.requests()[0];
    assert!(request.schema.is_none() && request.system.as_ref().unwrap().contains("<result>"));
    assert_eq!(request.messages.len(), 3);
    assert!(result.warnings[0].contains("the model `b` of `two` was asked instead"), "{:?}", result.warnings);
    let chosen = |event: &&ModelRunEvent| matches!(event, ModelRunEvent::StrategyChosen { .. });
    assert_eq!(told.lock().unwrap().iter().filter(chosen).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_tool_is_not_shown_to_a_model_that_is_asked_in_words() {
    let first = ScriptedModel::new()
        .forced_tool(Dialect::OpenAi)
        .call("respond_with_result", json!({ "n": "x" }))
        .fail(transport());
    let second = ScriptedModel::new().named("two", "b").answer(GOOD);
    asking(&first).alternate(second.clone()).max_retries(1).transport_retries(0).await.unwrap();
    let request = &second.requests()[0];
    let said = Message::Assistant { text: r#"{"n":"x"}"#.to_owned(), calls: Vec::new(), replay: None };
    assert_eq!(request.messages[1], said);
    assert!(last_said(request).starts_with("[output check"));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_asked_as_wanted_is_left_out_by_name() {
    let first = ScriptedModel::new().native(Dialect::OpenAi).fail(transport());
    let weak = answering([GOOD]).named("weak", "w");
    let third = ScriptedModel::new().named("three", "c").native(Dialect::LlamaCpp).answer(r#"{"n":3}"#);
    let run = asking(&first).strategy(OutputStrategy::Native).transport_retries(0);
    let (run, told) = listening(run.alternate(weak.clone()).alternate(third));
    let result = run.await.unwrap();
    assert_eq!((result.output, weak.requests().len()), (json!({ "n": 3 }), 0));
    assert!(result.warnings[0].contains("the model `w` of `weak`"), "{:?}", result.warnings);
    assert!(told.lock().unwrap().iter().any(|event| matches!(
        event,
        ModelRunEvent::ModelSkipped { served_by, .. } if served_by.provider == "weak"
    )));
}

#[tokio::test(start_paused = true)]
async fn what_one_service_wants_to_see_again_is_not_sent_to_another() {
    let replay = Some(json!({ "signed": "thoughts" }));
    let mut call = ModelAnswer { replay: replay.clone(), ..ModelAnswer::default() };
    call.calls.push(crate::model::ToolCall::new("a", "look", "{}"));
    let first = ScriptedModel::new().named("one", "a").reply(call).fail(transport()).fail(transport());
    let second = ScriptedModel::new().named("two", "b").answer(GOOD);
    let look = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
    let run = asking(&first).alternate(second.clone()).transport_retries(1);
    run.tool(look, async |_| Ok("seen".to_owned())).await.unwrap();
    let replayed = |request: &ModelRequest| match &request.messages[1] {
        Message::Assistant { replay, .. } => replay.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(replayed(&first.requests()[1]), replay);
    assert_eq!(replayed(&second.requests()[0]), None);
}

#[tokio::test(start_paused = true)]
async fn case_049_a_correction_that_could_not_be_sent_leaves_the_answer_that_there_was() {
    let model = ScriptedModel::new().answer(BAD).fail(transport());
    let error = asking(&model).max_retries(2).transport_retries(0).run_typed().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    assert!(error.to_string().contains("then it failed to ask the model `model` of `scripted`"), "{error}");
    let output = error.structured_output().unwrap();
    assert_eq!(output.raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(output.attempts[0].outcome, AttemptOutcome::SchemaValidate);
}

#[tokio::test]
async fn who_answered_is_named_as_the_service_names_it() {
    let mut answer = using(GOOD, 1);
    answer.served_by = Some("m-1-20261109".to_owned());
    let result = asking(&ScriptedModel::new().named("acme", "m-1").reply(answer)).await.unwrap();
    assert_eq!(result.served_by.to_string(), "the model `m-1-20261109` of `acme`");
    assert_eq!(result.attempts[0].served_by, result.served_by);
}
