//! Hostile output, for every decoder.
//!
//! Whatever an agent prints, no decoder panics, and every text that is not part of an answer is bounded.

use proptest::prelude::*;
use sandcastle_core::event::AgentEvent;

use crate::registry::AGENTS;

/// The longest text in an event of a kind that is bounded.
const BOUND: usize = 2000;

/// Parts of lines that reach deep into the decoders.
const PARTS: &[&str] = &[
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}"#,
    r#"{"type":"assistant","message":{"model":"<synthetic>","content":"x"},"error":"rate_limit"}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true}]}}"#,
    r#"{"type":"result","is_error":false,"result":"x","usage":{"input_tokens":18446744073709551615}}"#,
    r#"{"type":"system","subtype":"init","session_id":"s"}"#,
    r#"{"type":"thread.started","thread_id":"t"}"#,
    r#"{"type":"item.completed","item":{"type":"agent_message","text":"a"}}"#,
    r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":18446744073709551615}}"#,
    r#"{"type":"error","message":"status 401"}"#,
    r#"{"type":"message","role":"assistant","content":"a","delta":true}"#,
    r#"{"type":"tool_use","tool_name":"x","parameters":{"command":"y"}}"#,
    r#"{"type":"result","status":"error","error":{"message":"[API Error: {\"error\":{\"code\":401}}]"},"stats":{}}"#,
    r#"{"type":"assistant.message_delta","data":{"messageId":"m","deltaContent":"a"}}"#,
    r#"{"type":"session.error","data":{"errorType":"query","message":"x","statusCode":401}}"#,
    r#"{"type":"result","sessionId":"s","exitCode":0}"#,
    r#"{"type":"tool_call","subtype":"started","tool_call":{"shellToolCall":{"args":{"command":"y"}}}}"#,
    r#"{"completed":{"input_tokens":1,"output_tokens":2,"stop":"complete"}}"#,
    r#"{"tool":{"name":"x","input":{"command":"y"}}}"#,
    r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop"}}"#,
    r#"{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"429 x"}}"#,
    r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta"}}"#,
    r#"{"type":"tool_execution_start","toolName":"bash","args":{"command":"y"}}"#,
    r#"{"type":"auto_retry_start","attempt":1,"errorMessage":"x"}"#,
    r#"{"type":"agent_end","messages":[]}"#,
    r#"{"type":"text","sessionID":"s","part":{"text":"a"}}"#,
    r#"{"type":"tool_use","sessionID":"s","part":{"tool":"bash","state":{"input":{"command":"y"}}}}"#,
    r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{"input":18446744073709551615}}}"#,
    r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"statusCode":401}}}"#,
    "\\ud800",
    "1e999",
    "null",
    "\n",
];

fn decode(stream: &[u8]) -> Vec<Vec<AgentEvent>> {
    let decode = |entry: &crate::registry::Entry| {
        let mut decoder = entry.decoder();
        let mut events = Vec::new();
        for line in stream.split(|&byte| byte == b'\n') {
            decoder.line(line, &mut events);
        }
        decoder.end(&mut events);
        events
    };
    AGENTS.iter().map(decode).collect()
}

fn assert_bounded(events: &[AgentEvent]) {
    for event in events {
        let length = match event {
            AgentEvent::Unknown { line } => line.len(),
            AgentEvent::ToolCall { name, detail } => name.len().max(detail.len()),
            AgentEvent::Waiting { message }
            | AgentEvent::Warning { message }
            | AgentEvent::TurnFailed { message, .. } => message.len(),
            _ => 0,
        };
        assert!(length <= BOUND, "{length} bytes: {event:.100?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_decoded(stream in proptest::collection::vec(any::<u8>(), 0..400)) {
        for events in decode(&stream) {
            assert_bounded(&events);
        }
    }

    #[test]
    fn broken_lines_are_decoded(
        parts in proptest::collection::vec((proptest::sample::select(PARTS), any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut stream = Vec::new();
        for (part, at, byte) in parts {
            let mut part = part.as_bytes().to_vec();
            let at = at.index(part.len());
            part[at] = byte;
            stream.extend(part);
            if byte % 2 == 0 {
                stream.push(b'\n');
            }
        }
        for events in decode(&stream) {
            assert_bounded(&events);
        }
    }
}

#[test]
fn deep_nesting_is_data() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let arrays = deep("[", "]");
    let objects = deep(r#"{"a":"#, "}").replace(":}", ":1}");
    for nested in [&arrays, &objects] {
        for line in [
            nested.clone(),
            format!(r#"{{"type":"result","result":"x","structured_output":{nested}}}"#),
            format!(r#"{{"type":"assistant","message":{{"content":{nested}}}}}"#),
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"x","input":{{"a":{nested}}}}}]}}}}"#
            ),
            format!(r#"{{"type":"tool_use","tool_name":"x","parameters":{nested}}}"#),
            format!(r#"{{"type":"tool.execution_start","data":{{"toolName":"x","arguments":{nested}}}}}"#),
            format!(r#"{{"type":"tool_call","subtype":"started","tool_call":{{"x":{nested}}}}}"#),
            format!(r#"{{"type":"item.started","item":{{"type":"mcp_tool_call","arguments":{nested}}}}}"#),
            format!(r#"{{"tool":{{"name":"x","input":{nested}}}}}"#),
            format!(r#"{{"type":"tool_execution_start","args":{nested}}}"#),
            format!(r#"{{"type":"message_end","message":{{"role":"assistant","content":{nested}}}}}"#),
            format!(r#"{{"type":"tool_use","part":{{"state":{{"input":{nested},"metadata":{nested}}}}}}}"#),
        ] {
            for events in decode(line.as_bytes()) {
                assert_bounded(&events);
                assert_ne!(events, [], "{line:.80}");
            }
        }
    }
}

#[test]
fn absurd_numbers_are_data() {
    let most = u64::MAX;
    let result = format!(
        r#"{{"type":"result","result":"x","usage":{{"input_tokens":{most},"output_tokens":{most}}}}}"#
    );
    let turn = format!(
        r#"{{"type":"turn.completed","usage":{{"cached_input_tokens":{most},"cache_write_input_tokens":{most}}}}}"#
    );
    let stats = format!(
        r#"{{"type":"result","status":"success","stats":{{"total_tokens":{most},"input_tokens":{most},"output_tokens":{most}}}}}"#
    );
    let tokens = format!(r#"{{"type":"result","usage":{{"inputTokens":{most},"cacheReadTokens":{most}}}}}"#);
    let lines = [&result, &result, &turn, &stats, &tokens];
    let events = decode(lines.map(String::as_str).join("\n").as_bytes()).concat();
    let totals = events.iter().filter_map(|event| match event {
        AgentEvent::Usage { usage, .. } => Some(usage.total_tokens()).filter(|&total| total > 0),
        _ => None,
    });
    let totals: Vec<u64> = totals.collect();
    assert!(totals.len() >= lines.len() && totals.iter().all(|&total| total == most), "{totals:?}");
}

#[test]
fn long_parts_are_cut() {
    let long = "日".repeat(100_000);
    for line in [
        format!(r#"{{"type":"{long}"}}"#),
        format!(r#"{{"type":"system","subtype":"api_retry","error":"{long}"}}"#),
        format!(r#"{{"type":"result","is_error":true,"result":"{long}"}}"#),
        format!(
            r#"{{"type":"result","permission_denials":[{{"tool_name":"{long}","tool_input":{{"command":"{long}"}}}}]}}"#
        ),
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"{long}","input":{{"{long}":"{long}"}}}}]}}}}"#
        ),
        format!(r#"{{"type":"error","message":"{long}"}}"#),
        format!(r#"{{"type":"result","status":"error","error":{{"message":"[API Error: {long}]"}}}}"#),
        format!(r#"{{"type":"tool_use","tool_name":"{long}","parameters":{{"command":"{long}"}}}}"#),
        format!(r#"{{"type":"session.error","data":{{"message":"{long}"}}}}"#),
        format!(r#"{{"type":"assistant.turn_retry","data":{{"reason":"{long}"}}}}"#),
        format!(
            r#"{{"type":"tool.execution_start","data":{{"toolName":"{long}","arguments":{{"a":"{long}"}}}}}}"#
        ),
        format!(
            r#"{{"type":"tool_call","subtype":"started","tool_call":{{"{long}ToolCall":{{"args":{{"command":"{long}"}}}}}}}}"#
        ),
        format!(
            r#"{{"type":"tool_call","subtype":"started","tool_call":{{"function":{{"name":"{long}","arguments":"{long}"}}}}}}"#
        ),
        format!(
            r#"{{"type":"item.completed","item":{{"type":"file_change","changes":[{{"path":"{long}"}}]}}}}"#
        ),
        format!(r#"{{"tool":{{"name":"{long}","input":"{long}"}}}}"#),
        format!(r#"{{"failed":{{"kind":"other","message":"{long}"}}}}"#),
        format!(r#"{{"type":"auto_retry_start","errorMessage":"{long}"}}"#),
        format!(r#"{{"type":"auto_retry_end","success":false,"finalError":"{long}"}}"#),
        format!(r#"{{"type":"compaction_start","reason":"{long}"}}"#),
        format!(r#"{{"type":"tool_execution_start","toolName":"{long}","args":{{"command":"{long}"}}}}"#),
        format!(r#"{{"type":"tool_use","part":{{"tool":"{long}","state":{{"input":"{long}"}}}}}}"#),
        format!(
            r#"{{"type":"error","error":{{"name":"{long}","data":{{"message":"{long}","statusCode":401}}}}}}"#
        ),
    ] {
        for events in decode(line.as_bytes()) {
            assert_bounded(&events);
        }
    }
}
