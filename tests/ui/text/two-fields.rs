use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
struct Summary(String, String);

fn main() {}
