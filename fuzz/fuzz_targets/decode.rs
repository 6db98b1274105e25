//! Arbitrary output of an agent: no decoder panics, and the sizes of the reads change nothing.
//!
//! The first byte chooses the agent, the second the size of the reads, the rest is the stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sandcastle_agents::registry::{AGENTS, Entry};
use sandcastle_core::event::AgentEvent;
use sandcastle_core::jsonl::{Line, LineBuffer};

fuzz_target!(|input: &[u8]| {
    let [agent, read_size, stream @ ..] = input else { return };
    let agent = &AGENTS[usize::from(*agent) % AGENTS.len()];
    let whole = decode(agent, stream, usize::MAX);
    let pieces = decode(agent, stream, usize::from(*read_size).max(1));
    assert_eq!(whole, pieces);
});

fn decode(agent: &Entry, stream: &[u8], read_size: usize) -> Vec<AgentEvent> {
    let mut decoder = agent.decoder();
    let mut lines = LineBuffer::new();
    let mut events = Vec::new();
    let mut read = |line: Line<'_>| {
        if let Line::Complete(line) = line {
            decoder.line(line, &mut events);
        }
    };
    for chunk in stream.chunks(read_size) {
        lines.push(chunk);
        while let Some(line) = lines.next_line() {
            read(line);
        }
    }
    lines.finish().into_iter().for_each(read);
    decoder.end(&mut events);
    events
}
