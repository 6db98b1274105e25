use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "result")]
struct Report {
    title: String,
}

fn main() {}
