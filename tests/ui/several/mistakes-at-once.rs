use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "promise", max_retries = 11, txt)]
#[output(validate = "a b", tag = "again")]
union Number {
    whole: u32,
    real: f32,
}

fn main() {}
