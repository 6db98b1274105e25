//! The tools that the caller brings, and how a call of one becomes its result.
//!
//! Arguments are the model's and may be anything; a handler is the caller's and may panic. Neither ends a run: what went
//! wrong is the result, and the model goes on from there.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;

use crate::model::{Message, ToolCall, ToolSpec};

type Handled = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;
type Handler = dyn Fn(Value) -> Handled + Send + Sync;

/// One tool.
#[derive(Clone)]
pub(super) struct Tool {
    pub(super) spec: ToolSpec,
    handler: Arc<Handler>,
}

impl Tool {
    pub(super) fn new<F, R>(spec: ToolSpec, handler: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, String>> + Send + 'static,
    {
        Self { spec, handler: Arc::new(move |arguments| Box::pin(handler(arguments))) }
    }

    async fn handle(&self, arguments: Value) -> Result<String, String> {
        // The function itself runs inside, so that a panic of it is caught as one of its future is.
        let handled = async { (self.handler)(arguments).await };
        AssertUnwindSafe(handled).catch_unwind().await.unwrap_or_else(|_| Err("the tool panicked".to_owned()))
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.spec.name).finish()
    }
}

/// Does what a call asks for, and words the result.
pub(super) async fn answer(tools: &[Tool], call: &ToolCall) -> Message {
    let done = match (tools.iter().find(|tool| tool.spec.name == call.name), arguments(call)) {
        (None, _) => Err(format!("there is no tool `{}`", call.name)),
        (Some(_), Err(why)) => Err(why),
        (Some(tool), Ok(arguments)) => tool.handle(arguments).await,
    };
    let (content, is_error) = match done {
        Ok(content) => (content, false),
        Err(why) => (why, true),
    };
    result(call, content, if is_error { Came::Failed } else { Came::Back })
}

/// How a tool came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Back,
    Failed,
}

/// Puts what is said about a call into a message.
pub(super) fn result(call: &ToolCall, content: String, came: Came) -> Message {
    Message::ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error: came == Came::Failed,
    }
}

/// Reads the arguments; a tool without any is often called with none at all.
fn arguments(call: &ToolCall) -> Result<Value, String> {
    if call.arguments.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&call.arguments).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("the arguments are not valid JSON: line {line} column {column}")
    })
}
