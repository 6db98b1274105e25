use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", prepare = "tidy")]
struct Report {
    title: String,
}

fn tidy(value: serde_json::Value) {
    drop(value);
}

fn main() {}
