use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Found<T> {
    value: T,
}

#[derive(Deserialize)]
struct Plain;

fn ask<O: AgentOutput>() {}

fn main() {
    ask::<Found<Plain>>();
}
