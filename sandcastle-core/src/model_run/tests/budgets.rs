//! What bounds a run: calls, money, tokens, time and its caller.

use std::time::Duration;

use super::*;
use crate::model::ToolSpec;
use crate::{CancellationToken, ErrorKind};

fn look() -> ToolSpec {
    ToolSpec::new("look", "Looks.", json!({ "type": "object" }))
}

#[tokio::test]
async fn corrections_go_past_neither_iterations_nor_budget() {
    let limits: [fn(ModelRun<Value>) -> ModelRun<Value>; 3] =
        [|run| run.max_iterations(2), |run| run.max_cost(5.0), |run| run.max_tokens(5)];
    for (limit, said) in limits.into_iter().zip(["2 times", "$5", "5 tokens"]) {
        let model =
            (0..9).fold(ScriptedModel::new().price(a_dollar_each()), |model, _| model.reply(using(BAD, 3)));
        let error = limit(asking(&model).max_retries(8)).run_typed().await.unwrap_err();
        assert_eq!(model.requests().len(), 2, "{error}");
        assert_eq!(error.kind(), ErrorKind::StructuredOutput);
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.spent().is_some(), said != "2 times", "{error}");
        assert_eq!(error.structured_output().unwrap().attempts.len(), 2);
        assert_eq!(error.work().unwrap().usage.output_tokens, 6);
    }
}

#[tokio::test]
async fn a_good_answer_is_given_even_if_the_budget_is_spent_by_it() {
    let model = ScriptedModel::new().price(a_dollar_each()).reply(using(GOOD, 9));
    let result = asking(&model).max_cost(1.0).await.unwrap();
    assert_eq!(result.output["n"], 1);
    assert!(result.warnings[0].contains("the budget of $1 is spent"), "{:?}", result.warnings);
}

#[tokio::test]
async fn turns_of_tools_count() {
    let model = (0..9).fold(ScriptedModel::new(), |model, _| model.call("look", json!({})));
    let run = ModelRun::new(model.clone()).prompt("Look around.").max_iterations(3);
    let error = run.tool(look(), async |_| Ok("nothing".to_owned())).await.unwrap_err();
    assert_eq!((error.kind(), model.requests().len()), (ErrorKind::Budget, 3));
    assert!(error.hints()[0].contains("max_iterations"), "{error:#}");
}

#[tokio::test]
async fn money_cannot_be_limited_where_nobody_knows_the_price() {
    let model = ScriptedModel::new().price(a_dollar_each()).answer(GOOD);
    let unknown = ScriptedModel::new().named("acme", "m-1");
    let error = asking(&model).alternate(unknown).max_cost(1.0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(error.to_string().contains("the model `m-1` of `acme`"), "{error}");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn the_cost_that_the_service_says_comes_before_the_price() {
    let mut answer = using(GOOD, 9);
    answer.usage.cost_usd = Some(0.5);
    let model = ScriptedModel::new().price(a_dollar_each()).reply(answer);
    assert_eq!(asking(&model).await.unwrap().cost(), Some(0.5));
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_are_not_made_again_with_a_budget_that_is_spent() {
    let mut failure = transport();
    failure.usage.output_tokens = 5;
    let model = ScriptedModel::new().fail(failure).answer(GOOD);
    let error = asking(&model).max_tokens(5).await.unwrap_err();
    assert_eq!((error.kind(), model.requests().len()), (ErrorKind::Budget, 1));
}

#[tokio::test]
async fn numbers_that_make_no_sense_are_refused_before_anything_is_sent() {
    let model = answering([GOOD]);
    let wrong = [
        asking(&model).max_iterations(0),
        asking(&model).max_cost(0.0),
        asking(&model).max_cost(f64::NAN),
        asking(&model).max_tokens(0),
        asking(&model).max_output_tokens(0),
        asking(&model).temperature(-1.0),
        asking(&model).total_timeout(Duration::ZERO),
    ];
    for run in wrong {
        let error = run.await.unwrap_err();
        assert!(error.is_entry_check() && error.kind() == ErrorKind::InvalidOptions, "{error}");
    }
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_when_its_time_is_over_and_keeps_the_answer_that_there_was() {
    let model = ScriptedModel::new().answer(BAD).hang();
    let run = asking(&model).max_retries(1).total_timeout(Duration::from_secs(30));
    let error = run.run_typed().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TotalTimeout);
    assert_eq!(error.structured_output().unwrap().raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_when_it_is_cancelled_in_a_call_in_a_pause_or_in_a_tool() {
    let models = [
        ScriptedModel::new().hang(),
        ScriptedModel::new().fail(transport().with_retry_after(Duration::from_secs(50))),
        ScriptedModel::new().call("look", json!({})),
    ];
    for model in models {
        let token = CancellationToken::new();
        let run = asking(&model).cancel(token.clone()).tool(look(), async |_| std::future::pending().await);
        let later = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            token.cancel();
        };
        let (ended, ()) = tokio::join!(run.into_future(), later);
        assert!(ended.unwrap_err().is_cancelled());
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_already_asks_nothing() {
    let token = CancellationToken::new();
    token.cancel();
    let model = answering([GOOD]);
    assert!(asking(&model).cancel(token).await.unwrap_err().is_cancelled());
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_price_is_a_number_from_zero() {
    for price in
        [Price::new(f64::NAN, 1.0), Price::new(1.0, -1.0), Price::new(0.0, 1.0).cached(f64::INFINITY, 0.0)]
    {
        let model = ScriptedModel::new().price(price).answer(GOOD);
        let error = asking(&model).max_cost(1.0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error}");
        assert!(model.requests().is_empty(), "{price:?}");
    }
}

#[tokio::test]
async fn a_cost_that_is_none_gives_nothing_back() {
    let told = |cost| {
        let mut answer = using(BAD, 1);
        answer.usage.cost_usd = Some(cost);
        answer
    };
    for absurd in [-100.0, f64::NAN, f64::NEG_INFINITY] {
        let model = [told(0.6), told(absurd), told(0.6), told(0.6)]
            .into_iter()
            .fold(ScriptedModel::new().price(a_dollar_each()), ScriptedModel::reply);
        let error = asking(&model).max_cost(1.0).max_retries(5).await.unwrap_err();
        assert_eq!(model.requests().len(), 3, "{absurd}: {error}");
        assert!(error.spent().is_some(), "{error}");
    }
}
