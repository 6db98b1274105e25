//! YAML documents of the kind that people write, as JSON values: every scalar is a text, and there are no aliases.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

/// Reads one document.
///
/// # Panics
/// When it is none, sets a key twice, or has aliases.
pub(crate) fn parse(text: &str) -> Value {
    let mut events = Parser::new_from_str(text).map(|event| event.expect("YAML").0);
    loop {
        match events.next().expect("a document") {
            Event::StreamStart | Event::DocumentStart(_) => {}
            event => return value(event, &mut events),
        }
    }
}

fn value<'a>(first: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match first {
        Event::Scalar(text, ..) => Value::String(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match next(events) {
                    Event::SequenceEnd => return Value::Array(items),
                    item => items.push(value(item, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut map = Map::new();
            loop {
                let key = match next(events) {
                    Event::MappingEnd => return Value::Object(map),
                    Event::Scalar(key, ..) => key.into_owned(),
                    other => panic!("a key is a text, and not {other:?}"),
                };
                let first = next(events);
                let twice = map.insert(key.clone(), value(first, events));
                assert!(twice.is_none(), "`{key}` is set twice");
            }
        }
        other => panic!("no value: {other:?}"),
    }
}

fn next<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Event<'a> {
    events.next().expect("more of the document")
}
