use sandcastle::AgentOutput;
use schemars::JsonSchema;

#[derive(JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Report {
    title: String,
}

fn main() {}
