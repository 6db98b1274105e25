//! Types that people derive, over the wires of services that know less than their schemas: what comes back is the type's own
//! value, by the strongest way that can carry it.

use std::collections::HashMap;

use sandcastle::{AgentOutput, AnswerGuarantee, ModelRun};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Service;
use crate::support::model_server::Reply;

/// Much that may be left out, at several depths.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "plan")]
struct Plan {
    /// Why.
    reasoning: String,
    #[serde(default)]
    steps: Vec<Step>,
    note: Option<String>,
    #[serde(default = "three")]
    tries: u8,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Step {
    /// What is done.
    what: Kind,
    #[serde(default)]
    after: Vec<u32>,
    limit: Option<f32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Build,
    RunTests { filter: Option<String> },
}

/// A tree whose leaves are at any depth.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "tree")]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "scores")]
struct Scores {
    scores: HashMap<String, u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "finding")]
struct Finding {
    file: String,
    #[serde(flatten)]
    fix: Option<Fix>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "fix")]
enum Fix {
    Replace { with: String },
    Remove,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "outcome")]
enum Outcome {
    Done { n: i64 },
    Blocked(String),
    Unsure,
}

fn three() -> u8 {
    3
}

/// Asks a service for a value, which it gives by the tag and then, if that was not how it was asked, in its own mode.
async fn ask<T: AgentOutput>(service: Service, tagged: &Value, native: &Value) -> (T, AnswerGuarantee) {
    let tagged = format!("<{tag}>{tagged}</{tag}>", tag = T::TAG);
    let server = service.server([Reply::text(tagged), Reply::text(native.to_string())]);
    let run = ModelRun::shared(service.declared(&server.url())).prompt("Go.").output::<T>().max_retries(1);
    let result = run.await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
    (result.output, result.answer_guarantee.expect("an output has one"))
}

/// Where every key is required, what is left out is null.
fn left_out(service: Service) -> bool {
    !matches!(service, Service::OpenAi | Service::Responses)
}

#[tokio::test]
async fn case_067_and_case_087_what_may_be_left_out_is_the_types_own_default() {
    for service in Service::ALL {
        let expected = Plan {
            reasoning: "r".to_owned(),
            steps: vec![
                Step { what: Kind::Build, after: vec![], limit: None },
                Step { what: Kind::RunTests { filter: None }, after: vec![1], limit: Some(0.5) },
            ],
            note: None,
            tries: 3,
        };
        let short = json!({ "reasoning": "r", "steps": [
            { "what": "build" },
            { "what": { "run-tests": {} }, "after": [1], "limit": 0.5 },
        ] });
        let full = json!({ "reasoning": "r", "steps": [
            { "what": "build", "after": null, "limit": null },
            { "what": { "run-tests": { "filter": null } }, "after": [1], "limit": 0.5 },
        ], "note": null, "tries": null });
        let native = if left_out(service) { &short } else { &full };
        let (plan, by) = ask::<Plan>(service, &short, native).await;
        assert_eq!((plan, by), (expected, AnswerGuarantee::Native), "{service:?}");
        let empty = json!({ "reasoning": "r", "steps": null, "note": null, "tries": null });
        let native = if left_out(service) { json!({ "reasoning": "r" }) } else { empty };
        let (plan, _) = ask::<Plan>(service, &native, &native).await;
        assert_eq!((plan.steps, plan.tries), (vec![], 3), "{service:?}");
    }
}

/// A service that cannot be told what a type is is asked in words, and the type is the same.
#[tokio::test]
async fn case_072_case_076_case_079_case_084_types_that_few_services_carry() {
    use AnswerGuarantee::{Native, Tag};
    for service in Service::ALL {
        let tree = json!({ "name": "a", "children": [{ "name": "b", "children": [{ "name": "c", "children": [] }] }] });
        let (read, by) = ask::<Tree>(service, &tree, &tree).await;
        assert_eq!(read.children[0].children[0].name, "c", "{service:?}");
        let carried =
            matches!(service, Service::OpenAi | Service::Responses | Service::Gemini | Service::LlamaCpp);
        assert_eq!(by, if carried { Native } else { Tag }, "{service:?}: a tree");

        let scores = json!({ "scores": { "a b": 1, "": 2 } });
        let (read, by) = ask::<Scores>(service, &scores, &scores).await;
        assert_eq!(read.scores, HashMap::from([("a b".to_owned(), 1), (String::new(), 2)]));
        let carried = matches!(service, Service::Gemini | Service::Ollama | Service::LlamaCpp);
        assert_eq!(by, if carried { Native } else { Tag }, "{service:?}: a map");

        for (finding, fix) in [
            (json!({ "file": "a" }), None),
            (json!({ "file": "a", "fix": "Remove" }), Some(Fix::Remove)),
            (
                json!({ "file": "a", "fix": "Replace", "with": "b" }),
                Some(Fix::Replace { with: "b".to_owned() }),
            ),
        ] {
            let (read, by) = ask::<Finding>(service, &finding, &finding).await;
            assert_eq!((read.fix, by), (fix, Tag), "{service:?}: alternatives at the root");
        }
        for (outcome, expected) in [
            (json!({ "Done": { "n": 1 } }), Outcome::Done { n: 1 }),
            (json!({ "Blocked": "x" }), Outcome::Blocked("x".to_owned())),
            (json!("Unsure"), Outcome::Unsure),
        ] {
            assert_eq!(ask::<Outcome>(service, &outcome, &outcome).await, (expected, Tag), "{service:?}");
        }
    }
}
