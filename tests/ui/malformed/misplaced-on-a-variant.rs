use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
enum Verdict {
    #[output(text)]
    Accept,
}

fn main() {}
