//! Finds a place for everything in a chart: nodes below each other on an axis, ways beside each other between them.
//!
//! Steps are in series or side by side and nothing else, so that sizes add up from the inside and no line ever crosses another.
//! All is counted in whole units, which are the same everywhere.

use console::measure_text_width;

use super::chart::{Chart, Kind, Node, Part, Way};

/// The height of a node.
const NODE: i32 = 46;
/// Between a node and the next.
const GAP: i32 = 30;
/// Between a way and the one beside it.
const BESIDE: i32 = 28;
/// Between a node and where the ways part, and where they come together.
const BUS: i32 = 16;
/// Between where the ways part and their first nodes; a label stands there.
const LABELLED: i32 = 36;
/// Around the picture.
const MARGIN: i32 = 24;
/// The name of the workflow.
const TITLE: i32 = 32;
/// The radius of where it begins and ends.
pub(super) const DOT: i32 = 7;

/// A picture: everything with its place.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) boxes: Vec<Box>,
    pub(super) lines: Vec<Line>,
    pub(super) labels: Vec<Label>,
    /// Where it begins and ends.
    pub(super) dots: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// A node.
#[derive(Debug)]
pub(super) struct Box {
    pub(super) kind: Kind,
    pub(super) corner: Point,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) name: String,
    pub(super) note: String,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) points: Vec<Point>,
    pub(super) head: Head,
}

/// Whether a line ends at something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Arrow,
    Plain,
}

/// What stands beside a line.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Size {
    width: i32,
    height: i32,
}

/// Arranges a chart.
pub(super) fn arrange(chart: &Chart) -> Picture {
    let inner = size_of(&chart.parts);
    let title = text_width(&chart.name, 9);
    let mut picture = Picture { width: inner.width.max(title) + 2 * MARGIN, ..Picture::default() };
    let start = Point { x: picture.width / 2, y: MARGIN + TITLE + DOT };
    picture.dots.push(start);
    let begin = Point { y: start.y + DOT, ..start };
    let first = Point { y: begin.y + GAP, ..begin };
    picture.height = first.y + inner.height + MARGIN;
    let exit = if chart.parts.is_empty() {
        Some(begin)
    } else {
        picture.line(vec![begin, first], Head::Arrow);
        picture.sequence(&chart.parts, first)
    };
    if let Some(exit) = exit {
        let end = Point { y: exit.y + GAP, ..exit };
        picture.line(vec![exit, end], Head::Arrow);
        picture.dots.push(Point { y: end.y + DOT, ..end });
        picture.height = end.y + 2 * DOT + MARGIN;
    }
    picture
}

impl Picture {
    /// Places nodes below each other, the first at this point of its upper edge, and returns where they end, unless nothing
    /// follows.
    fn sequence(&mut self, parts: &[Part], mut at: Point) -> Option<Point> {
        let mut exit = Some(at);
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                let from = exit?;
                at = Point { y: from.y + GAP, ..from };
                self.line(vec![from, at], Head::Arrow);
            }
            exit = self.part(part, at);
        }
        exit
    }

    fn part(&mut self, part: &Part, at: Point) -> Option<Point> {
        let width = node_width(&part.node);
        let Node { kind, name, note } = &part.node;
        self.boxes.push(Box {
            kind: *kind,
            corner: Point { x: at.x - width / 2, y: at.y },
            width,
            height: NODE,
            name: name.clone(),
            note: note.clone(),
        });
        let below = Point { y: at.y + NODE, ..at };
        match kind {
            Kind::Failure => None,
            _ if part.ways.is_empty() => Some(below),
            _ => self.ways(&part.ways, below),
        }
    }

    /// Places ways beside each other, and brings together what does not end.
    fn ways(&mut self, ways: &[Way], from: Point) -> Option<Point> {
        let size = size_of_ways(ways);
        let parting = from.y + BUS;
        let joining = Point { y: from.y + size.height, ..from };
        let mut left = from.x - size.width / 2;
        let mut exit = None;
        for way in ways {
            let width = way_width(way);
            let axis = left + width / 2;
            left += width + BESIDE;
            let top = Point { x: axis, y: parting + LABELLED };
            let lead = vec![from, Point { y: parting, ..from }, Point { x: axis, y: parting }];
            self.labels.push(Label { at: Point { x: axis + 6, y: parting + 15 }, text: way.label.clone() });
            let end = if way.parts.is_empty() {
                self.line([lead, vec![Point { x: axis, ..joining }, joining]].concat(), Head::Plain);
                Some(joining)
            } else {
                self.line([lead, vec![top]].concat(), Head::Arrow);
                let end = self.sequence(&way.parts, top);
                if let Some(end) = end {
                    self.line(vec![end, Point { y: joining.y, ..end }, joining], Head::Plain);
                }
                end
            };
            exit = exit.or(end.map(|_| joining));
        }
        exit
    }

    fn line(&mut self, mut points: Vec<Point>, head: Head) {
        points.dedup();
        self.lines.push(Line { points, head });
    }
}

fn size_of(parts: &[Part]) -> Size {
    let sizes: Vec<Size> = parts.iter().map(size_of_part).collect();
    let gaps = GAP * count(sizes.len().saturating_sub(1));
    Size {
        width: sizes.iter().map(|size| size.width).max().unwrap_or_default(),
        height: sizes.iter().map(|size| size.height).sum::<i32>() + gaps,
    }
}

fn size_of_part(part: &Part) -> Size {
    let ways = size_of_ways(&part.ways);
    Size { width: node_width(&part.node).max(ways.width), height: NODE + ways.height }
}

/// From the lower edge of a node to where its ways come together.
fn size_of_ways(ways: &[Way]) -> Size {
    if ways.is_empty() {
        return Size::default();
    }
    let gaps = BESIDE * count(ways.len() - 1);
    let height = ways.iter().map(|way| size_of(&way.parts).height).max().unwrap_or_default();
    Size { width: ways.iter().map(way_width).sum::<i32>() + gaps, height: BUS + LABELLED + height + BUS }
}

/// A label stands to the right of the line in the middle.
fn way_width(way: &Way) -> i32 {
    size_of(&way.parts).width.max(2 * (text_width(&way.label, 7) + 12))
}

fn node_width(node: &Node) -> i32 {
    let text = text_width(&node.name, 9).max(text_width(&node.note, 7));
    // Sides that lean take room from the text.
    let sides = if matches!(node.kind, Kind::Condition | Kind::Parallel) { 60 } else { 36 };
    // An even number has a middle.
    (text + sides).max(110) / 2 * 2
}

/// The letters of the fonts are narrower than that.
fn text_width(text: &str, letter: i32) -> i32 {
    count(measure_text_width(text)) * letter
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX / 4096)
}
