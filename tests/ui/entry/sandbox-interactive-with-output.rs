use sandcastle::{AgentOutput, Sandbox, Scripted};

#[derive(serde::Deserialize, schemars::JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Review {
    score: u8,
}

async fn talk(sandbox: Sandbox) {
    let options = sandbox.options(Scripted::answering("hi")).output::<Review>();
    let _ = sandbox.interactive(options).await;
}

fn main() {}
