use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", prepare = "tidy this")]
struct Report {
    title: String,
}

fn main() {}
