//! What a scripted agent prints: one of these records a line.
//!
//! An externally tagged enum needs no buffering, and the tag is the first thing that a reader sees in a saved stream.

use sandcastle_core::event::{FailureKind, StopReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::Text;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record<'a> {
    #[serde(borrow)]
    Session(Text<'a>),
    #[serde(borrow)]
    Text(Text<'a>),
    #[serde(borrow)]
    Thinking(Text<'a>),
    #[serde(borrow)]
    SubAgentText(Text<'a>),
    Tool {
        #[serde(borrow)]
        name: Text<'a>,
        #[serde(borrow)]
        input: &'a RawValue,
    },
    ToolResult {
        is_error: bool,
        #[serde(borrow)]
        output: Text<'a>,
    },
    /// What was used so far.
    Used {
        input_tokens: u64,
        output_tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    Completed {
        input_tokens: u64,
        output_tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        stop: StopReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
    },
    Failed {
        kind: FailureKind,
        #[serde(borrow)]
        message: Text<'a>,
    },
}
