use sandcastle::{AgentOutput, NoSandbox, RunOptions, Scripted};

#[derive(serde::Deserialize, schemars::JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Review {
    score: u8,
}

async fn talk() {
    let options = RunOptions::new(Scripted::answering("hi"), NoSandbox::new()).output::<Review>();
    let _ = sandcastle::interactive(options).await;
}

fn main() {}
