//! A model behind a service, without an agent: a typed answer, a tool, a correction, and what to do when there is no answer.
//!
//! `cargo run --example model_answer` plays it with a scripted model, which needs neither a key nor a network.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::model::ToolSpec;
use sandcastle::testing::ScriptedModel;
use sandcastle::{AgentOutput, ModelRun, ModelRunEvent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What to do with a ticket.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "triage", max_retries = 2)]
struct Triage {
    /// The version that the customer has.
    version: String,
    severity: Severity,
    /// One sentence.
    summary: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let customer = ToolSpec::new(
        "customer",
        "Looks a customer up.",
        json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }),
    );
    let result = ModelRun::new(model())
        .system("You triage support tickets.")
        .prompt("Customer 7 writes: it crashes on every start since the update!")
        .output::<Triage>()
        .tool(customer, async |arguments| match arguments["id"].as_u64() {
            Some(7) => Ok("Ferris, version 2.1".to_owned()),
            _ => Err("there is no such customer".to_owned()),
        })
        .max_tokens(50_000)
        .on_event(show)
        .await?;

    let Triage { version, severity, summary } = &result.output;
    println!("value     {severity:?}, version {version}: {summary}");
    println!("held by   {:?}, by {}", result.answer_guarantee, result.served_by);
    println!("calls     {}, of which {} were answers", result.iterations, result.attempts.len());

    // Without a valid answer, a value that was put by is better than none.
    let canned = json!({ "version": "unknown", "severity": "high", "summary": "A person has to look." });
    let stubborn = ScriptedModel::new().answer("I would rather not.");
    let result =
        ModelRun::new(stubborn).prompt("...").output::<Triage>().max_retries(0).canned(canned)?.await?;
    println!("put by    {} ({:?})", result.output.summary, result.answer_guarantee);
    Ok(())
}

fn show(event: &ModelRunEvent) {
    match event {
        ModelRunEvent::StrategyChosen { choice, .. } => println!("strategy  {}", choice.strategy),
        ModelRunEvent::ToolCalled { call } => println!("tool      {} {}", call.name, call.arguments),
        ModelRunEvent::AttemptFailed { message, remaining, .. } => {
            println!("refused   {message}; {remaining} left");
        }
        _ => {}
    }
}

/// Looks the customer up, answers wrongly at first, and then well.
fn model() -> ScriptedModel {
    let answer = |severity: &str| {
        let value = json!({ "version": "2.1", "severity": severity, "summary": "Crashes on start." });
        format!("<triage>{value}</triage>")
    };
    ScriptedModel::new().call("customer", json!({ "id": 7 })).answer(answer("urgent")).answer(answer("high"))
}
