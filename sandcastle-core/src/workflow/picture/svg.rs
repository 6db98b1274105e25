//! Draws a picture as SVG.
//!
//! Texts of a document become text nodes and nothing else; all attributes are ours.

use svg::Document;
use svg::node::element::{
    Circle, Definitions, Group, Marker, Path, Polygon, Polyline, Rectangle, Style, Text, Title,
};

use super::chart::Kind;
use super::layout::{Box, DOT, Head, Label, Line, Picture, Point};

/// Colours for light and for dark; the kind is told by the shape and by words, too.
const STYLE: &str = "
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-anchor: middle; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.name { font-size: 13px; font-weight: 600; }
.note, .label { font-size: 11px; fill: #59636e; }
.label { text-anchor: start; }
.ground { fill: #ffffff; }
.line { fill: none; stroke: #59636e; stroke-width: 1.5; }
.arrow, .dot { fill: #59636e; }
.shape { fill: #f6f8fa; stroke: #59636e; stroke-width: 1.5; }
.model .shape { stroke: #0969da; }
.agent .shape { stroke: #8250df; }
.condition .shape, .parallel .shape { stroke: #9a6700; }
.approval .shape { stroke: #1a7f37; }
.failure .shape { stroke: #d1242f; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; }
.note, .label { fill: #9198a1; }
.ground { fill: #0d1117; }
.line { stroke: #9198a1; }
.arrow, .dot { fill: #9198a1; }
.shape { fill: #151b23; stroke: #9198a1; }
.model .shape { stroke: #4493f8; }
.agent .shape { stroke: #ab7df8; }
.condition .shape, .parallel .shape { stroke: #d29922; }
.approval .shape { stroke: #3fb950; }
.failure .shape { stroke: #f85149; }
}
";

/// How far a side leans.
const LEAN: i32 = 14;

/// Draws the picture under the name of its workflow.
pub(super) fn draw(picture: &Picture, name: &str) -> String {
    let (width, height) = (picture.width, picture.height);
    let document = Document::new()
        .set("viewBox", (0, 0, width, height))
        .set("width", width)
        .set("height", height)
        .set("role", "img")
        .add(Title::new(name))
        .add(Style::new(STYLE))
        .add(Definitions::new().add(arrow()))
        .add(Rectangle::new().set("class", "ground").set("width", width).set("height", height))
        .add(text("title", Point { x: width / 2, y: 36 }, name));
    let document = picture.lines.iter().fold(document, |document, it| document.add(line(it)));
    let document = picture.boxes.iter().fold(document, |document, it| document.add(step(it)));
    let document = picture.dots.iter().fold(document, |document, it| document.add(dot(*it)));
    let labels = picture.labels.iter().map(|Label { at, text: words }| text("label", *at, words));
    format!("{}\n", labels.fold(document, Document::add))
}

fn step(it: &Box) -> Group {
    let middle = it.corner.x + it.width / 2;
    let group = Group::new()
        .set("class", format!("step {}", it.kind.as_str()))
        .add(Title::new(format!("{} ({})", it.name, it.note)));
    shape(it, group).add(text("name", Point { x: middle, y: it.corner.y + 20 }, &it.name)).add(text(
        "note",
        Point { x: middle, y: it.corner.y + 36 },
        &it.note,
    ))
}

/// The shape tells the kind.
fn shape(it: &Box, group: Group) -> Group {
    let Point { x, y } = it.corner;
    let (right, bottom, middle) = (x + it.width, y + it.height, y + it.height / 2);
    let rectangle = |round: i32| {
        let at = Rectangle::new().set("class", "shape").set("x", x).set("y", y);
        at.set("width", it.width).set("height", it.height).set("rx", round)
    };
    let polygon =
        |corners: [(i32, i32); 6]| Polygon::new().set("class", "shape").set("points", points(&corners));
    match it.kind {
        Kind::Tool => group.add(rectangle(0)),
        Kind::Model => group.add(rectangle(10)),
        Kind::Approval => group.add(rectangle(it.height / 2)),
        Kind::Agent => {
            let sides = format!("M{},{y} V{bottom} M{},{y} V{bottom}", x + 7, right - 7);
            group.add(rectangle(0)).add(Path::new().set("class", "shape").set("d", sides))
        }
        Kind::Condition | Kind::Parallel => group.add(polygon([
            (x, middle),
            (x + LEAN, y),
            (right - LEAN, y),
            (right, middle),
            (right - LEAN, bottom),
            (x + LEAN, bottom),
        ])),
        Kind::Failure => group.add(polygon([
            (x, y),
            (right, y),
            (right, middle),
            (right - LEAN, bottom),
            (x + LEAN, bottom),
            (x, middle),
        ])),
    }
}

fn line(it: &Line) -> Polyline {
    let corners: Vec<(i32, i32)> = it.points.iter().map(|point| (point.x, point.y)).collect();
    let line = Polyline::new().set("class", "line").set("points", points(&corners));
    match it.head {
        Head::Arrow => line.set("marker-end", "url(#arrow)"),
        Head::Plain => line,
    }
}

fn points(corners: &[(i32, i32)]) -> String {
    corners.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
}

fn dot(at: Point) -> Circle {
    Circle::new().set("class", "dot").set("cx", at.x).set("cy", at.y).set("r", DOT)
}

fn arrow() -> Marker {
    Marker::new()
        .set("id", "arrow")
        .set("viewBox", "0 0 8 8")
        .set("refX", 7)
        .set("refY", 4)
        .set("markerWidth", 7)
        .set("markerHeight", 7)
        .set("orient", "auto")
        .add(Path::new().set("class", "arrow").set("d", "M0,0 L8,4 L0,8 Z"))
}

fn text(class: &str, at: Point, words: &str) -> Text {
    Text::new(words).set("class", class).set("x", at.x).set("y", at.y)
}
