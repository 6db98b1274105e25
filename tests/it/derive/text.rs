//! Text outputs.

use std::sync::Arc;

use sandcastle::AgentOutput;
use sandcastle::output::{OutputFormat, Problem, Stage};

use super::agreement::answer;

#[derive(Debug, PartialEq, AgentOutput)]
#[output(tag = "summary", text, validate = "Self::check")]
struct Summary(String);

impl Summary {
    fn check(&self) -> Result<(), Vec<Problem>> {
        if self.0.contains("TODO") { Err(vec![Problem::new("", "must be finished")]) } else { Ok(()) }
    }
}

#[derive(Debug, AgentOutput)]
#[output(tag = "shared", text)]
struct Shared<S: From<String> + Send + 'static>(S);

#[test]
fn a_text_is_trimmed_and_otherwise_kept() {
    assert_eq!(Summary::FORMAT, OutputFormat::Text);
    let text = "{\"not\": json,}\n\n  ```sh\nls\n```";
    assert_eq!(answer::<Summary>(&format!("\n  {text}\t\n")).unwrap(), Summary(text.to_owned()));
}

#[test]
fn a_text_must_pass_the_users_function() {
    let error = answer::<Summary>("TODO").unwrap_err();
    assert_eq!((error.stage(), error.problems.len()), (Stage::Rejected, 1));
    assert_eq!(Summary::extract("no tag at all").unwrap_err().stage(), Stage::Missing);
}

#[test]
fn the_field_is_anything_made_from_a_string() {
    assert_eq!(&*answer::<Shared<Arc<str>>>("a").unwrap().0, "a");
    assert_eq!(answer::<Shared<Vec<u8>>>("a").unwrap().0, b"a");
}

#[test]
fn the_schema_is_that_of_a_string() {
    assert_eq!(Summary::schema().as_value()["type"], "string");
    assert_eq!(Shared::<Vec<u8>>::schema().as_value()["type"], "string");
}
