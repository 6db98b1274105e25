use sandcastle::AgentOutput;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "promise")]
struct Found<T>(Vec<T>);

fn ask<O: AgentOutput>() -> (u32, String) {
    (O::MAX_RETRIES, O::prompt_snippet())
}

fn main() {
    let (retries, snippet) = ask::<Found<String>>();
    println!("{} {retries} {snippet} {}", Found::<u8>::TAG, Found::<u8>::schema().as_value());
}
