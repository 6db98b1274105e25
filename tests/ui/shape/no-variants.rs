use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "result")]
enum Never {}

fn main() {}
