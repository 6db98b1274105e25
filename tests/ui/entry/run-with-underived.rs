use sandcastle::{NoSandbox, RunOptions, Scripted};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Review {
    score: u8,
}

async fn review() {
    let options = RunOptions::new(Scripted::answering("hi"), NoSandbox::new());
    let _ = sandcastle::run_with::<Review>(options).await;
}

fn main() {}
