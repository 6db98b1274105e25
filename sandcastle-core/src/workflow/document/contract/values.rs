//! The values that a schema holds: its pattern, its enum, its constant and its default each have to fit the rest of it.

use serde_json::Value;

use super::{Purpose, Reader, Role, judge, without};
use crate::output::clip;
use crate::workflow::document::report::{Path, shown};
use crate::workflow::document::tree::Node;

impl Reader<'_> {
    /// Holds the values of a part against the rest of it.
    pub(super) fn values(&mut self, node: &Node, at: &Path) {
        if let Some(pattern) = node.get("pattern")
            && pattern.str().is_some_and(|pattern| !judge::is_pattern(pattern))
        {
            let message = "is no regular expression that can be used";
            let hint =
                "put it into single quotes, where a backslash needs no other, and look at its brackets";
            self.report.error(&at.key("pattern"), pattern.place, message, hint);
            return;
        }
        self.members(node, at);
        self.constant(node, at);
        self.default(node, at);
    }

    fn members(&mut self, node: &Node, at: &Path) {
        self.has_no_duplicates(node, "enum", at);
        let rest = without(node, &["enum", "const", "default"]);
        let members = node.get("enum").map(Node::items).unwrap_or_default();
        for (index, member) in members.iter().enumerate() {
            let hint = "change the member, or what stands beside `enum`";
            self.value_fits("the member", member, &rest, &at.key("enum").index(index), hint);
        }
    }

    fn constant(&mut self, node: &Node, at: &Path) {
        if let Some(constant) = node.get("const") {
            let rest = without(node, &["const", "default"]);
            let hint = "change it, or what stands beside `const`";
            self.value_fits("the constant", constant, &rest, &at.key("const"), hint);
        }
    }

    fn default(&mut self, node: &Node, at: &Path) {
        if let Some(default) = node.get("default") {
            let rest = without(node, &["default"]);
            let hint = "a default has to be a value that would be accepted";
            self.value_fits("the default", default, &rest, &at.key("default"), hint);
        }
    }

    fn value_fits(&mut self, what: &str, node: &Node, rest: &Value, at: &Path, hint: &str) {
        let value = node.to_json();
        if let Err(Some(problem)) = judge::fits(rest.clone(), &value) {
            let problem = clip(&problem, 200).into_owned();
            let message = format!("{what} {} does not fit: {problem}", quoted(&value));
            self.report.error(at, node.place, message, hint);
        }
    }

    /// Only a field can be absent.
    pub(super) fn default_is_used(&mut self, node: &Node, at: &Path, role: Role) {
        let Some(default) = node.get("default") else { return };
        let (message, hint) = match (role, self.purpose) {
            (Role::Field, _) | (Role::Root, Purpose::Variable) => return,
            (Role::Root, Purpose::Output) => (
                "the root cannot have a default, since an answer is always there",
                "give defaults to its fields",
            ),
            (Role::Item, _) => ("an item cannot have a default, since it is never absent", "remove it"),
            (Role::Alternative, _) => {
                ("an alternative cannot have a default", "put the default beside `anyOf` or `oneOf`")
            }
        };
        self.report.error(&at.key("default"), default.place, message, hint);
    }
}

/// Returns a value in backticks, short.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", shown(text)),
        other => format!("`{}`", shown(&other.to_string())),
    }
}
