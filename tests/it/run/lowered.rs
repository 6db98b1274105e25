//! Schemas that a wire cannot carry: an explicit strategy is refused with the place, and `auto` uses words.

use std::collections::HashMap;
use std::fmt::Debug;

use sandcastle::agent::SchemaDelivery;
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{AgentOutput, AnswerGuarantee, ErrorKind, Logging, NoSandbox, OutputStrategy, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Bench;

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Map {
    m: HashMap<String, u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Anything {
    xs: Vec<Value>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Done { n: i64 },
    Blocked { why: String },
}

/// Asks for a `T` natively, which is refused with this place, and with `auto`, which uses the tag.
async fn is_asked_for_by_words<T: AgentOutput + Debug>(place: &str, block: &str) {
    let bench = Bench::new().await;
    let options = |strategy| {
        let turn = Turn::new().say(format!("<result>{block}</result>"));
        let agent = Scripted::new(Script::new().native(SchemaDelivery::File).turn(turn));
        RunOptions::new(agent.state_dir(bench.state.path()), NoSandbox::new())
            .cwd(bench.repository.path())
            .prompt("Answer as <result>JSON</result>.")
            .output_strategy(strategy)
            .logging(Logging::off())
    };
    let error = sandcastle::run_with::<T>(options(OutputStrategy::Native)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{error:#}");
    let message = error.to_string();
    assert!(message.contains("the agent `scripted`") && message.contains(place), "{message}");
    assert_eq!(std::fs::read_dir(bench.state.path()).unwrap().count(), 0);

    let result = sandcastle::run_with::<T>(options(OutputStrategy::Auto)).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    let choice = result.strategy.unwrap();
    assert!(choice.strategy == OutputStrategy::Tag && choice.reason.contains(place), "{choice:?}");
}

#[tokio::test]
async fn case_072_a_union_at_the_root_is_asked_for_by_words() {
    is_asked_for_by_words::<Outcome>("the root", r#"{"done":{"n":1}}"#).await;
}

#[tokio::test]
async fn case_076_a_map_is_refused_with_its_place_and_asked_for_by_words() {
    is_asked_for_by_words::<Map>("/properties/m", r#"{"m":{"a":1}}"#).await;
}

#[tokio::test]
async fn case_080_items_of_any_type_are_refused_with_their_place_and_asked_for_by_words() {
    is_asked_for_by_words::<Anything>("/properties/xs/items", r#"{"xs":[1,"a"]}"#).await;
}
