//! Two agents at once, each on a branch of its own in a worktree of its own, both merged.
//!
//! `cargo run --example worktrees`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::testing::{ScratchRepo, Script, Turn};
use sandcastle::{AgentOutput, BranchStrategy, Logging, NoSandbox, RunFuture, RunOptions, Scripted};
use schemars::JsonSchema;
use serde::Deserialize;

/// A page that was written.
#[derive(Debug, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "page")]
struct Page {
    file: String,
    words: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let repository = ScratchRepo::new().await?;
    let (one, two) = tokio::join!(write(&repository, "install"), write(&repository, "usage"));
    for page in [one?, two?] {
        let (output, commit) = (&page.output, &page.commits[0]);
        println!("{} with {} words, by `{}` on {}", output.file, output.words, commit.subject, page.branch);
    }
    println!("in the repository: {}", repository.git(["ls-files"]).await?.replace('\n', ", "));
    Ok(())
}

fn write(repository: &ScratchRepo, topic: &str) -> RunFuture<Page> {
    let answer = format!(r#"<page>{{"file": "{topic}.md", "words": 3}}</page>"#);
    let turn = Turn::new()
        .write_file(format!("{topic}.md"), "Three more words\n")
        .commit(format!("Write about {topic}"))
        .say(answer);
    let options = RunOptions::new(Scripted::new(Script::new().turn(turn)), NoSandbox::new())
        .cwd(repository.path())
        .name(topic)
        .branch_strategy(BranchStrategy::merge_to_head())
        .logging(Logging::off())
        .prompt(format!("Write {topic}.md.\n\n{}", Page::prompt_snippet()));
    sandcastle::run_with::<Page>(options)
}
