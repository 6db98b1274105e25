use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result" max_retries = 2)]
struct Report {
    title: String,
}

fn main() {}
