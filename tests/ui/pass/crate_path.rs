//! The generated code can reach the engine without the facade, or through a module of the user's.

mod engine {
    pub use sandcastle_core::*;
}

mod direct {
    #[derive(serde::Deserialize, schemars::JsonSchema, sandcastle::AgentOutput)]
    #[output(tag = "a", crate = "sandcastle_core")]
    pub struct Report(pub Vec<u8>);
}

mod renamed {
    #[derive(serde::Deserialize, schemars::JsonSchema, sandcastle::AgentOutput)]
    #[output(tag = "b", crate = "crate::engine")]
    pub struct Report(pub Vec<u8>);

    #[derive(sandcastle::AgentOutput)]
    #[output(crate = "super::engine", tag = "c", text)]
    pub struct Summary(pub String);
}

fn main() {
    use sandcastle_core::output::AgentOutput;

    assert_eq!((direct::Report::TAG, renamed::Report::TAG, renamed::Summary::TAG), ("a", "b", "c"));
    assert_eq!(direct::Report::extract("<a>[1]</a>").unwrap().0, [1]);
    assert_eq!(renamed::Report::extract("<b>[2]</b>").unwrap().0, [2]);
    assert_eq!(renamed::Summary::extract("<c>three</c>").unwrap().0, "three");
}
