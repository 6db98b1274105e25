use sandcastle::testing::ScriptedModel;
use sandcastle::{NoSandbox, RunOptions};

async fn judge() {
    let _ = sandcastle::run(RunOptions::new(ScriptedModel::new(), NoSandbox::new()).prompt("Judge.")).await;
}

fn main() {}
