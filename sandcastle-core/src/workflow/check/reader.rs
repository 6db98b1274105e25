//! Walks over a template or an expression and says what kind of value each part of it is, against what can be read at its place.
//! What cannot be is an error; what may not be there is a warning, unless something asked for it before.

use minijinja::machinery::ast::{
    BinOpKind, Const, Expr, ForLoop, IfCond, IfExpr, Spanned, Stmt, Test, UnaryOpKind,
};
use minijinja::value::ValueKind;

use super::super::expression::{LOOP, offset_of};
use super::super::finding::Severity;
use super::calls;
use super::guards::{self, Fact};
use super::naming::{ITEMS, absent, named};
use super::operators;
use super::scope::Scope;
use super::shape::{Fields, Items, Shape};

/// Something that is wrong with an expression, or doubtful.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) severity: Severity,
    /// The byte of the source where it is written.
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: String,
}

/// A name that a loop gives.
struct Local<'s> {
    name: String,
    id: usize,
    shape: Shape<'s>,
}

/// Reads expressions at one place of a workflow.
pub(super) struct Reader<'r, 'c, 'w> {
    pub(super) scope: &'r Scope<'c, 'w>,
    locals: Vec<Local<'c>>,
    pub(super) facts: Vec<Fact>,
    loops: usize,
    pub(super) remarks: Vec<Remark>,
}

impl<'r, 'c, 'w> Reader<'r, 'c, 'w> {
    pub(super) fn new(scope: &'r Scope<'c, 'w>) -> Self {
        Self { scope, locals: Vec::new(), facts: scope.facts.clone(), loops: 0, remarks: Vec::new() }
    }

    /// Reads a template.
    pub(super) fn statements(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            match statement {
                Stmt::EmitExpr(emit) => drop(self.value(&emit.expr)),
                Stmt::ForLoop(each) => self.each(each),
                Stmt::IfCond(choice) => self.choice(choice),
                // Text, and what the language does not have.
                _ => {}
            }
        }
    }

    fn choice(&mut self, choice: &IfCond<'_>) {
        let test = self.value(&choice.expr);
        self.constant(&choice.expr, &test);
        self.knowing(&choice.expr, true, |reader| reader.statements(&choice.true_body));
        self.knowing(&choice.expr, false, |reader| reader.statements(&choice.false_body));
    }

    fn each(&mut self, each: &ForLoop<'_>) {
        let list = self.value(&each.iter);
        let item = operators::item_of(&list);
        let kinds = list.kinds();
        if !(list.is_open() || list.null || kinds.list || kinds.object || kinds.text) {
            let message = format!("{} is {}, which has no items", named(&each.iter), list.described());
            self.error(offset_of(&each.iter), message, ITEMS);
        }
        let before = self.locals.len();
        self.loops += 1;
        self.target(&each.target, item);
        let inner = |reader: &mut Self| {
            let facts = Shape::object(Fields::Only(loop_fields()));
            reader.local("loop", facts);
            reader.statements(&each.body);
        };
        match &each.filter_expr {
            Some(test) => {
                drop(self.value(test));
                self.knowing(test, true, inner);
            }
            None => inner(self),
        }
        self.locals.truncate(before);
        self.statements(&each.else_body);
    }

    fn target(&mut self, target: &Expr<'_>, item: Shape<'c>) {
        match target {
            Expr::Var(name) => self.local(name.id, item),
            Expr::List(list) => self.targets(&list.items, &item),
            Expr::Tuple(tuple) => self.targets(&tuple.items, &item),
            _ => {}
        }
    }

    fn targets(&mut self, targets: &[Expr<'_>], item: &Shape<'c>) {
        let parts: Vec<Shape<'c>> = match item.lists.as_slice() {
            [Items::Pair(name, value)] if targets.len() == 2 => vec![(**name).clone(), (**value).clone()],
            _ => targets.iter().map(|_| Shape::unknown()).collect(),
        };
        for (target, part) in targets.iter().zip(parts) {
            self.target(target, part);
        }
    }

    fn local(&mut self, name: &str, shape: Shape<'c>) {
        self.loops += 1;
        self.locals.push(Local { name: name.to_owned(), id: self.loops, shape });
    }

    /// Goes on under what an answer says.
    fn knowing<T>(&mut self, test: &Expr<'_>, answer: bool, then: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.len();
        self.facts.extend(self.facts_of(test, answer));
        let result = then(self);
        self.facts.truncate(before);
        result
    }

    /// What an answer says.
    pub(super) fn facts_of(&self, test: &Expr<'_>, answer: bool) -> Vec<Fact> {
        guards::facts(test, answer, self.scope.catalogue, &|expr| self.path_of(expr))
    }

    /// Reads an expression whose value is used, so that it has to be there.
    pub(super) fn value(&mut self, expr: &Expr<'_>) -> Shape<'c> {
        let mut shape = self.look(expr);
        if let Some(absence) = shape.absent.take() {
            let (message, hint) = absent(&named(expr), &absence);
            self.warning(offset_of(expr), message, hint);
        }
        shape
    }

    /// Reads a condition: it has to give a boolean, and not always the same.
    pub(super) fn condition(&mut self, test: &Expr<'_>) {
        let shape = self.value(test);
        let others = Shape { boolean: None, ..shape.clone() };
        if shape.is_open() {
            // Nothing is known.
        } else if shape.boolean.is_none() {
            let message = format!("the condition gives {}, never true or false", shape.described());
            self.error(offset_of(test), message, "compare it with something");
        } else if others.null || others.kinds() != Shape::default().kinds() {
            let message = format!("the condition may give {}, not only true or false", others.described());
            self.warning(offset_of(test), message, "compare it with something");
        }
        self.constant(test, &shape);
    }

    fn constant(&mut self, test: &Expr<'_>, shape: &Shape<'c>) {
        if let Some(answer) = operators::always(test, shape) {
            self.warning(
                offset_of(test),
                format!("this is always {answer}"),
                "leave it out, or compare something else",
            );
        }
    }

    /// Reads an expression whose value may not be there.
    pub(super) fn look(&mut self, expr: &Expr<'_>) -> Shape<'c> {
        match expr {
            Expr::Const(literal) => literal_shape(literal),
            Expr::Var(name) => self.name(expr, name.id),
            Expr::GetAttr(field) => self.field(expr, field),
            Expr::GetItem(item) => self.item(expr, item),
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(unary) => {
                let operand = self.value(&unary.expr);
                match unary.op {
                    UnaryOpKind::Not => operators::negated(&operand),
                    UnaryOpKind::Neg => operators::arithmetic_of_one(self, &unary.expr, operand),
                }
            }
            Expr::BinOp(binary) => match binary.op {
                BinOpKind::ScAnd | BinOpKind::ScOr => {
                    let goes_on = matches!(binary.op, BinOpKind::ScAnd);
                    let left = self.value(&binary.left);
                    let right = self.knowing(&binary.left, goes_on, |reader| reader.value(&binary.right));
                    operators::either_operand(goes_on, left, right)
                }
                op => {
                    let (left, right) = (self.value(&binary.left), self.value(&binary.right));
                    operators::binary(self, op, (&binary.left, &left), (&binary.right, &right))
                }
            },
            Expr::Compare(chain) => {
                let (mut one, mut left) = (&chain.expr, self.value(&chain.expr));
                for step in &chain.ops {
                    let right = self.value(&step.expr);
                    operators::compared(self, step.op, (one, &left), (&step.expr, &right));
                    (one, left) = (&step.expr, right);
                }
                Shape::boolean()
            }
            Expr::IfExpr(choice) => self.either(choice),
            Expr::Filter(filter) => calls::filter(self, filter),
            Expr::Test(test) => self.test(test),
            Expr::Call(_) => Shape::unknown(),
            Expr::List(list) => self.list(&list.items),
            Expr::Tuple(tuple) => self.list(&tuple.items),
            Expr::Map(map) => {
                map.keys.iter().chain(&map.values).for_each(|part| drop(self.value(part)));
                Shape::unknown()
            }
        }
    }

    fn list(&mut self, items: &[Expr<'_>]) -> Shape<'c> {
        let items: Vec<_> = items.iter().map(|item| self.value(item)).collect();
        Shape::list_of(items.into_iter().reduce(Shape::or).unwrap_or_else(Shape::unknown))
    }

    fn either(&mut self, choice: &IfExpr<'_>) -> Shape<'c> {
        let test = self.value(&choice.test_expr);
        self.constant(&choice.test_expr, &test);
        let yes = self.knowing(&choice.test_expr, true, |reader| reader.value(&choice.true_expr));
        let Some(other) = &choice.false_expr else { return yes };
        yes.or(self.knowing(&choice.test_expr, false, |reader| reader.value(other)))
    }

    fn test(&mut self, test: &Spanned<Test<'_>>) -> Shape<'c> {
        if !matches!(test.name, "defined" | "undefined") {
            let value = self.value(&test.expr);
            return calls::test(self, test, &value);
        }
        let value = self.look(&test.expr);
        match value.absent {
            None if !value.is_open() && self.path_of(&test.expr).is_some() => {
                Shape::always(test.name == "defined")
            }
            _ => Shape::boolean(),
        }
    }

    fn name(&mut self, expr: &Expr<'_>, name: &str) -> Shape<'c> {
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name) {
            let shape = local.shape.clone();
            return self.knowledge_of(expr, shape);
        }
        match self.scope.root(name) {
            Ok(shape) => self.knowledge_of(expr, shape),
            Err(unknown) => {
                self.error(offset_of(expr), unknown.message, unknown.hint);
                Shape::unknown()
            }
        }
    }

    /// Adds what conditions said of a value.
    pub(super) fn knowledge_of(&self, expr: &Expr<'_>, mut shape: Shape<'c>) -> Shape<'c> {
        let Some(path) = self.path_of(expr) else { return shape };
        let output = path.strip_prefix("steps.");
        if self.facts.iter().any(|fact| fact.shows(&path) || output.is_some_and(|output| fact.shows(output)))
        {
            shape.absent = None;
        }
        let not_null =
            |fact: &Fact| matches!(fact, Fact::NotNull(known) | Fact::NotEmpty(known) if *known == path);
        let within = |fact: &Fact| fact.shows(&path) && !matches!(fact, Fact::There(known) if *known == path);
        if self.facts.iter().any(|fact| not_null(fact) || within(fact)) {
            shape.null = false;
        }
        for (field, values, is_one) in self.facts.iter().filter_map(|fact| fact.tag(&path)) {
            shape = shape.tagged(field, values, is_one);
        }
        shape
    }

    /// Names what an expression reads, in one way for every spelling; `None` for what is computed.
    pub(super) fn path_of(&self, expr: &Expr<'_>) -> Option<String> {
        match expr {
            Expr::Var(name) => Some(match self.locals.iter().rev().find(|local| local.name == name.id) {
                Some(local) => format!("{}@{}", local.name, local.id),
                None => name.id.to_owned(),
            }),
            Expr::GetAttr(field) => Some(format!("{}.{}", self.path_of(&field.expr)?, field.name)),
            Expr::GetItem(item) => match &item.subscript_expr {
                Expr::Const(literal) => match (literal.value.as_str(), literal.value.as_i64()) {
                    (Some(name), _) => Some(format!("{}.{name}", self.path_of(&item.expr)?)),
                    (None, Some(index)) => Some(format!("{}[{index}]", self.path_of(&item.expr)?)),
                    (None, None) => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|local| local.name == name)
    }

    pub(super) fn error(&mut self, offset: usize, message: String, hint: impl Into<String>) {
        self.remarks.push(Remark { severity: Severity::Error, offset, message, hint: hint.into() });
    }

    pub(super) fn warning(&mut self, offset: usize, message: String, hint: impl Into<String>) {
        self.remarks.push(Remark { severity: Severity::Warning, offset, message, hint: hint.into() });
    }
}

fn literal_shape<'c>(literal: &Const) -> Shape<'c> {
    let value = &literal.value;
    match value.kind() {
        ValueKind::None => Shape::null(),
        ValueKind::Bool => Shape::always(value.is_true()),
        ValueKind::Number if value.is_integer() => Shape::integer(),
        ValueKind::Number => Shape::number(),
        ValueKind::String => Shape::literal(value.as_str().unwrap_or_default()),
        _ => Shape::unknown(),
    }
}

/// What `loop` has.
fn loop_fields<'c>() -> Vec<(&'c str, Shape<'c>)> {
    let is_flag = |name: &str| matches!(name, "first" | "last");
    let shape = |name: &str| if is_flag(name) { Shape::boolean() } else { Shape::integer() };
    LOOP.iter().map(|name| (*name, shape(name))).collect()
}
