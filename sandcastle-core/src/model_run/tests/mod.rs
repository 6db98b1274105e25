//! Model runs against a scripted model: what is sent, what is accepted, and what is told.

mod any;
mod budgets;
mod doors;
mod hostile;
mod judging;
mod retries;
mod strategies;
mod tools;
mod transport;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{ModelRun, ModelRunEvent};
use crate::event::FailureKind;
use crate::model::{Message, ModelAnswer, ModelFailure, ModelRequest, Price};
use crate::output::OutputSpec;
use crate::testing::ScriptedModel;
use crate::work::Usage;

const GOOD: &str = r#"<result>{"n":1}</result>"#;
const BAD: &str = r#"<result>{"n":"x"}</result>"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    })
}

fn spec() -> OutputSpec {
    OutputSpec::json("result", schema()).unwrap()
}

fn asking(model: &ScriptedModel) -> ModelRun<Value> {
    ModelRun::new(model.clone()).prompt("Count.").output_spec(spec())
}

/// A model that gives these answers.
fn answering<'a>(answers: impl IntoIterator<Item = &'a str>) -> ScriptedModel {
    answers.into_iter().fold(ScriptedModel::new(), ScriptedModel::answer)
}

/// An answer that used so many tokens.
fn using(text: &str, tokens: u64) -> ModelAnswer {
    let usage = Usage { output_tokens: tokens, ..Usage::default() };
    ModelAnswer { text: text.to_owned(), usage, ..ModelAnswer::default() }
}

/// One dollar for each token of output.
fn a_dollar_each() -> Price {
    Price::new(0.0, 1e6)
}

fn transport() -> ModelFailure {
    ModelFailure::new(FailureKind::Transport, "overloaded").with_status(529)
}

/// Keeps what is told.
fn listening<O>(run: ModelRun<O>) -> (ModelRun<O>, Arc<Mutex<Vec<ModelRunEvent>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&told);
    (run.on_event(move |event| ears.lock().unwrap().push(event.clone())), told)
}

/// The text of the last message, which has to be the user's.
fn last_said(request: &ModelRequest) -> &str {
    match request.messages.last() {
        Some(Message::User { text }) => text,
        other => panic!("{other:?}"),
    }
}
