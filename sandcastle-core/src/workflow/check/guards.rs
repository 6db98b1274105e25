//! What the answer of a condition says of the values in it: that they are there, that they are not null, that a list has an
//! item. It holds wherever that answer leads.

use minijinja::machinery::ast::{BinOpKind, Expr, UnaryOpKind};

use serde_json::Value;

use super::scope::{Catalogue, Way};

/// Something that is known of the value at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    There(String),
    NotNull(String),
    NotEmpty(String),
    /// It is one of these values, or none of them.
    OneOf(String, Vec<Value>),
    NoneOf(String, Vec<Value>),
}

impl Fact {
    /// Whether it says that the value at the path, or one within it, is there.
    pub(super) fn shows(&self, path: &str) -> bool {
        let (Self::There(known) | Self::NotNull(known) | Self::NotEmpty(known) | Self::OneOf(known, _)) =
            self
        else {
            return false;
        };
        known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// What it says of the value of a field right below the path: the field, the values, and whether it is one of them.
    pub(super) fn tag(&self, path: &str) -> Option<(&str, &[Value], bool)> {
        let (known, values, is_one) = match self {
            Self::OneOf(known, values) => (known, values, true),
            Self::NoneOf(known, values) => (known, values, false),
            Self::There(_) | Self::NotNull(_) | Self::NotEmpty(_) => return None,
        };
        let field = known.strip_prefix(path)?.strip_prefix('.')?;
        (!field.contains(['.', '['])).then_some((field, values, is_one))
    }
}

/// Reads what is known when `expr` gave `answer`. `path_of` names what an expression reads, in one way for every spelling.
pub(super) fn facts(
    expr: &Expr<'_>,
    answer: bool,
    catalogue: &Catalogue<'_>,
    path_of: &dyn Fn(&Expr<'_>) -> Option<String>,
) -> Vec<Fact> {
    let both = |one: &Expr<'_>, other: &Expr<'_>| {
        [facts(one, answer, catalogue, path_of), facts(other, answer, catalogue, path_of)].concat()
    };
    match expr {
        Expr::UnaryOp(not) if matches!(not.op, UnaryOpKind::Not) => {
            facts(&not.expr, !answer, catalogue, path_of)
        }
        Expr::BinOp(binary) => match (binary.op, answer) {
            (BinOpKind::ScAnd, true) | (BinOpKind::ScOr, false) => both(&binary.left, &binary.right),
            (BinOpKind::Eq, _) => of_equality(&binary.left, &binary.right, answer, catalogue, path_of),
            (BinOpKind::Ne, _) => of_equality(&binary.left, &binary.right, !answer, catalogue, path_of),
            (BinOpKind::In, _) => of_membership(&binary.left, &binary.right, answer, path_of),
            (BinOpKind::Gt, true) => of_length(&binary.left, &binary.right, 0, path_of),
            (BinOpKind::Gte, true) => of_length(&binary.left, &binary.right, 1, path_of),
            _ => Vec::new(),
        },
        Expr::Test(test) => match (path_of(&test.expr), test.name, answer) {
            (Some(path), "defined", true) | (Some(path), "undefined", false) => vec![Fact::There(path)],
            (Some(path), "none", false) => vec![Fact::NotNull(path)],
            (
                Some(path),
                "string" | "number" | "integer" | "float" | "boolean" | "mapping" | "sequence",
                true,
            ) => {
                vec![Fact::NotNull(path)]
            }
            _ => Vec::new(),
        },
        // What is true is not null, and has something in it.
        expr if answer => path_of(expr)
            .map(|path| vec![Fact::NotNull(path.clone()), Fact::NotEmpty(path)])
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn of_equality(
    one: &Expr<'_>,
    other: &Expr<'_>,
    equal: bool,
    catalogue: &Catalogue<'_>,
    path_of: &dyn Fn(&Expr<'_>) -> Option<String>,
) -> Vec<Fact> {
    let (read, literal) = match (one, other) {
        (read, Expr::Const(literal)) | (Expr::Const(literal), read) => (read, &literal.value),
        _ => return Vec::new(),
    };
    if !equal && literal.as_i64() == Some(0) {
        return of_length(read, other, 0, path_of);
    }
    let Some(path) = path_of(read) else { return Vec::new() };
    if literal.is_none() {
        return if equal { Vec::new() } else { vec![Fact::NotNull(path)] };
    }
    let way = match (literal.as_str(), equal) {
        (Some("then"), true) | (Some("else"), false) => Way::Then,
        _ => Way::Else,
    };
    let mut known = if equal { vec![Fact::NotNull(path.clone())] } else { Vec::new() };
    known.extend(tagged(&path, vec![literal], equal));
    if let (Some(condition), Some("then" | "else")) = (path.strip_suffix(".taken"), literal.as_str()) {
        known.extend(catalogue.behind(condition, way).into_iter().map(|step| Fact::There(step.to_owned())));
    }
    known
}

/// `kind in ["bug", "idea"]`.
fn of_membership(
    one: &Expr<'_>,
    list: &Expr<'_>,
    is_in: bool,
    path_of: &dyn Fn(&Expr<'_>) -> Option<String>,
) -> Vec<Fact> {
    let (Some(path), Expr::List(list)) = (path_of(one), list) else { return Vec::new() };
    let literals: Option<Vec<_>> = list
        .items
        .iter()
        .map(|item| match item {
            Expr::Const(literal) => Some(&literal.value),
            _ => None,
        })
        .collect();
    literals.and_then(|literals| tagged(&path, literals, is_in)).into_iter().collect()
}

/// What is known of a value that was compared with literals.
fn tagged(path: &str, literals: Vec<&minijinja::Value>, is_one: bool) -> Option<Fact> {
    let values: Option<Vec<_>> = literals.into_iter().map(|value| serde_json::to_value(value).ok()).collect();
    let fact = if is_one { Fact::OneOf } else { Fact::NoneOf };
    values.map(|values| fact(path.to_owned(), values))
}

/// `items|length > 0`, and its like.
fn of_length(
    one: &Expr<'_>,
    other: &Expr<'_>,
    least: i64,
    path_of: &dyn Fn(&Expr<'_>) -> Option<String>,
) -> Vec<Fact> {
    let (Expr::Filter(filter), Expr::Const(bound)) = (one, other) else { return Vec::new() };
    let counts =
        matches!(filter.name, "length" | "count") && bound.value.as_i64().is_some_and(|bound| bound >= least);
    let path = filter.expr.as_ref().filter(|_| counts).and_then(path_of);
    path.map(|path| vec![Fact::NotEmpty(path)]).unwrap_or_default()
}
