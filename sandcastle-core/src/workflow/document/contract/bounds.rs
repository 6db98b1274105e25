//! Bounds that leave no value between them.

use super::Reader;
use crate::workflow::document::report::Path;
use crate::workflow::document::tree::Node;

/// A bound of numbers.
#[derive(Clone, Copy)]
struct Bound<'n> {
    keyword: &'static str,
    node: &'n Node,
    value: f64,
    is_exclusive: bool,
}

impl Reader<'_> {
    /// Looks for a value between the bounds.
    pub(super) fn bounds(&mut self, node: &Node, types: &[&str], at: &Path) {
        for (least, most) in [("minLength", "maxLength"), ("minItems", "maxItems")] {
            if let (Some(low), Some(high)) = (bound(node, least), bound(node, most)) {
                self.holds(low.value <= high.value, low, high, at);
            }
        }
        let lows = [bound(node, "minimum"), bound(node, "exclusiveMinimum")];
        let highs = [bound(node, "maximum"), bound(node, "exclusiveMaximum")];
        for low in lows.into_iter().flatten() {
            for high in highs.into_iter().flatten() {
                self.holds(leaves_a_number(low, high, types), low, high, at);
            }
        }
        self.items_can_differ(node, at);
    }

    fn holds(&mut self, holds: bool, low: Bound<'_>, high: Bound<'_>, at: &Path) {
        if !holds {
            // The one that is written behind the other is the one that is read as wrong.
            let (last, first) = if low.node.place > high.node.place { (low, high) } else { (high, low) };
            let message = format!(
                "`{}: {}` leaves no value beside `{}: {}`",
                last.keyword, last.value, first.keyword, first.value
            );
            let hint = "the lower bound has to be below the upper one";
            self.report.error(&at.key(last.keyword), last.node.place, message, hint);
        }
    }

    /// A list of different items needs as many different values.
    fn items_can_differ(&mut self, node: &Node, at: &Path) {
        let is_unique = node.get("uniqueItems").and_then(Node::boolean) == Some(true);
        let (Some(least), Some(items), true) = (bound(node, "minItems"), node.get("items"), is_unique) else {
            return;
        };
        let values = match items.get("enum") {
            Some(list) => list.items().len(),
            None if items.get("const").is_some() => 1,
            None if items.get("type").and_then(Node::str) == Some("boolean") => 2,
            None => return,
        };
        if least.value > values as f64 {
            let message =
                format!("asks for {} different items, of which there are only {values}", least.value);
            self.report.error(
                &at.key("minItems"),
                least.node.place,
                message,
                "lower it, or remove `uniqueItems`",
            );
        }
    }
}

fn bound<'n>(node: &'n Node, keyword: &'static str) -> Option<Bound<'n>> {
    let node = node.get(keyword)?;
    let value = node.number()?.as_f64()?;
    Some(Bound { keyword, node, value, is_exclusive: keyword.starts_with("exclusive") })
}

fn leaves_a_number(low: Bound<'_>, high: Bound<'_>, types: &[&str]) -> bool {
    if types.contains(&"integer") && !types.contains(&"number") {
        let least = if low.is_exclusive { low.value.floor() + 1.0 } else { low.value.ceil() };
        let most = if high.is_exclusive { high.value.ceil() - 1.0 } else { high.value.floor() };
        return least <= most;
    }
    if low.is_exclusive || high.is_exclusive { low.value < high.value } else { low.value <= high.value }
}
