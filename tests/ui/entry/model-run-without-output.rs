use sandcastle::ModelRun;
use sandcastle::testing::ScriptedModel;

async fn ask() {
    let run = ModelRun::new(ScriptedModel::new()).prompt("What is 2 + 2?");
    let _ = run.run_typed().await;
}

fn main() {}
