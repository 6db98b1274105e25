use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Report {
    #[output(validate = "not_blank")]
    title: String,
}

fn main() {}
