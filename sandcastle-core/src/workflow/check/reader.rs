//! Walks over a template or an expression and says what kind of value each part of it is, against what can be read at its place.
//! What cannot be is an error; what may not be there is a warning, unless something asked for it before.

use minijinja::machinery::ast::{
    BinOpKind, Const, Expr, ForLoop, GetItem, IfCond, IfExpr, Slice, Spanned, Stmt, Test,
};
use minijinja::machinery::ast::{GetAttr, UnaryOpKind};

use super::super::expression::{instead_of, offset_of, shortened};
use super::super::finding::Severity;
use super::calls;
use super::guards::{self, Fact};
use super::operators;
use super::schema::{self, Found};
use super::scope::Scope;
use super::shape::{Absence, Digits, Fields, Items, Kinds, Shape};

/// Something that is wrong with an expression, or doubtful.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) severity: Severity,
    /// The byte of the source where it is written.
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// A name that a loop gives.
struct Local<'s> {
    name: String,
    id: usize,
    shape: Shape<'s>,
}

/// Reads expressions at one place of a workflow.
pub(super) struct Reader<'r, 'c, 'w> {
    scope: &'r Scope<'c, 'w>,
    locals: Vec<Local<'c>>,
    facts: Vec<Fact>,
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
            self.error(offset_of(&each.iter), message, None);
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
            self.warning(offset_of(expr), message, Some(hint));
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
            self.error(offset_of(test), message, Some("compare it with something".to_owned()));
        } else if others.null || others.kinds() != Shape::default().kinds() {
            let message = format!("the condition may give {}, not only true or false", others.described());
            self.warning(offset_of(test), message, Some("compare it with something".to_owned()));
        }
        self.constant(test, &shape);
    }

    fn constant(&mut self, test: &Expr<'_>, shape: &Shape<'c>) {
        if let Some(answer) = operators::always(test, shape) {
            self.warning(offset_of(test), format!("this is always {answer}"), None);
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
                self.error(offset_of(expr), unknown.message, Some(unknown.hint));
                Shape::unknown()
            }
        }
    }

    fn field(&mut self, expr: &Expr<'_>, field: &GetAttr<'_>) -> Shape<'c> {
        if matches!(&field.expr, Expr::Var(root) if root.id == "steps" && !self.is_local("steps")) {
            return match self.scope.facts_of(field.name) {
                Ok(shape) => self.knowledge_of(expr, shape),
                Err(unknown) => {
                    self.error(offset_of(expr), unknown.message, Some(unknown.hint));
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
            self.error(offset, format!("{of} is {}, which has no fields", base.described()), None);
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
            self.error(
                offset,
                format!("{of} has no `{}`", shortened(name)),
                Some(instead_of(name, known.iter().copied())),
            );
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

    fn item(&mut self, expr: &Expr<'_>, item: &GetItem<'_>) -> Shape<'c> {
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
        let (kinds, index) = (base.kinds(), literal.and_then(|literal| literal.as_i64()));
        if base.is_open() || (kinds.object && index.is_none()) {
            return Shape::unknown();
        }
        if !kinds.list && !kinds.text {
            self.error(offset, format!("{of} is {}, which has no items", base.described()), None);
            return Shape::unknown();
        }
        if !key.is_open() && !key.kinds().number {
            self.error(offset, format!("an item of a list has a number, not {}", key.described()), None);
        }
        let shape = operators::item_of(&base);
        let Some(index) = index else { return shape };
        let needs = u64::try_from(index).map_or_else(|_| index.unsigned_abs(), |index| index.saturating_add(1));
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

    fn slice(&mut self, slice: &Slice<'_>) -> Shape<'c> {
        let base = self.value(&slice.expr);
        for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
            let number = self.value(bound);
            if !number.is_open() && !number.null && !number.kinds().number {
                self.error(
                    offset_of(bound),
                    format!("a slice needs integers, not {}", number.described()),
                    None,
                );
            }
        }
        let kinds = base.kinds();
        if !base.is_open() && !base.null && !kinds.list && !kinds.text {
            let message = format!("{} is {}, which has no items", named(&slice.expr), base.described());
            self.error(offset_of(&slice.expr), message, None);
        }
        let lists = if base.lists.is_empty() {
            Vec::new()
        } else {
            vec![Items::Each(Box::new(operators::item_of(&base)))]
        };
        Shape {
            unknown: base.is_open() || base.null,
            text: base.text.map(|_| super::shape::Texts::Any),
            lists,
            ..Shape::default()
        }
    }

    /// Adds what conditions said of a value.
    fn knowledge_of(&self, expr: &Expr<'_>, mut shape: Shape<'c>) -> Shape<'c> {
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

    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|local| local.name == name)
    }

    pub(super) fn error(&mut self, offset: usize, message: String, hint: Option<String>) {
        self.remarks.push(Remark { severity: Severity::Error, offset, message, hint });
    }

    pub(super) fn warning(&mut self, offset: usize, message: String, hint: Option<String>) {
        self.remarks.push(Remark { severity: Severity::Warning, offset, message, hint });
    }
}

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
        _ => None,
    }
}

fn absent(what: &str, absence: &Absence) -> (String, String) {
    let ask = format!("ask `{} is defined` first, or give it a default", what.trim_matches('`'));
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

fn literal_shape<'c>(literal: &Const) -> Shape<'c> {
    let value = &literal.value;
    match value.kind() {
        minijinja::value::ValueKind::None => Shape::null(),
        minijinja::value::ValueKind::Bool => Shape::always(value.is_true()),
        minijinja::value::ValueKind::Number if value.is_integer() => {
            Shape { number: Some(Digits::Integer), ..Shape::default() }
        }
        minijinja::value::ValueKind::Number => Shape::number(),
        minijinja::value::ValueKind::String => Shape::literal(value.as_str().unwrap_or_default()),
        _ => Shape::unknown(),
    }
}

/// What `loop` has.
fn loop_fields<'c>() -> Vec<(&'c str, Shape<'c>)> {
    let is_flag = |name: &str| matches!(name, "first" | "last");
    let shape = |name: &str| if is_flag(name) { Shape::boolean() } else { Shape::integer() };
    super::super::expression::LOOP.iter().map(|name| (*name, shape(name))).collect()
}
