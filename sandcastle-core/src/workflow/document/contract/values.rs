//! The values that a schema holds: its pattern, its enum, its constant and its default each have to fit the rest of it.

use serde_json::Value;

use super::judge::{self, Judge};
use super::{Purpose, Reader, Role, without};
use crate::output::clip;
use crate::workflow::document::report::{Path, shown};
use crate::workflow::document::tree::Node;

/// The most characters of what does not fit.
const MAX_OBJECTION_CHARS: usize = 200;

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
        let Some(members) = node.get("enum") else { return };
        let judge = Judge::of(without(node, &["enum", "const", "default"]));
        for (index, member) in members.items().iter().enumerate() {
            let hint = "change the member, or what stands beside `enum`";
            self.fits("the member", member, &judge, &at.key("enum").index(index), hint);
        }
    }

    fn constant(&mut self, node: &Node, at: &Path) {
        if let Some(constant) = node.get("const") {
            let judge = Judge::of(without(node, &["const", "default"]));
            let hint = "change it, or what stands beside `const`";
            self.fits("the constant", constant, &judge, &at.key("const"), hint);
        }
    }

    fn default(&mut self, node: &Node, at: &Path) {
        if let Some(default) = node.get("default") {
            let judge = Judge::of(without(node, &["default"]));
            let hint = "a default has to be a value that would be accepted";
            self.fits("the default", default, &judge, &at.key("default"), hint);
        }
    }

    fn fits(&mut self, what: &str, node: &Node, judge: &Judge, at: &Path, hint: &str) {
        let value = node.to_json();
        if let Some(objection) = judge.objection(&value) {
            let objection = clip(&objection, MAX_OBJECTION_CHARS);
            let message = format!("{what} {} does not fit: {objection}", quoted(&value));
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
