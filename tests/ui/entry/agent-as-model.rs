use sandcastle::{ClaudeCode, ModelRun};

fn main() {
    let _ = ModelRun::new(ClaudeCode::new("sonnet"));
}
