//! What operators take and give: comparisons that can never hold, arithmetic that can never be done, and what comes of those
//! that can.

use minijinja::machinery::ast::{BinOpKind, CompareOpKind, Expr};
use minijinja::value::ValueKind;

use super::super::expression::offset_of;
use super::naming::named;
use super::reader::Reader;
use super::schema;
use super::shape::{Digits, Fields, Items, Kinds, Shape, Texts, Truth};
use crate::workflow::nearest::shortened;

/// A side of an operator.
type Side<'e, 's, 'x> = (&'e Expr<'x>, &'e Shape<'s>);

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equality,
    Order,
    Membership,
}

/// What an operator gives, after its operands were read.
pub(super) fn binary<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    op: BinOpKind,
    left: Side<'_, 'c, '_>,
    right: Side<'_, 'c, '_>,
) -> Shape<'c> {
    match op {
        BinOpKind::Eq => equality(reader, left, right, true),
        BinOpKind::Ne => equality(reader, left, right, false),
        BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
            compare(reader, Comparison::Order, left, right);
            Shape::boolean()
        }
        BinOpKind::In => {
            compare(reader, Comparison::Membership, left, right);
            Shape::boolean()
        }
        BinOpKind::Concat => Shape::text(),
        // Read by whoever knows what the left side says of the right one.
        BinOpKind::ScAnd | BinOpKind::ScOr => left.1.clone().or(right.1.clone()),
        op => arithmetic(reader, op, left, right),
    }
}

/// Holds two values of a chain against each other.
pub(super) fn compared<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    op: CompareOpKind,
    left: Side<'_, 'c, '_>,
    right: Side<'_, 'c, '_>,
) {
    let comparison = match op {
        CompareOpKind::Eq | CompareOpKind::Ne => Comparison::Equality,
        CompareOpKind::In | CompareOpKind::NotIn => Comparison::Membership,
        CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => Comparison::Order,
    };
    compare(reader, comparison, left, right);
}

fn equality<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    left: Side<'_, 'c, '_>,
    right: Side<'_, 'c, '_>,
    equal: bool,
) -> Shape<'c> {
    compare(reader, Comparison::Equality, left, right);
    match (left.1.only_texts(), right.1.only_texts()) {
        (Some(one), Some(other)) if one.len() == 1 && one == other && !left.1.null && !right.1.null => {
            Shape::always(equal)
        }
        _ => Shape::boolean(),
    }
}

fn compare(
    reader: &mut Reader<'_, '_, '_>,
    comparison: Comparison,
    left: Side<'_, '_, '_>,
    right: Side<'_, '_, '_>,
) {
    if comparison == Comparison::Membership {
        return membership(reader, left, right);
    }
    let (one, other) = (left.1, right.1);
    if one.is_open() || other.is_open() {
        return;
    }
    let null = one.null && other.null && comparison == Comparison::Equality;
    if !null && !one.kinds().meet(other.kinds()) {
        return never(reader, comparison, left, right);
    }
    if comparison == Comparison::Equality && !null {
        disjoint(reader, left, right);
    }
}

fn never(
    reader: &mut Reader<'_, '_, '_>,
    comparison: Comparison,
    left: Side<'_, '_, '_>,
    right: Side<'_, '_, '_>,
) {
    let at = if is_literal(left.0) && !is_literal(right.0) { left.0 } else { right.0 };
    let ((one, shape), (other, kind)) = if is_literal(left.0) { (right, left) } else { (left, right) };
    let is = format!("{} is {}", named(one), shape.described());
    let and_other =
        if is_literal(other) { kind.described() } else { format!("{}, {}", named(other), kind.described()) };
    if comparison == Comparison::Equality && (shape.null || kind.null) && is_none(left.0, right.0) {
        return reader.warning(offset_of(at), format!("{is}, and never null"), "leave it out");
    }
    let message = match comparison {
        Comparison::Order => format!("{is}, which is neither less nor greater than {and_other}"),
        _ => format!("{is}, which never equals {and_other}"),
    };
    reader.error(offset_of(at), message, format!("compare it with {}", shape.described()));
}

fn is_none(left: &Expr<'_>, right: &Expr<'_>) -> bool {
    let is = |expr: &Expr<'_>| matches!(expr, Expr::Const(literal) if literal.value.is_none());
    is(left) || is(right)
}

/// Texts that are all known, and have none in common.
fn disjoint(reader: &mut Reader<'_, '_, '_>, left: Side<'_, '_, '_>, right: Side<'_, '_, '_>) {
    let (Some(one), Some(other)) = (left.1.only_texts(), right.1.only_texts()) else { return };
    if !one.is_disjoint(other) || (left.1.null && right.1.null) {
        return;
    }
    let (known, written, subject, at) =
        if is_literal(left.0) { (other, one, right.0, left.0) } else { (one, other, left.0, right.0) };
    let written = written.first().map(String::as_str).unwrap_or_default();
    let message = format!("{} is never `{}`", named(subject), shortened(written));
    let hint = reader.scope.catalogue.instead_of(written, known.iter().map(String::as_str));
    reader.error(offset_of(at), message, hint);
}

fn membership(reader: &mut Reader<'_, '_, '_>, left: Side<'_, '_, '_>, right: Side<'_, '_, '_>) {
    if let Expr::List(list) = right.0 {
        for item in &list.items {
            if let (Expr::Const(_), Some(text)) = (item, text_of(item)) {
                compare(reader, Comparison::Equality, left, (item, &Shape::literal(text)));
            }
        }
    }
    let (one, holder) = (left.1, right.1);
    let kinds = holder.kinds();
    if holder.is_open() {
        return;
    }
    if !kinds.text && !kinds.list && !kinds.object {
        let message = format!("{} is {}, which nothing can be in", named(right.0), holder.described());
        return reader.error(offset_of(right.0), message, "`in` looks into a list, an object or a text");
    }
    let texts = Kinds { text: true, ..Kinds::default() };
    let fits = (!kinds.text && !kinds.object) || one.kinds().meet(texts);
    let item = item_of(holder);
    let fits = if kinds.list {
        item.is_open() || item.null || one.kinds().meet(item.kinds()) || (kinds.text && fits)
    } else {
        fits
    };
    if !one.is_open() && !one.null && !fits {
        let message =
            format!("{} is {}, which is never in {}", named(left.0), one.described(), holder.described());
        return reader.error(offset_of(left.0), message, "compare what is alike");
    }
    if kinds.list && !kinds.text && !kinds.object && !matches!(right.0, Expr::List(_)) {
        disjoint(reader, left, (right.0, &item));
    }
}

fn text_of<'e>(expr: &'e Expr<'_>) -> Option<&'e str> {
    match expr {
        Expr::Const(literal) => literal.value.as_str(),
        _ => None,
    }
}

fn is_literal(expr: &Expr<'_>) -> bool {
    matches!(expr, Expr::Const(_))
}

/// What `-`, `*` and their like give.
fn arithmetic<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    op: BinOpKind,
    left: Side<'_, 'c, '_>,
    right: Side<'_, 'c, '_>,
) -> Shape<'c> {
    let (one, other) = (left.1, right.1);
    if one.is_open() || other.is_open() {
        return Shape::unknown();
    }
    let (a, b) = (one.kinds(), other.kinds());
    let counts = |kinds: Kinds| kinds.number || kinds.boolean;
    let mut shape = Shape::default();
    if counts(a) && counts(b) {
        let whole = |shape: &Shape<'_>| shape.number != Some(Digits::Any);
        let integers = whole(one) && whole(other) && !matches!(op, BinOpKind::Div | BinOpKind::Pow);
        shape.number = Some(if integers { Digits::Integer } else { Digits::Any });
    }
    if matches!(op, BinOpKind::Add) && a.text && b.text
        || matches!(op, BinOpKind::Mul) && ((a.text && b.number) || (a.number && b.text))
    {
        shape.text = Some(Texts::Any);
    }
    if matches!(op, BinOpKind::Add) && a.list && b.list {
        shape.lists = vec![Items::Each(Box::new(item_of(one).or(item_of(other))))];
    }
    if matches!(op, BinOpKind::Mul) && ((a.list && b.number) || (a.number && b.list)) {
        return Shape::unknown();
    }
    if shape.kinds() == Kinds::default() {
        let message = format!("{} and {} do not go together here", one.described(), other.described());
        let hint = if a.text || b.text { "`|string` makes a text of anything" } else { "numbers do" };
        reader.error(offset_of(right.0), message, hint);
        return Shape::unknown();
    }
    shape
}

pub(super) fn arithmetic_of_one<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    expr: &Expr<'_>,
    operand: Shape<'c>,
) -> Shape<'c> {
    if !operand.is_open() && operand.number.is_none() {
        reader.error(
            offset_of(expr),
            format!("{} is {}, not a number", named(expr), operand.described()),
            "only numbers have a sign",
        );
        return Shape::unknown();
    }
    if operand.is_open() { operand } else { Shape { number: operand.number, ..Shape::default() } }
}

pub(super) fn negated<'c>(operand: &Shape<'c>) -> Shape<'c> {
    match operand.boolean {
        Some(Truth::Always(answer)) if is_boolean(operand) => Shape::always(!answer),
        _ => Shape::boolean(),
    }
}

/// What `and` (`or`, if it does not go on with what is true) gives: the operand that decides.
pub(super) fn either_operand<'c>(goes_on: bool, left: Shape<'c>, right: Shape<'c>) -> Shape<'c> {
    match left.boolean {
        Some(Truth::Always(answer)) if is_boolean(&left) => {
            if answer == goes_on {
                right
            } else {
                left
            }
        }
        // Of a boolean only one answer decides.
        Some(Truth::Either) if is_boolean(&left) => Shape::always(!goes_on).or(right),
        _ => left.or(right),
    }
}

fn is_boolean(shape: &Shape<'_>) -> bool {
    !shape.unknown && !shape.null && shape.kinds() == Kinds { boolean: true, ..Kinds::default() }
}

/// The answer of a condition that has only one.
pub(super) fn always(expr: &Expr<'_>, shape: &Shape<'_>) -> Option<bool> {
    if let Some(value) = expr.as_const() {
        return (value.kind() == ValueKind::Bool).then(|| value.is_true());
    }
    match shape.boolean {
        Some(Truth::Always(answer)) if is_boolean(shape) => Some(answer),
        _ => None,
    }
}

/// What is met when a value is gone through: items, the names of fields, letters.
pub(super) fn item_of<'c>(value: &Shape<'c>) -> Shape<'c> {
    let mut item: Option<Shape<'c>> = None;
    let mut add = |shape: Shape<'c>| {
        item = Some(item.take().map_or_else(|| shape.clone(), |other| other.or(shape.clone())))
    };
    for items in &value.lists {
        add(match items {
            Items::Schema(nodes) => schema::items(nodes),
            Items::Each(shape) => (**shape).clone(),
            Items::Pair(name, value) => (**name).clone().or((**value).clone()),
        });
    }
    if !value.objects.is_empty() || value.text.is_some() {
        add(Shape::text());
    }
    if value.unknown {
        add(Shape::unknown());
    }
    item.unwrap_or_else(Shape::unknown)
}

/// What the fields of an object are, whatever their names.
pub(super) fn values_of<'c>(object: &Shape<'c>) -> Shape<'c> {
    let of = |fields: &Fields<'c>| match fields {
        Fields::Schema(nodes) => schema::values(nodes),
        Fields::Only(fields) => {
            fields.iter().map(|(_, shape)| shape.clone()).reduce(Shape::or).unwrap_or_else(Shape::unknown)
        }
    };
    object.objects.iter().map(of).reduce(Shape::or).unwrap_or_else(Shape::unknown)
}
