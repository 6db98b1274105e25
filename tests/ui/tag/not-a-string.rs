use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = 3)]
struct Report {
    title: String,
}

fn main() {}
