//! Writes a chart as a Mermaid flowchart.
//!
//! Nodes are declared first, within the subgraphs that they belong to, and edges follow: an edge that is written inside of a
//! subgraph would draw its other end into it. Nodes are numbered, since some names are words of the language.

use std::fmt::Write;

use super::chart::{Chart, Kind, Node, Part};

/// Writes the chart.
pub(super) fn write(chart: &Chart) -> String {
    let mut flow = Flow::default();
    flow.declare(1, "start([start])");
    let begin = vec![Exit { from: "start".to_owned(), label: None }];
    let exits = flow.sequence(&chart.parts, begin, 1);
    if !exits.is_empty() {
        flow.declare(1, "finish([end])");
        flow.connect(&exits, "finish");
    }
    format!("flowchart TD\n{}{}", flow.nodes, flow.edges)
}

#[derive(Default)]
struct Flow {
    nodes: String,
    edges: String,
    count: usize,
}

/// Where a way comes from that leads to whatever is next.
struct Exit {
    from: String,
    label: Option<String>,
}

impl Flow {
    fn sequence(&mut self, parts: &[Part], mut from: Vec<Exit>, depth: usize) -> Vec<Exit> {
        for part in parts {
            from = self.part(part, &from, depth);
        }
        from
    }

    /// Writes a node with the ways that lead from it, and returns where those end.
    fn part(&mut self, part: &Part, from: &[Exit], depth: usize) -> Vec<Exit> {
        self.count += 1;
        let id = format!("n{}", self.count);
        self.declare(depth, &format!("{id}{}", shape(&part.node)));
        self.connect(from, &id);
        match part.node.kind {
            Kind::Failure => Vec::new(),
            Kind::Parallel if !part.ways.is_empty() => self.branches(part, &id, depth),
            _ if part.ways.is_empty() => vec![Exit { from: id, label: None }],
            _ => self.ways(part, &id, depth),
        }
    }

    fn ways(&mut self, part: &Part, id: &str, depth: usize) -> Vec<Exit> {
        let mut exits = Vec::new();
        for way in &part.ways {
            let begin = vec![Exit { from: id.to_owned(), label: Some(way.label.clone()) }];
            exits.extend(self.sequence(&way.parts, begin, depth));
        }
        exits
    }

    /// Ways that are gone at the same time stand in a subgraph each, under their names.
    fn branches(&mut self, part: &Part, id: &str, depth: usize) -> Vec<Exit> {
        let mut exits = Vec::new();
        self.declare(depth, &format!("subgraph {id}_all[\"{}\"]", escape(&part.node.name)));
        for (number, way) in part.ways.iter().enumerate() {
            if way.parts.is_empty() {
                exits.push(Exit { from: id.to_owned(), label: Some(way.label.clone()) });
                continue;
            }
            self.declare(depth + 1, &format!("subgraph {id}_{number}[\"{}\"]", escape(&way.label)));
            let begin = vec![Exit { from: id.to_owned(), label: None }];
            exits.extend(self.sequence(&way.parts, begin, depth + 2));
            self.declare(depth + 1, "end");
        }
        self.declare(depth, "end");
        exits
    }

    fn declare(&mut self, depth: usize, what: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.nodes, "{:1$}{what}", "", depth * 4);
    }

    fn connect(&mut self, from: &[Exit], to: &str) {
        for exit in from {
            let label = exit.label.as_ref().map(|label| format!("|\"{}\"|", escape(label)));
            let _ = writeln!(self.edges, "    {} -->{} {to}", exit.from, label.unwrap_or_default());
        }
    }
}

/// The shape tells the kind.
fn shape(node: &Node) -> String {
    let (open, close) = match node.kind {
        Kind::Model => ("(", ")"),
        Kind::Agent => ("[[", "]]"),
        Kind::Tool => ("[", "]"),
        Kind::Condition => ("{", "}"),
        Kind::Approval => ("([", "])"),
        Kind::Parallel => ("{{", "}}"),
        Kind::Failure => ("[/", "\\]"),
    };
    format!("{open}\"{}<br/>{}\"{close}", escape(&node.name), escape(&node.note))
}

/// Writes everything that Mermaid or Markdown could read as more than a letter by its number.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        // `fa:fa-bug` would be an icon, and `https://...` is an address to some.
        let is_more = match c {
            ':' => characters.peek().is_some_and(|next| *next != ' '),
            c => !c.is_alphanumeric() && !" .,_…-/=()!?+".contains(c),
        };
        if is_more {
            let _ = write!(escaped, "#{};", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}
