use sandcastle::{ModelRun, Scripted};

async fn judge() {
    let _ = ModelRun::new(Scripted::answering("hi")).prompt("Judge.").await;
}

fn main() {}
