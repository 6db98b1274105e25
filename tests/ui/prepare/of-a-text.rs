use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "result", text, prepare = "tidy")]
struct Report(String);

fn tidy(_: &mut serde_json::Value) {}

fn main() {}
