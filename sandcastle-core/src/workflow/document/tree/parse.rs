//! From the events of a YAML parser to the tree.
//!
//! Nothing is expanded, so a document costs what it is long: aliases and anchors are refused by name, and size and depth are
//! bounded. A key that is set twice keeps its first value.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::marks::Lines;
use super::scalar::{self, Plain};
use super::{Content, Entry, Node};
use crate::output::{clip, one_line};
use crate::workflow::definition::Text;
use crate::workflow::document::report::{Path, Report, shown};
use crate::workflow::finding::{Place, Severity};

/// The most bytes of a document.
pub(in crate::workflow::document) const MAX_BYTES: usize = 1 << 20;
/// The most lists and maps in each other.
const MAX_DEPTH: usize = 64;

/// The most characters of what the parser says.
const MAX_INFO_CHARS: usize = 200;

const BEGIN: Place = Place { line: 1, column: 1 };

/// Reads a document. Without a tree there is nothing to go on with; the report says why.
pub(in crate::workflow::document) fn parse(text: &str, report: &mut Report) -> Option<Node> {
    if text.len() > MAX_BYTES {
        let message = format!("has {} bytes, and {MAX_BYTES} are read at the most", text.len());
        report.error(&Path::default(), BEGIN, message, "move long prompts into files, with `prompt_file`");
        return None;
    }
    // Editors on some systems begin files with it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    if let Some((place, character)) = lines.unreadable_character() {
        let message = format!("has the control character `{}`", character.escape_unicode());
        report.error(
            &Path::default(),
            place,
            message,
            "remove it, or write it as an escape in double quotes",
        );
        return None;
    }
    let mut builder = Builder { lines, report, open: Vec::new(), root: None };
    match builder.build(text) {
        Ok(()) => builder.root,
        Err(stop) => {
            report.error(&Path::default(), stop.place, stop.message, stop.hint);
            None
        }
    }
}

/// Why the rest of a document is not read.
struct Stop {
    place: Place,
    message: String,
    hint: &'static str,
}

struct Builder<'a> {
    lines: Lines<'a>,
    report: &'a mut Report,
    open: Vec<Frame>,
    root: Option<Node>,
}

/// A list or a map that is not closed yet.
struct Frame {
    place: Place,
    path: Path,
    content: Partial,
}

enum Partial {
    List(Vec<Node>),
    Map(Map),
}

#[derive(Default)]
struct Map {
    entries: Vec<Entry>,
    seen: HashSet<String>,
    key: Option<Key>,
    /// Whether a key could not be read.
    is_broken: bool,
}

impl Partial {
    fn complete(self) -> Content {
        match self {
            Self::List(items) => Content::List(items),
            // Without a key that can be read there is no telling what it was meant to be.
            Self::Map(map) if map.entries.is_empty() && map.is_broken => Content::Unreadable,
            Self::Map(map) => Content::Map(map.entries),
        }
    }
}

/// A key whose value is not read yet; without a name there is something wrong with it.
struct Key {
    name: Option<String>,
    place: Place,
}

impl<'a> Builder<'a> {
    fn build(&mut self, text: &'a str) -> Result<(), Stop> {
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| fault(&error, &self.lines))?;
            let place = self.lines.within(place(span.start.line(), span.start.col()));
            match event {
                Event::DocumentStart(_) if self.root.is_some() => {
                    let (message, hint) = ("begins a second document", "a file has one workflow");
                    return Err(Stop { place, message: message.to_owned(), hint });
                }
                Event::Scalar(value, style, anchor, tag) => {
                    self.refuse(place, anchor, tag.is_some());
                    let node = self.scalar(&value, style, span);
                    self.close(node);
                }
                Event::SequenceStart(anchor, tag) => {
                    self.refuse(place, anchor, tag.is_some());
                    self.open(place, Partial::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.refuse(place, anchor, tag.is_some());
                    self.open(place, Partial::Map(Map::default()))?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close_frame(),
                Event::Alias(_) => {
                    self.error(place, "is an alias", "write the value out: documents have no aliases");
                    self.close(Node { place, content: Content::Unreadable });
                }
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd => {}
            }
        }
        Ok(())
    }

    fn open(&mut self, place: Place, content: Partial) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("is more than {MAX_DEPTH} lists and maps deep");
            return Err(Stop { place, message, hint: "split the workflow, or flatten it" });
        }
        let path = self.path();
        self.open.push(Frame { place, path, content });
        Ok(())
    }

    fn close_frame(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        self.close(Node { place: frame.place, content: frame.content.complete() });
    }

    /// Puts a node that is complete where it belongs.
    fn close(&mut self, node: Node) {
        match self.open.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(node),
            Some(Partial::List(items)) => items.push(node),
            Some(Partial::Map(map)) => match map.key.take() {
                None => self.begin_entry(&node),
                Some(Key { name: Some(key), place }) => {
                    let value = beside_key(node, place);
                    map.entries.push(Entry { key, place, value });
                }
                Some(Key { name: None, .. }) => {}
            },
        }
    }

    fn begin_entry(&mut self, node: &Node) {
        let name = self.key_name(node);
        let Some(Frame { content: Partial::Map(map), .. }) = self.open.last_mut() else { return };
        map.is_broken |= name.is_none();
        let is_new = name.as_ref().is_none_or(|name| map.seen.insert(name.clone()));
        let shown = name.as_deref().map(shown).unwrap_or_default();
        map.key = Some(Key { name: name.filter(|_| is_new), place: node.place });
        if !is_new {
            self.error(node.place, format!("sets `{shown}` a second time"), "remove one of the two");
        }
    }

    fn key_name(&mut self, node: &Node) -> Option<String> {
        let (message, hint) = match &node.content {
            Content::Text(text) if text.source == "<<" => {
                ("is a merge key", "write the keys out: documents have no merge keys")
            }
            Content::Text(text) => return Some(text.source.clone()),
            Content::Unreadable => return None,
            Content::List(_) | Content::Map(_) => (
                "has a key that is a list or a map",
                "quote a text that begins with `{{`, such as `\"{{ input }}\"`",
            ),
            Content::Null => ("has a key that is nothing", "give it a name"),
            Content::Boolean(_) | Content::Number(..) => {
                ("has a key that is no text", "put the key into quotes")
            }
        };
        self.error(node.place, message, hint);
        None
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, span: Span) -> Node {
        let place = self.lines.within(place(span.start.line(), span.start.col()));
        let plain = if style == ScalarStyle::Plain { scalar::read(value) } else { Ok(Plain::Text) };
        let content = match plain {
            Ok(Plain::Null) => Content::Null,
            Ok(Plain::Boolean(value)) => Content::Boolean(value),
            Ok(Plain::Number(number)) => Content::Number(number, value.to_owned()),
            Ok(Plain::Text) => {
                Content::Text(Text { source: value.to_owned(), marks: self.lines.marks(value, style, span) })
            }
            Err(refusal) => {
                self.error(place, format!("`{}` {}", shown(value), refusal.message), refusal.hint);
                Content::Unreadable
            }
        };
        Node { place, content }
    }

    fn refuse(&mut self, place: Place, anchor: usize, is_tagged: bool) {
        if anchor > 0 {
            self.error(place, "has an anchor", "remove it: documents have no aliases");
        }
        if is_tagged {
            self.error(place, "has a tag", "remove it; quote a text that begins with `!`");
        }
    }

    fn error(&mut self, place: Place, message: impl Into<String>, hint: &str) {
        if self.report.is_full() {
            return self.report.count_more(Severity::Error);
        }
        let path = self.path();
        self.report.error(&path, place, message, hint);
    }

    /// The path of the node that comes next.
    fn path(&self) -> Path {
        match self.open.last() {
            None => Path::default(),
            Some(Frame { path, content: Partial::List(items), .. }) => path.index(items.len()),
            Some(Frame { path, content: Partial::Map(map), .. }) => map
                .key
                .as_ref()
                .and_then(|key| key.name.as_ref())
                .map_or_else(|| path.clone(), |name| path.key(name)),
        }
    }
}

/// What to do about a document that is no YAML.
fn fault(error: &ScanError, lines: &Lines<'_>) -> Stop {
    let mark = error.marker();
    if let Some(place) = lines.tab_near(mark.line()) {
        let message = "is indented with a tab".to_owned();
        return Stop { place, message, hint: "indent with spaces: YAML knows no tabs there" };
    }
    let info = one_line(&clip(error.info(), MAX_INFO_CHARS)).into_owned();
    let hint = match info.as_str() {
        info if info.contains("mapping values are not allowed") => {
            "put a text with `: ` in it into quotes, or use `|` and indented lines; else look at the indentation"
        }
        info if info.contains("quoted scalar") => {
            "look for the quote that is missing, here or in the lines before"
        }
        info if info.contains("flow") => "look for the bracket that is missing, here or in the lines before",
        _ => {
            "look at the indentation, quotes and brackets here and in the line before; a text that begins with one of \
             `{[]}*&!%@|>` or a backtick has to be in quotes"
        }
    };
    let place = lines.within(place(mark.line(), mark.col()));
    Stop { place, message: format!("is no YAML: {info}"), hint }
}

/// A value that is not written at all is found at its key.
fn beside_key(node: Node, key: Place) -> Node {
    match node.content {
        Content::Null => Node { place: key, ..node },
        _ => node,
    }
}

pub(super) fn place(line: usize, columns_before: usize) -> Place {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Place { line: number(line), column: number(columns_before).saturating_add(1) }
}
