//! The pieces of an output may come from the user's own macro, and the type may stand inside a function.

use sandcastle::AgentOutput;
use sandcastle::output::Problem;

macro_rules! text_output {
    ($name:ident($inner:ty), $tag:literal, $retries:expr, $check:literal) => {
        #[derive(AgentOutput)]
        #[output(tag = $tag, max_retries = $retries, validate = $check, text)]
        struct $name($inner);
    };
}

fn main() {
    fn not_blank(summary: &Summary) -> Result<(), Vec<Problem>> {
        if summary.0.is_empty() { Err(vec![Problem::new("", "must not be blank")]) } else { Ok(()) }
    }
    text_output!(Summary(String), "summary", 3, "not_blank");

    assert_eq!((Summary::TAG, Summary::MAX_RETRIES), ("summary", 3));
    assert!(Summary::extract("<summary>done</summary>").is_ok());
    assert!(Summary::extract("<summary> </summary>").is_err());
}
