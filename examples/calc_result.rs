//! A sum in a tag of its own, answered inside a code fence.
//!
//! `cargo run --example calc_result`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::testing::{ScratchRepo, Scripted};
use sandcastle::{AgentOutput, NoSandbox, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;

/// The result of a calculation.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "calcResult")]
#[serde(rename_all = "camelCase")]
struct CalcResult {
    expression: String,
    sum: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let repository = ScratchRepo::new().await?;
    let agent = Scripted::answering(
        "17 and 25 make 42.\n<calcResult>\n```json\n{\"expression\": \"17 + 25\", \"sum\": 42}\n```\n</calcResult>",
    );
    let prompt = format!("What is 17 + 25?\n\n{}", CalcResult::prompt_snippet());
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(repository.path()).prompt(prompt);
    let result = sandcastle::run_with::<CalcResult>(options).await?;
    println!("{} = {}", result.output.expression, result.output.sum);
    Ok(())
}
