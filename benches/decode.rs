//! How fast the stream of a coding agent is decoded, held against the least that any decoder has to do.
//!
//! The stream is built from the recorded ones: tool calls and texts as they are, tool results of some kilobytes. The
//! yardstick reads the same lines with `serde_json` into flat borrowed types and throws the rest away. Run it with
//! `cargo bench --bench decode`; it prints both sides of the same run and their ratio.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measured, or stops")]

use std::borrow::Cow;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use sandcastle::jsonl::{Line, LineBuffer};
use sandcastle_agents::registry;
use serde::Deserialize;
use serde_json::json;

const STREAM_SIZE: usize = 64 * 1024 * 1024;
const READ_SIZE: usize = 64 * 1024;
const ROUNDS: usize = 7;

fn main() {
    let stream = stream();
    let lines: Vec<&[u8]> = stream.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    println!("{:.1} MiB in {} lines", mebibytes(&stream), lines.len());
    // Alternating rounds share whatever else the machine does; the best of each side is least disturbed by it.
    let (mut ours, mut yardstick) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(timed(|| decode(&stream)));
        yardstick = yardstick.min(timed(|| parse(&lines)));
    }
    report("decode", &stream, ours);
    report("serde_json, narrowest types", &stream, yardstick);
    println!("ratio {:.2}", ours.as_secs_f64() / yardstick.as_secs_f64());
}

/// Cuts the stream into lines and decodes them, as a run does.
fn decode(stream: &[u8]) -> usize {
    let entry = registry::find("claude-code").expect("the agent is built in");
    let mut decoder = entry.decoder();
    let mut lines = LineBuffer::new();
    let mut events = Vec::new();
    let mut count = 0;
    for read in stream.chunks(READ_SIZE) {
        lines.push(read);
        while let Some(Line::Complete(line)) = lines.next_line() {
            decoder.line(line, &mut events);
            count += black_box(&events).len();
            events.clear();
        }
    }
    count
}

/// Reads the lines, already cut, into types that hold what a decoder needs and no more.
fn parse(lines: &[&[u8]]) -> usize {
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow, default)]
        message: Option<Message<'a>>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow, default)]
        content: Vec<Block<'a>>,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow, default)]
        text: Cow<'a, str>,
    }
    let mut count = 0;
    for line in lines {
        let event: Event<'_> = serde_json::from_slice(line).expect("the stream is good");
        let blocks = event.message.iter().flat_map(|message| &message.content);
        count += event.kind.len() + blocks.map(|block| block.kind.len() + block.text.len()).sum::<usize>();
    }
    count
}

/// Builds a stream of one long session: recorded lines, with tool results as long as those of real work.
fn stream() -> Vec<u8> {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/streams/claude-code/2.1.197/thinking-split.jsonl");
    let recorded = std::fs::read_to_string(recorded).expect("the recorded stream is there");
    let (init, rest) = recorded.split_once('\n').expect("a stream has lines");
    let (turn, end) = rest.trim_end().rsplit_once('\n').expect("a stream has an end");
    let source = include_str!("decode.rs");
    let mut stream = format!("{init}\n");
    while stream.len() < STREAM_SIZE {
        stream += turn;
        stream.push('\n');
        for size in [200, 1000, 4000, 8000] {
            // A tool result stands in the line twice: as told to the model, and as the program keeps it.
            let output = source.get(..size).unwrap_or(source);
            let line = json!({
                "type": "user",
                "message": {"role": "user", "content": [
                    {"tool_use_id": "toolu_lab", "type": "tool_result", "content": output, "is_error": false}]},
                "parent_tool_use_id": null,
                "session_id": "7f4972c6-e395-49d3-8649-2fa56e16611a",
                "uuid": "9dafcc30-6ce2-4cd8-84e8-3e26da662d96",
                "timestamp": "2026-11-30T03:19:22.350Z",
                "tool_use_result": {"stdout": output, "stderr": "", "interrupted": false, "isImage": false},
            });
            stream += &format!("{line}\n");
        }
    }
    stream += end;
    stream.push('\n');
    stream.into_bytes()
}

fn timed(work: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn report(name: &str, stream: &[u8], time: Duration) {
    println!("{name}: {:.0} MiB/s", mebibytes(stream) / time.as_secs_f64());
}

fn mebibytes(stream: &[u8]) -> f64 {
    stream.len() as f64 / (1024.0 * 1024.0)
}
