//! What filters and tests take and give.

use minijinja::machinery::ast::{CallArg, Filter, Spanned, Test};

use super::super::expression::{Gives, Takes, filter_named, offset_of, range, text_of};
use super::naming::named;
use super::operators::{item_of, values_of};
use super::reader::Reader;
use super::shape::{Absence, Digits, Items, Shape, Texts};

/// Reads a filter with its arguments.
pub(super) fn filter<'c>(reader: &mut Reader<'_, 'c, '_>, filter: &Spanned<Filter<'_>>) -> Shape<'c> {
    let (Some(expr), Some(known)) = (&filter.expr, filter_named(filter.name)) else {
        return Shape::unknown();
    };
    let at = range(filter.span()).start;
    if matches!(known.name, "default" | "d") {
        let mut value = reader.look(expr);
        value.absent = None;
        let other = arguments(reader, &filter.args).into_iter().next().unwrap_or_else(Shape::text);
        return value.or(other);
    }
    let value = reader.value(expr);
    drop(arguments(reader, &filter.args));
    if !value.is_open() && !takes(known.takes, &value) {
        let wanted = wanted(known.takes);
        let message =
            format!("`{}` takes {wanted}, and {} is {}", known.name, named(expr), value.described());
        let is_text = known.takes == Takes::Text;
        let hint = if is_text { "`|string` makes a text of anything" } else { "leave the filter out" };
        reader.error(at, message, hint);
        return Shape::unknown();
    }
    let item = match attribute(&filter.args) {
        Some((path, offset)) => follow(reader, item_of(&value), &path, offset),
        None => item_of(&value),
    };
    gives(reader, filter, known.gives, value, item)
}

fn arguments<'c>(reader: &mut Reader<'_, 'c, '_>, args: &[CallArg<'_>]) -> Vec<Shape<'c>> {
    let mut shapes = Vec::new();
    for arg in args {
        match arg {
            CallArg::Pos(expr) => shapes.push(reader.value(expr)),
            CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                drop(reader.value(expr))
            }
        }
    }
    shapes
}

/// Tells whether a filter can take some of the kinds that a value may be of.
fn takes(takes: Takes, value: &Shape<'_>) -> bool {
    let kinds = value.kinds();
    match takes {
        Takes::Anything | Takes::Value => true,
        Takes::Text => kinds.text || kinds.number,
        Takes::Number => kinds.number,
        Takes::Scalar => kinds.text || kinds.number || kinds.boolean,
        Takes::Items => kinds.list || kinds.object || kinds.text,
        Takes::Numbers => kinds.list && numbers(value),
        Takes::Object => kinds.object,
    }
}

fn numbers(list: &Shape<'_>) -> bool {
    let item = item_of(list);
    // What `attribute` makes of other items is seen by its own field.
    item.is_open() || item.kinds().number || item.kinds().boolean || item.kinds().object
}

fn wanted(takes: Takes) -> &'static str {
    match takes {
        Takes::Anything | Takes::Value => "anything",
        Takes::Text => "a text",
        Takes::Number => "a number",
        Takes::Scalar => "a text or a number",
        Takes::Items => "a list, an object or a text",
        Takes::Numbers => "a list of numbers",
        Takes::Object => "an object",
    }
}

fn gives<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    filter: &Spanned<Filter<'_>>,
    gives: Gives,
    value: Shape<'c>,
    item: Shape<'c>,
) -> Shape<'c> {
    match gives {
        Gives::Text => Shape::text(),
        Gives::Texts => Shape::list_of(Shape::text()),
        Gives::Integer => Shape::integer(),
        Gives::Number => Shape::number(),
        Gives::Boolean => Shape::boolean(),
        Gives::Same if value.is_open() => value,
        Gives::Same => Shape { number: value.number.or(Some(Digits::Any)), ..Shape::default() },
        Gives::Item => first_of(reader, filter, &value),
        Gives::Items => Shape::list_of(item_of(&value)),
        Gives::Pairs => {
            let pair = Items::Pair(Box::new(Shape::text()), Box::new(values_of(&value)));
            Shape::list_of(Shape::list(pair))
        }
        Gives::Special if filter.name == "map" => Shape::list_of(item),
        // `reverse`, which turns round texts and lists alike.
        Gives::Special if value.is_open() => Shape::unknown(),
        Gives::Special => {
            let listed = value.kinds().list || value.kinds().object;
            let lists = if listed { vec![Items::Each(Box::new(item_of(&value)))] } else { Vec::new() };
            Shape { text: value.text.map(|_| Texts::Any), lists, ..Shape::default() }
        }
    }
}

/// One item, which is there only if there are any.
fn first_of<'c>(reader: &Reader<'_, 'c, '_>, filter: &Filter<'_>, value: &Shape<'c>) -> Shape<'c> {
    let item = item_of(value);
    let is_not_empty = filter.expr.as_ref().is_some_and(|expr| reader.is_not_empty(expr, value));
    if value.is_open() || is_not_empty { item } else { item.because(Absence::Short) }
}

fn attribute(args: &[CallArg<'_>]) -> Option<(String, usize)> {
    args.iter().find_map(|arg| match arg {
        CallArg::Kwarg("attribute", expr) => Some((text_of(expr)?, offset_of(expr))),
        _ => None,
    })
}

/// Goes from an item to one of its fields, as `attribute` does.
fn follow<'c>(reader: &mut Reader<'_, 'c, '_>, item: Shape<'c>, path: &str, offset: usize) -> Shape<'c> {
    let mut shape = item;
    for name in path.split('.') {
        shape = reader.within(&shape, name, "an item", offset);
        if shape.absent.take().is_some() {
            let message = format!("`{name}` may not be there in each of the items");
            reader.warning(offset, message, "go through them with `{% for %}`, and give it a default");
        }
    }
    shape
}

/// Reads a test of a value that is there.
pub(super) fn test<'c>(
    reader: &mut Reader<'_, 'c, '_>,
    test: &Spanned<Test<'_>>,
    value: &Shape<'c>,
) -> Shape<'c> {
    let arguments = arguments(reader, &test.args);
    let at = range(test.span()).start;
    let wants = match test.name {
        "startingwith" | "endingwith" | "lower" | "upper" => Takes::Text,
        "odd" | "even" | "divisibleby" => Takes::Number,
        _ => return Shape::boolean(),
    };
    for (shape, what) in
        std::iter::once((value, named(&test.expr))).chain(arguments.iter().map(|it| (it, "this".to_owned())))
    {
        if !shape.is_open() && !takes(wants, shape) {
            let message =
                format!("`{}` takes {}, and {what} is {}", test.name, wanted(wants), shape.described());
            reader.error(at, message, "leave the test out");
        }
    }
    Shape::boolean()
}
