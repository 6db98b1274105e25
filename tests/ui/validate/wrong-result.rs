use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result", validate = "check")]
struct Report {
    title: String,
}

fn check(report: &Report) -> bool {
    !report.title.is_empty()
}

fn main() {}
