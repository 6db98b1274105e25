use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text = true)]
struct Summary(String);

fn main() {}
