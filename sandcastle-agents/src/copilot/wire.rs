//! What `copilot --output-format json` prints, as far as it is read.
//!
//! Two flat types serve every line and the data in it: tagged enums would buffer the whole line to find the tag.

use serde::Deserialize;

use crate::json::{Lenient, Text};
use crate::tool::Arguments;

/// One line of the stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub data: Data<'a>,
    /// The sub-agent that the line is about.
    #[serde(borrow, default, rename = "agentId")]
    pub agent: Option<Text<'a>>,
    #[serde(borrow, default, rename = "sessionId")]
    pub session: Lenient<Text<'a>>,
    #[serde(default, rename = "exitCode")]
    pub exit_code: Lenient<i64>,
}

/// What a line says, of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    #[serde(borrow)]
    pub message_id: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub delta_content: Option<Text<'a>>,
    #[serde(borrow)]
    pub content: Lenient<Text<'a>>,
    /// The tool call that a sub-agent works for, in older versions.
    #[serde(borrow)]
    pub parent_tool_call_id: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub tool_name: Lenient<Text<'a>>,
    pub arguments: Lenient<Arguments>,
    pub success: Lenient<bool>,
    #[serde(borrow)]
    pub reason: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub error_type: Lenient<Text<'a>>,
    #[serde(borrow)]
    pub message: Lenient<Text<'a>>,
    pub status_code: Lenient<u16>,
    pub aborted: Lenient<bool>,
}
