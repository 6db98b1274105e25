//! Secrets in a schema: its descriptions, defaults and values are shown nowhere as they are.

use std::sync::{Arc, Mutex};

use sandcastle::agent::SchemaDelivery;
use sandcastle::{AgentEvent, ErrorKind, OutputSpec, OutputStrategy, RunEvent, RunOptions, Stage};
use serde_json::{Value, json};

use super::Bench;
use super::native::{UNTAGGED, gives, stage_of};

use OutputStrategy::{Auto, Native};

/// A schema with the value of a variable and a declared secret wherever a text may stand.
fn spec() -> OutputSpec {
    let schema = json!({
        "type": "object",
        "description": "Use s3cret-val, not d3clared.",
        "properties": {
            "key": { "enum": ["s3cret-val", "other"], "description": "s3cret-val, mostly", "default": "s3cret-val" },
            "path": { "type": "string", "pattern": "^(d3clared|x)/s3cret-val", "minLength": 3, "examples": ["d3clared/s3cret-val"] },
        },
        "required": ["key", "path"],
        "additionalProperties": false,
    });
    OutputSpec::json("result", schema).unwrap()
}

/// What everybody is told of a run, but for the value itself, which is data.
fn heard(options: RunOptions) -> (RunOptions, Arc<Mutex<String>>) {
    let heard = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&heard);
    let options = options.on_event(move |event| {
        if matches!(event, RunEvent::Agent { event: AgentEvent::TurnCompleted { .. } }) {
            return;
        }
        let json = serde_json::to_string(event).unwrap();
        told.lock().unwrap().push_str(&format!("{event:?} {json}\n"));
    });
    (options, heard)
}

fn asked(bench: &Bench, delivery: SchemaDelivery, strategy: OutputStrategy, value: Value) -> RunOptions {
    let agent = bench.taking(delivery, [gives(value)]);
    bench.asked(agent, strategy, UNTAGGED).env("API_TOKEN", "s3cret-val").secret("d3clared")
}

#[track_caller]
fn assert_masked(shown: &str) {
    assert!(!shown.contains("s3cret-val") && !shown.contains("d3clared"), "{shown}");
}

#[tokio::test]
async fn the_record_of_a_strategy_shows_masks_and_the_agent_gets_the_schema_as_it_is() {
    let bench = Bench::new().await;
    let answer = json!({ "key": "s3cret-val", "path": "x/s3cret-val" });
    for strategy in [Native, Auto] {
        let options = asked(&bench, SchemaDelivery::File, strategy, answer.clone());
        let (options, heard) = heard(options);
        let result = sandcastle::run_spec(options, spec()).await.unwrap();
        assert_eq!(result.output, answer, "the value is never touched");
        let choice = result.strategy.as_ref().unwrap();
        assert!(choice.moved.iter().any(|moved| moved.text.contains("***")), "{choice:?}");
        let sent = bench.schemas(result.iterations[0].session_id.as_ref())[0].clone().unwrap();
        assert!(sent.contains("s3cret-val") && sent.contains("d3clared"), "{sent}");
        let heard = heard.lock().unwrap();
        assert!(heard.contains("strategy-chosen") && heard.contains("***"), "{heard}");
        assert_masked(&format!("{heard} {choice:?} {} {}", json!(choice), bench.logged()));
    }
    assert_masked(&format!("{:?} {:#?}", spec(), spec()));
}

#[tokio::test]
async fn the_error_of_an_answer_shows_masks_in_what_it_says_of_the_schema() {
    let bench = Bench::new().await;
    let wrong = json!({ "key": "none", "path": "x" });
    let (options, heard) = heard(asked(&bench, SchemaDelivery::File, Native, wrong));
    let error = sandcastle::run_spec(options, spec()).await.unwrap_err();
    assert_eq!(stage_of(&error), Stage::SchemaValidate);
    let output = error.structured_output().unwrap();
    assert!(output.problems.iter().any(|problem| problem.message.contains("s3cret-val")), "data stay data");
    let mut shown = format!("{error} {error:#} {error:?} {error:#?} {output} {output:#} {output:?}");
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        shown.push_str(&format!("{error} {error:?}"));
        cause = error.source();
    }
    shown.push_str(&format!("{:?} {}", error.work().unwrap(), json!(output.strategy)));
    assert!(shown.contains("***"), "{shown}");
    assert_masked(&(shown + &bench.logged() + &heard.lock().unwrap()));
}

/// Arguments can be read by everybody on the host.
#[tokio::test]
async fn a_schema_with_a_declared_secret_is_no_argument_of_a_program() {
    let bench = Bench::new().await;
    let options = asked(&bench, SchemaDelivery::Argument, Native, json!({}));
    let error = sandcastle::run_spec(options, spec()).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::InvalidOptions, 0), "{error:#}");
    assert_masked(&format!("{error:#} {error:#?}"));
}
