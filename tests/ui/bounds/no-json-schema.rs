use sandcastle::AgentOutput;
use serde::Deserialize;

#[derive(Deserialize, AgentOutput)]
#[output(tag = "result")]
struct Report {
    title: String,
}

fn main() {}
