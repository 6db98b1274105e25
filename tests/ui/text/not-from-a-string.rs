use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
struct Summary(u64);

fn main() {}
