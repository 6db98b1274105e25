use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
struct Summary(Words);

struct Words;

fn main() {}
