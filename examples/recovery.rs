//! A failed output, and going on from it: the error has the session, the commits and the words to say.
//!
//! `cargo run --example recovery`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{AgentOutput, NoSandbox, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;

/// A verdict on a change.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "verdict")]
struct Verdict {
    severity: Severity,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let repository = ScratchRepo::new().await?;
    let script = Script::new()
        .turn(
            Turn::new()
                .write_file("notes.md", "checked\n")
                .commit("Take notes")
                .say(r#"<verdict>{"severity": "medium"}</verdict>"#),
        )
        .turn(Turn::new().say(r#"<verdict>{"severity": "high"}</verdict>"#));
    let options = RunOptions::new(Scripted::new(script), NoSandbox::new()).cwd(repository.path());

    let prompt = format!("Judge this repository.\n\n{}", Verdict::prompt_snippet());
    let Err(error) = sandcastle::run_with::<Verdict>(options.clone().prompt(prompt)).await else {
        unreachable!("`medium` is no severity");
    };
    let Some(output) = error.structured_output() else { return Err(error) };
    println!("{}: {}", output.stage(), output.problems[0]);
    println!("kept: {} on main", output.commits[0].subject);

    let Some(session) = &output.session_id else { return Err(error) };
    let again = options.prompt(output.feedback()).resume_session(session.as_str());
    let result = sandcastle::run_with::<Verdict>(again).await?;
    println!("{:?}", result.output.severity);
    Ok(())
}
