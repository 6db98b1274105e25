use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
struct Summary {
    text: String,
}

fn main() {}
