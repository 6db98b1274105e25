use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "result")]
union Number {
    whole: u32,
    real: f32,
}

fn main() {}
