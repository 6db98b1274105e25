//! `sandcastle extract`: reads a structured output from what an agent printed earlier.
//!
//! The input is read piece by piece and never kept, so it may be of any length.

use std::io::Read;

use sandcastle::agent::Decoder;
use sandcastle::event::StopReason;
use sandcastle::jsonl::{Line, LineBuffer};
use sandcastle::output::locate::Locator;
use sandcastle::{AgentEvent, OutputFormat, OutputSpec, registry};
use serde_json::{Value, json};

use super::output::{open, spec};
use crate::cli::ExtractArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

/// How much is read at once.
const PIECE: usize = 64 * 1024;

pub(super) fn extract(args: &ExtractArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let spec = spec(&args.tag, args.schema.as_deref(), args.text)?;
    let decoder =
        args.agent.as_deref().map(|name| registry::find(name).map(registry::Entry::decoder)).transpose()?;
    let mut input = open(&args.file)?;
    let mut answer = Answer { located: spec.locator(), stop: StopReason::Complete };
    let read = match decoder {
        Some(decoder) => read_stream(&mut *input, decoder, &mut answer),
        None => read_text(&mut *input, &mut answer.located),
    };
    read.map_err(|error| Failure::input(format_args!("read `{}`", args.file.display()), error))?;
    match spec.read_located(answer.located, answer.stop) {
        Ok(value) => {
            reporter.result(&json!({ "output": value }), &bare(&value, &spec))?;
            Ok(Exit::Done)
        }
        Err(error) => Err(Failure::from(&error)),
    }
}

/// What is read of an answer.
struct Answer {
    located: Locator,
    /// How the agent says that it ended; a text says nothing of that.
    stop: StopReason,
}

impl Answer {
    fn take(&mut self, events: &mut Vec<AgentEvent>) {
        for event in events.drain(..) {
            match event {
                AgentEvent::Text { text } => self.located.push(&text),
                AgentEvent::TurnCompleted { stop, .. } => self.stop = stop,
                AgentEvent::TurnFailed { failure, .. } => {
                    self.stop = failure.stop().unwrap_or(StopReason::Complete);
                }
                _ => {}
            }
        }
    }
}

/// The value alone: JSON as JSON, text as text.
fn bare(value: &Value, spec: &OutputSpec) -> String {
    match value {
        Value::String(text) if spec.format() == OutputFormat::Text => text.clone(),
        value => value.to_string(),
    }
}

fn read_text(input: &mut dyn Read, locator: &mut Locator) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut cut = Vec::new();
    loop {
        let count = input.read(&mut piece)?;
        if count == 0 {
            locator.push(&String::from_utf8_lossy(&cut));
            return Ok(());
        }
        cut.extend_from_slice(&piece[..count]);
        // A character at the edge of two pieces waits for its second half.
        let whole = cut.len() - unfinished(&cut);
        locator.push(&String::from_utf8_lossy(&cut[..whole]));
        cut.drain(..whole);
    }
}

/// Counts the bytes at the end that begin a character and do not finish it.
fn unfinished(bytes: &[u8]) -> usize {
    // What is not UTF-8 earlier in the piece says nothing of its end.
    let end = bytes.utf8_chunks().last().map_or(&b""[..], |chunk| chunk.invalid());
    let is_cut = std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none());
    if is_cut { end.len() } else { 0 }
}

fn read_stream(
    input: &mut dyn Read,
    mut decoder: Box<dyn Decoder>,
    answer: &mut Answer,
) -> std::io::Result<()> {
    let mut lines = LineBuffer::new();
    let mut events = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        let count = input.read(&mut piece)?;
        lines.push(&piece[..count]);
        while let Some(line) = lines.next_line() {
            decode(line, decoder.as_mut(), &mut events, answer);
        }
        if count == 0 {
            if let Some(line) = lines.finish() {
                decode(line, decoder.as_mut(), &mut events, answer);
            }
            decoder.end(&mut events);
            answer.take(&mut events);
            return Ok(());
        }
    }
}

fn decode(line: Line<'_>, decoder: &mut dyn Decoder, events: &mut Vec<AgentEvent>, answer: &mut Answer) {
    if let Line::Complete(bytes) = line {
        decoder.line(bytes, events);
        answer.take(events);
    }
}

#[cfg(test)]
mod tests {
    use super::unfinished;

    #[test]
    fn a_cut_character_is_kept_whatever_stands_before_it() {
        let text = "x日".as_bytes();
        for before in [&b""[..], b"\xff", b"\xffaa\xf0\x9f"] {
            for (cut, expected) in [(4, 0), (3, 2), (2, 1), (1, 0)] {
                assert_eq!(unfinished(&[before, &text[..cut]].concat()), expected, "{before:?} {cut}");
            }
        }
        assert_eq!(unfinished(b"\xff"), 0);
        assert_eq!(unfinished(b""), 0);
    }
}
