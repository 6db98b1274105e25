//! A triage of the text of an issue: the workflow beside the examples, with scripted services and with a real small model.

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};
use crate::support::model_server::{Law, ModelServer, Reply};
use crate::support::process::Finished;
use crate::support::real_model::RealModel;

const TRIAGE: &str = include_str!("../../../examples/workflows/triage.yaml");
const ISSUE: &str = include_str!("../../fixtures/workflows/issue.md");
/// The model that the example names.
const NAMED: &str =
    "    provider: anthropic\n    name: claude-sonnet-5-5\n    api_key: ${ANTHROPIC_API_KEY}\n";

/// The example, with its model somewhere else.
fn with_model(model: &str) -> String {
    assert!(TRIAGE.contains(NAMED), "the example names another model");
    TRIAGE.replace(NAMED, model)
}

/// Runs it over the issue.
fn run(desk: &Desk, document: &str, args: &[&str]) -> (Finished, Value) {
    let file = desk.file("triage.yaml", document);
    let issue = format!("@{}", desk.file("issue.md", ISSUE).display());
    let begin = ["--format", "json", "workflow", "run", file.to_str().unwrap()];
    let input = if args.contains(&"--resume") { vec![] } else { vec!["--input", &issue] };
    let key = [("ANTHROPIC_API_KEY".to_owned(), "sk-ant-of-a-test".to_owned())];
    let ended = desk.command(&[&begin[..], &input, args].concat()).environment(key).run();
    let object = json_of(&ended);
    (ended, object)
}

fn answer(severity: &str, confidence: f64) -> Value {
    json!({
        "label": "bug", "severity": severity, "summary": "Pruning removes entries that are in use.",
        "confidence": confidence,
    })
}

/// A service of Anthropic's that answers in the words that it is asked for.
fn service(answers: impl IntoIterator<Item = Value>) -> (ModelServer, String) {
    let replies = answers.into_iter().map(|answer| Reply::text(format!("<triage>{answer}</triage>")));
    let server = ModelServer::for_clients(Law::OfTheService, replies);
    let model = format!("{NAMED}    base_url: {}\n", server.url());
    (server, with_model(&model))
}

#[tokio::test]
async fn what_is_not_urgent_goes_through_without_a_person() {
    let desk = Desk::new().await;
    let (server, document) = service([answer("low", 0.9)]);
    let (ended, object) = run(&desk, &document, &[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let expected = json!({
        "label": "bug", "severity": "low", "summary": "Pruning removes entries that are in use.", "questions": [],
        "paged": false,
    });
    assert_eq!(object["output"], expected);
    let asked = &server.requests()[0];
    let told = asked.user_texts().join("\n");
    assert!(
        told.contains("entries in use are never removed") && told.contains("bug, feature, question"),
        "{told}"
    );
    assert!(asked.body["system"].to_string().contains("the team platform"), "{}", asked.body);
}

#[tokio::test]
async fn what_is_urgent_waits_for_a_person_and_goes_on_with_consent() {
    let desk = Desk::new().await;
    let (server, document) = service([answer("high", 0.95)]);
    let (ended, object) = run(&desk, &document, &[]);
    assert_eq!((ended.code(), &object["status"]), (Some(1), &json!("awaiting-approval")), "{ended:?}");
    assert_eq!(object["approvals"][0]["message"], "Page platform? Pruning removes entries that are in use.");
    let id = object["run"].as_str().unwrap();
    let (ended, object) = run(&desk, &document, &["--resume", id, "--approve", "page"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(object["output"]["paged"], true);
    assert_eq!(server.requests().len(), 1, "the model was not asked again");
}

#[tokio::test]
async fn an_answer_that_is_not_certain_goes_to_a_person_who_may_refuse_it() {
    let desk = Desk::new().await;
    let (_server, document) = service([answer("low", 0.4)]);
    let (ended, object) = run(&desk, &document, &[]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let reason = &object["approvals"][0]["reason"];
    assert_eq!((&reason["kind"], &reason["confidence"]), (&json!("guardrail"), &json!(0.4)));
    let id = object["run"].as_str().unwrap();
    let (ended, object) = run(&desk, &document, &["--resume", id, "--reject", "triage=a guess"]);
    assert_eq!((ended.code(), &object["status"]), (Some(1), &json!("rejected")), "{ended:?}");
    assert_eq!((&object["step"], &object["note"]), (&json!("triage"), &json!("a guess")));
}

/// What is asserted is the shape: what a small model thinks of the issue is its own business.
#[tokio::test]
async fn a_real_model_sorts_the_issue_into_the_declared_shape() {
    let Some(real) = RealModel::find() else { return };
    let desk = Desk::new().await;
    let model =
        format!("    provider: llama-cpp\n    name: \"{}\"\n    base_url: \"{}\"\n", real.name, real.url);
    let document = with_model(&model).replace("    timeout: 60\n", "    timeout: 300\n").replace(
        "    timeout: 120\n",
        "    timeout: 300\n    strategy: native\n    temperature: 0\n    max_output_tokens: 400\n",
    );
    // Whether it is urgent or certain is the model's to say; every question is answered with yes.
    let (ended, object) = run(&desk, &document, &["--approve", "all"]);
    if ended.code() == Some(3) {
        // A small model may break the bounds twice. Then that is said, and nothing else.
        let message = object["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("the step `triage` did not match output_schema after 1 retry: output."),
            "{message}"
        );
        return;
    }
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let triage = &object["trace"][0]["output"];
    assert!(["low", "medium", "high"].contains(&triage["severity"].as_str().unwrap()), "{object:#}");
    assert!(triage["label"].is_string() && triage["questions"].as_array().unwrap().len() <= 3, "{object:#}");
    assert!(triage["summary"].as_str().unwrap().chars().count() <= 200, "{object:#}");
    let confidence = triage["confidence"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&confidence), "{object:#}");
    assert_eq!(object["trace"][0]["answer_guarantee"], "native", "{object:#}");
    assert!(object["trace"][0]["usage"]["output_tokens"].as_u64() > Some(0), "{object:#}");
    let is_paged = triage["severity"] == "high" && triage["label"] == "bug";
    assert_eq!(object["output"]["paged"], is_paged, "{object:#}");
}
