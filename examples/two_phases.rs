//! Work first, and the output afterwards: as many iterations as it takes, and then one question to the last session.
//!
//! The agent of this example does not keep to the rules: it goes on writing when it may only speak. That is undone, and the
//! output is valid all the same.
//!
//! `cargo run --example two_phases`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{AgentOutput, NoSandbox, RunEvent, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;

/// What was done.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "report")]
struct Report {
    /// One sentence for each thing that was fixed.
    fixed: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let repository = ScratchRepo::new().await?;
    let script = Script::new()
        .turn(
            Turn::new()
                .write_file("parser.txt", "fixed\n")
                .commit("Fix the parser")
                .say("The parser is fixed. <promise>COMPLETE</promise>"),
        )
        .turn(
            Turn::new()
                .write_file("parser.txt", "one more idea\n")
                .say(r#"<report>{"fixed": ["The parser reads empty files."]}</report>"#),
        );
    let work = RunOptions::new(Scripted::new(script), NoSandbox::new())
        .cwd(repository.path())
        .prompt("Fix what is broken, one thing after the other.")
        .max_iterations(5)
        .on_event(|event| {
            if let RunEvent::ChangeUndone { paths, .. } = event {
                println!("undone   {}", paths[0].display());
            }
        });

    let question = format!("Report what you have fixed.\n\n{}", Report::prompt_snippet());
    let result = sandcastle::run_with_extraction::<Report>(work, question).await?;
    println!("output   {}", result.output.fixed[0]);
    println!("text     {}", result.text);
    for iteration in &result.iterations {
        println!("process  {:?}, {} tokens", iteration.mode, iteration.usage.total_tokens());
    }
    println!("commits  {}", result.commits.len());
    Ok(())
}
