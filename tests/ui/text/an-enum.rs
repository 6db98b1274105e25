use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
enum Summary {
    Short(String),
}

fn main() {}
