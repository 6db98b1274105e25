//! What is within a value: the field of an object, the item of a list, a part of either.

use minijinja::machinery::ast::{Expr, GetAttr, GetItem, Slice};

use super::super::expression::offset_of;
use super::guards::Fact;
use super::naming::{ITEMS, named};
use super::operators::item_of;
use super::reader::Reader;
use super::schema::{self, Found};
use super::shape::{Absence, Fields, Items, Kinds, Shape, Texts};
use crate::workflow::nearest::shortened;

impl<'c> Reader<'_, 'c, '_> {
    pub(super) fn field(&mut self, expr: &Expr<'_>, field: &GetAttr<'_>) -> Shape<'c> {
        if matches!(&field.expr, Expr::Var(root) if root.id == "steps" && !self.is_local("steps")) {
            return match self.scope.facts_of(field.name) {
                Ok(shape) => self.knowledge_of(expr, shape),
                Err(unknown) => {
                    self.error(offset_of(expr), unknown.message, unknown.hint);
                    Shape::unknown()
                }
            };
        }
        let base = self.value(&field.expr);
        let shape = self.within(&base, field.name, &named(&field.expr), offset_of(expr));
        self.knowledge_of(expr, shape)
    }

    /// What a value has by a name.
    pub(super) fn within(&mut self, base: &Shape<'c>, name: &str, of: &str, offset: usize) -> Shape<'c> {
        if base.is_open() {
            return Shape::unknown();
        }
        if base.objects.is_empty() {
            self.error(
                offset,
                format!("{of} is {}, which has no fields", base.described()),
                "only objects have fields",
            );
            return Shape::unknown();
        }
        let (mut found, mut known): (Option<Shape<'c>>, Vec<&'c str>) = (None, Vec::new());
        for fields in &base.objects {
            match field_of(fields, name) {
                Found::Field(shape) => {
                    found = Some(found.map_or_else(|| shape.clone(), |other| other.or(shape.clone())))
                }
                Found::Nowhere(names) => known.extend(names),
            }
        }
        let Some(mut shape) = found else {
            let hint = match (of, known.as_slice()) {
                ("`vars`", []) => "declare it under `vars`".to_owned(),
                _ => self.scope.catalogue.instead_of(name, known.iter().copied()),
            };
            self.error(offset, format!("{of} has no `{}`", shortened(name)), hint);
            return Shape::unknown();
        };
        let kinds = base.kinds();
        if base.null {
            shape = shape.because(Absence::OfNull(of.to_owned()));
        } else if !known.is_empty() || kinds.text || kinds.number || kinds.boolean || kinds.list {
            shape = shape.because(Absence::Optional);
        }
        shape
    }

    pub(super) fn item(&mut self, expr: &Expr<'_>, item: &GetItem<'_>) -> Shape<'c> {
        let base = self.value(&item.expr);
        let key = self.value(&item.subscript_expr);
        let literal = match &item.subscript_expr {
            Expr::Const(literal) => Some(&literal.value),
            _ => None,
        };
        let of = named(&item.expr);
        let offset = offset_of(&item.subscript_expr);
        if let Some(name) = literal.and_then(|literal| literal.as_str()) {
            if matches!(&item.expr, Expr::Var(root) if root.id == "steps" && !self.is_local("steps")) {
                return Shape::unknown();
            }
            let shape = self.within(&base, name, &of, offset);
            return self.knowledge_of(expr, shape);
        }
        let (kinds, index) = (base.kinds(), literal.and_then(minijinja::Value::as_i64));
        if base.is_open() || (kinds.object && index.is_none()) {
            return Shape::unknown();
        }
        if !kinds.list && !kinds.text {
            self.error(offset, format!("{of} is {}, which has no items", base.described()), ITEMS);
            return Shape::unknown();
        }
        if !key.is_open() && !key.kinds().number {
            self.error(
                offset,
                format!("an item of a list has a number, not {}", key.described()),
                "as in `items[0]`",
            );
        }
        let shape = item_of(&base);
        let Some(index) = index else { return shape };
        let needs =
            u64::try_from(index).map_or_else(|_| index.unsigned_abs(), |index| index.saturating_add(1));
        let is_there = needs <= least_of(&base) || (needs == 1 && self.is_not_empty(&item.expr, &base));
        self.knowledge_of(expr, if is_there { shape } else { shape.because(Absence::Short) })
    }

    /// Tells whether a list, or a text, surely has something in it.
    pub(super) fn is_not_empty(&self, expr: &Expr<'_>, value: &Shape<'_>) -> bool {
        let path = self.path_of(expr);
        let is_known = |fact: &Fact| matches!(fact, Fact::NotEmpty(known) if Some(known) == path.as_ref());
        let kinds = value.kinds();
        let has_items = !kinds.object && !kinds.number && !kinds.boolean;
        least_of(value) > 0 || (has_items && self.facts.iter().any(is_known))
    }

    pub(super) fn slice(&mut self, slice: &Slice<'_>) -> Shape<'c> {
        let base = self.value(&slice.expr);
        for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
            let number = self.value(bound);
            if !number.is_open() && !number.null && !number.kinds().number {
                self.error(
                    offset_of(bound),
                    format!("a slice needs integers, not {}", number.described()),
                    "as in `text[:100]`",
                );
            }
        }
        let kinds = base.kinds();
        if !base.is_open() && !base.null && !kinds.list && !kinds.text {
            let message = format!("{} is {}, which has no items", named(&slice.expr), base.described());
            self.error(offset_of(&slice.expr), message, ITEMS);
        }
        let lists =
            if base.lists.is_empty() { Vec::new() } else { vec![Items::Each(Box::new(item_of(&base)))] };
        Shape {
            unknown: base.is_open() || base.null,
            text: base.text.map(|_| Texts::Any),
            lists,
            ..Shape::default()
        }
    }
}

/// Looks for a field.
pub(super) fn field_of<'c>(fields: &Fields<'c>, name: &str) -> Found<'c> {
    match fields {
        Fields::Schema(nodes) => schema::field(nodes, name),
        Fields::Only(known) => match known.iter().find(|(field, _)| *field == name) {
            Some((_, shape)) => Found::Field(shape.clone()),
            None => Found::Nowhere(known.iter().map(|(field, _)| *field).collect()),
        },
    }
}

/// How many items a value has at the least.
fn least_of(value: &Shape<'_>) -> u64 {
    let of = |items: &Items<'_>| match items {
        Items::Schema(nodes) => schema::least_items(nodes),
        Items::Each(_) => 0,
        Items::Pair(..) => 2,
    };
    let is_list = !value.null && value.kinds() == Kinds { list: true, ..Kinds::default() };
    value.lists.iter().map(of).min().filter(|_| is_list).unwrap_or(0)
}
