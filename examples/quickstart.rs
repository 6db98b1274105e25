//! The main job: an agent changes a file, commits, and answers with a value of a Rust type.
//!
//! `cargo run --example quickstart` plays it with the scripted agent, which needs nothing but git.
//! `cargo run --example quickstart -- claude-code` plays it with a real one that is installed and logged in.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::sync::Arc;

use sandcastle::testing::{ScratchRepo, Script, Turn};
use sandcastle::{Agent, AgentOutput, NoSandbox, RunOptions, Scripted, registry};
use schemars::JsonSchema;
use serde::Deserialize;

/// What was changed.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", max_retries = 1)]
struct Change {
    /// The file that was changed.
    file: String,
    /// One sentence.
    summary: String,
    #[schemars(range(min = 1))]
    lines_added: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let repository = ScratchRepo::new().await?;
    let agent = agent(std::env::args().nth(1).as_deref())?;
    println!("agent    {}", agent.name());

    let prompt = format!(
        "Add one line to README.md that says hello, commit it, and report.\n\n{}",
        Change::prompt_snippet()
    );
    let options = RunOptions::shared(agent, Arc::new(NoSandbox::new())).cwd(repository.path()).prompt(prompt);
    let result = sandcastle::run_with::<Change>(options).await?;

    println!("value    {:?}", result.output);
    println!(
        "         {} lines in {}: {}",
        result.output.lines_added, result.output.file, result.output.summary
    );
    for commit in &result.commits {
        println!("commit   {:.10} {}", commit.sha, commit.subject);
    }
    println!("branch   {}", result.branch);
    Ok(())
}

fn agent(asked_for: Option<&str>) -> Result<Arc<dyn Agent>, Box<dyn Error>> {
    match asked_for {
        None => Ok(Arc::new(scripted())),
        Some(name) => Ok(registry::find(name)?.create("")?),
    }
}

/// Answers wrongly at first, so that there is a retry to see.
fn scripted() -> Scripted {
    let work = Turn::new()
        .say("I will add a line. ")
        .write_file("README.md", "# A scratch repository\n\nHello!\n")
        .commit("Say hello")
        .say(r#"<result>{"file": "README.md", "summary": "Says hello.", "lines_added": 0}</result>"#);
    let correction = Turn::new()
        .say(r#"<result>{"file": "README.md", "summary": "Says hello.", "lines_added": 2}</result>"#);
    Scripted::new(Script::new().turn(work).turn(correction))
}
