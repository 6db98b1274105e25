use sandcastle::AgentOutput;

#[derive(AgentOutput)]
#[output(tag = "summary", text)]
struct Summary(std::rc::Rc<str>);

fn main() {}
