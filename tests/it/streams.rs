//! Recorded streams against the events that they stand for.
//!
//! Every `tests/fixtures/streams/<agent>/<version>/<case>.jsonl` is decoded and held against `<case>.events.json`; the
//! README there says how to add one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sandcastle::event::AgentEvent;
use sandcastle::jsonl::{Line, LineBuffer};
use sandcastle_agents::registry;

struct Stream {
    agent: String,
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Reads all streams, in the order of their paths.
fn streams() -> Vec<Stream> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    let files =
        folders(&root).into_iter().flat_map(|agent| folders(&agent)).flat_map(|version| entries(&version));
    let streams = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    streams
        .map(|path| Stream {
            agent: path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap().to_owned(),
            bytes: fs::read(&path).unwrap(),
            path,
        })
        .collect()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    entries(parent).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(parent: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn decode(stream: &Stream, read_size: usize) -> Vec<AgentEvent> {
    let mut decoder = registry::find(&stream.agent).unwrap().decoder();
    let mut lines = LineBuffer::new();
    let mut events = Vec::new();
    let mut read = |line: Line<'_>| match line {
        Line::Complete(line) => decoder.line(line, &mut events),
        Line::Oversized { bytes } => panic!("{}: a line of {bytes} bytes", stream.path.display()),
    };
    for chunk in stream.bytes.chunks(read_size) {
        lines.push(chunk);
        while let Some(line) = lines.next_line() {
            read(line);
        }
    }
    lines.finish().into_iter().for_each(read);
    decoder.end(&mut events);
    events
}

/// Writes an array with one event a line, so that a change shows as a changed line.
fn render(events: &[AgentEvent]) -> String {
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[expect(clippy::disallowed_methods, reason = "the switch is for the person who runs the tests")]
fn blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn every_stream_says_what_is_expected() {
    let mut problems = String::new();
    for stream in streams() {
        let expectation = stream.path.with_extension("events.json");
        let said = render(&decode(&stream, usize::MAX));
        if blessing() {
            fs::write(&expectation, said).unwrap();
            continue;
        }
        match fs::read_to_string(&expectation) {
            Ok(expected) if expected == said => {}
            Ok(expected) => {
                writeln!(problems, "{}:\n--- expected\n{expected}--- said\n{said}", stream.path.display())
                    .unwrap();
            }
            Err(error) => writeln!(problems, "{}: {error}", expectation.display()).unwrap(),
        }
    }
    let advice =
        "`BLESS=1 cargo test --test it streams` writes what is said now; review it before you commit it";
    assert!(problems.is_empty(), "{problems}\n{advice}");
}

#[test]
fn any_size_of_reads_gives_the_same_events() {
    for stream in streams() {
        let whole = decode(&stream, usize::MAX);
        for read_size in [1, 7, 4096] {
            assert_eq!(
                decode(&stream, read_size),
                whole,
                "{} in reads of {read_size}",
                stream.path.display()
            );
        }
    }
}

#[test]
fn every_expectation_has_its_stream_and_every_agent_has_streams() {
    let streams = streams();
    for agent in registry::AGENTS {
        assert!(streams.iter().any(|stream| stream.agent == agent.name), "no stream of `{}`", agent.name);
    }
    for stream in &streams {
        for path in entries(stream.path.parent().unwrap()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let jsonl =
                name.strip_suffix(".events.json").map(|case| path.with_file_name(format!("{case}.jsonl")));
            assert!(jsonl.is_none_or(|jsonl| jsonl.exists()), "{} has no stream", path.display());
        }
    }
}
