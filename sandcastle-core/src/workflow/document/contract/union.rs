//! Unions: alternatives that stand alone, are different, and can be told apart where they have to be.

use serde_json::Value;

use super::{Reader, types, without};
use crate::workflow::document::keys::{BESIDE_UNIONS, UNIONS};
use crate::workflow::document::report::{Path, shown};
use crate::workflow::document::tree::Node;

impl Reader<'_> {
    /// Looks at the alternatives of a part.
    pub(super) fn unions(&mut self, node: &Node, at: &Path) {
        let Some(keyword) = UNIONS.into_iter().find(|keyword| node.get(keyword).is_some()) else { return };
        for entry in node.entries() {
            if entry.key != keyword && !BESIDE_UNIONS.contains(&entry.key.as_str()) {
                let message = format!("`{}` cannot stand beside `{keyword}`", shown(&entry.key));
                let hint = "say it in each alternative that it is about";
                self.report.error(&at.key(&entry.key), entry.place, message, hint);
            }
        }
        let alternatives = node.get(keyword).map(Node::items).unwrap_or_default();
        let at = at.key(keyword);
        for (index, node) in alternatives.iter().enumerate().take(MAX_COMPARED) {
            let earlier = alternatives[..index].iter().position(|earlier| collide(keyword, earlier, node));
            if let Some(earlier) = earlier {
                let message = match keyword {
                    "oneOf" => format!(
                        "allows what alternative {earlier} allows, so that neither is ever the only one"
                    ),
                    _ => format!("is the same as alternative {earlier}"),
                };
                let hint = match keyword {
                    "oneOf" => "remove one of them, or write `anyOf`",
                    _ => "remove one of them",
                };
                self.report.error(&at.index(index), node.place, message, hint);
            }
        }
    }
}

/// The most alternatives that are compared with each other.
const MAX_COMPARED: usize = 100;

/// Tells whether two alternatives cannot stand in one union.
fn collide(keyword: &str, a: &Node, b: &Node) -> bool {
    let bare = |node| without(node, BESIDE_UNIONS);
    let (a_schema, b_schema) = (bare(a), bare(b));
    a_schema == b_schema
        || keyword == "oneOf" && (shares_a_type(a, &a_schema, b, &b_schema) || shares_a_value(a, b))
}

/// Tells whether both are nothing but types, and one value can be of both.
fn shares_a_type(a: &Node, a_schema: &Value, b: &Node, b_schema: &Value) -> bool {
    let is_only_types =
        |schema: &Value| schema.as_object().is_some_and(|map| map.keys().all(|key| key == "type"));
    let is_of =
        |kind: &str, types: &[&str]| types.contains(&kind) || kind == "integer" && types.contains(&"number");
    let (a_types, b_types) = (types(a), types(b));
    let overlap =
        a_types.iter().any(|kind| is_of(kind, &b_types)) || b_types.iter().any(|kind| is_of(kind, &a_types));
    is_only_types(a_schema) && is_only_types(b_schema) && overlap
}

/// Tells whether both list their values, and have one in common.
fn shares_a_value(a: &Node, b: &Node) -> bool {
    let values = |node: &Node| -> Vec<Value> {
        let constant = node.get("const").map(Node::to_json);
        let members = node.get("enum").map(Node::items).unwrap_or_default();
        constant.into_iter().chain(members.iter().map(Node::to_json)).take(MAX_COMPARED).collect()
    };
    let others = values(b);
    values(a).iter().any(|value| others.contains(value))
}
