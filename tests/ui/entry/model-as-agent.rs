use sandcastle::models::Anthropic;
use sandcastle::{NoSandbox, RunOptions};

fn main() {
    let _ = RunOptions::new(Anthropic::new("claude-sonnet-4-5", "key"), NoSandbox::new());
}
