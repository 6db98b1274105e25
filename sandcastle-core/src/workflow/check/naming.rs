//! How messages name what an expression reads, and why it may not be there.

use minijinja::machinery::ast::Expr;

use super::shape::Absence;
use crate::workflow::nearest::shortened;

/// What has items.
pub(super) const ITEMS: &str = "only lists, objects and texts have items";

/// Names an expression in a message.
pub(super) fn named(expr: &Expr<'_>) -> String {
    match spelt(expr) {
        Some(path) => format!("`{}`", shortened(&path)),
        None => "this".to_owned(),
    }
}

fn spelt(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Var(name) => Some(name.id.to_owned()),
        Expr::GetAttr(field) => Some(format!("{}.{}", spelt(&field.expr)?, field.name)),
        Expr::GetItem(item) => match &item.subscript_expr {
            Expr::Const(literal) => Some(format!("{}[{:?}]", spelt(&item.expr)?, literal.value)),
            _ => None,
        },
        Expr::Filter(filter) => Some(format!("{}|{}", spelt(filter.expr.as_ref()?)?, filter.name)),
        _ => None,
    }
}

/// Says that something may not be there, and what to do about it.
pub(super) fn absent(what: &str, absence: &Absence) -> (String, String) {
    let asked = what.trim_matches('`');
    let ask = match asked.rsplit_once('|') {
        _ if !what.starts_with('`') => "give it a default".to_owned(),
        // What a filter takes out of a list is there if anything is.
        Some((list, "first" | "last" | "min" | "max")) if !list.contains('|') => {
            format!("ask `{list}|length > 0` first, or give it a default")
        }
        Some(_) => "give it a default".to_owned(),
        None => format!("ask `{asked} is defined` first, or give it a default"),
    };
    match absence {
        Absence::Optional => (format!("{what} may not be there, since it is not required"), ask),
        Absence::NotRun(step) => {
            (format!("the step `{step}` may not have run"), format!("ask `{step} is defined` first"))
        }
        Absence::OfNull(of) => {
            (format!("{of} may be null, which has no fields"), "give it a default".to_owned())
        }
        Absence::Short => (format!("{what} may not be there, since the list may be shorter"), ask),
    }
}
