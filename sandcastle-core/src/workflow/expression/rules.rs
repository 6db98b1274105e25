//! What of the syntax of `minijinja` the language has: a walk over a tree that names everything else. What is left has no
//! function, no assignment, and only filters and tests that are known here.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Filter, GetAttr, Spanned, Stmt, Test};

use super::language::{FILTERS, LOOP, TESTS, filter_named, test_named};
use super::syntax::{Flaw, range};
use crate::workflow::nearest::instead_of;

/// The statements that there are.
const STATEMENTS: &str = "there are `{% if %}`, `{% for %}`, `{% raw %}` and comments";

/// Walks over a tree and collects what is not allowed.
#[derive(Default)]
pub(super) struct Rules<'s> {
    flaws: Vec<Flaw>,
    names: BTreeSet<&'s str>,
}

impl<'s> Rules<'s> {
    /// Gives the names with which expressions begin, or everything that is wrong.
    pub(super) fn finish(self) -> Result<BTreeSet<&'s str>, Vec<Flaw>> {
        if self.flaws.is_empty() { Ok(self.names) } else { Err(self.flaws) }
    }

    pub(super) fn statements(&mut self, statements: &[Stmt<'s>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'s>) {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitExpr(emit) => self.expression(&emit.expr),
            Stmt::EmitRaw(_) => {}
            Stmt::ForLoop(each) => {
                if each.recursive {
                    self.refuse(each, "`recursive` loops");
                }
                self.target(&each.target);
                self.expression(&each.iter);
                each.filter_expr.iter().for_each(|expr| self.expression(expr));
                self.statements(&each.body);
                self.statements(&each.else_body);
            }
            Stmt::IfCond(choice) => {
                self.expression(&choice.expr);
                self.statements(&choice.true_body);
                self.statements(&choice.false_body);
            }
            Stmt::WithBlock(block) => self.refuse(block, "`{% with %}`"),
            Stmt::Set(block) => self.refuse(block, "`{% set %}`"),
            Stmt::SetBlock(block) => self.refuse(block, "`{% set %}`"),
            Stmt::AutoEscape(block) => self.refuse(block, "`{% autoescape %}`"),
            Stmt::FilterBlock(block) => self.refuse(block, "`{% filter %}`"),
            Stmt::Do(block) => self.refuse(block, "`{% do %}`"),
            // What the parser has only with features that other crates of a program may turn on.
            #[expect(
                unreachable_patterns,
                reason = "which statements there are depends on the features of the parser"
            )]
            _ => self.flaws.push(refused(0, "such statements", STATEMENTS)),
        }
    }

    /// The names of a loop, which hide others of that name.
    fn target(&mut self, target: &Expr<'s>) {
        match target {
            Expr::Var(_) => {}
            Expr::List(list) => list.items.iter().for_each(|item| self.target(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.target(item)),
            other => {
                let message = format!("a loop needs a name, not this {}", other.description());
                self.flaws.push(Flaw::new(
                    range(other.span()).start,
                    message,
                    "as in `{% for item in items %}`",
                ));
            }
        }
    }

    pub(super) fn expression(&mut self, expr: &Expr<'s>) {
        match expr {
            Expr::Var(name) => drop(self.names.insert(name.id)),
            Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.expression(&slice.expr);
                let bounds = [&slice.start, &slice.stop, &slice.step];
                bounds.into_iter().flatten().for_each(|bound| self.expression(bound));
            }
            Expr::UnaryOp(unary) => self.expression(&unary.expr),
            Expr::BinOp(binary) => {
                if matches!(binary.op, BinOpKind::Concat) {
                    let hint = "write `{{ a }}{{ b }}`, or `+` between texts";
                    self.flaws.push(refused(range(binary.right.span()).start, "`~`", hint));
                }
                // What is made of literals alone is computed when it is compiled, and nobody pays for that.
                if matches!(binary.op, BinOpKind::Mul)
                    && (holds_list(&binary.left) || holds_list(&binary.right))
                {
                    self.flaws.push(refused(
                        range(binary.right.span()).start,
                        "`*` of lists",
                        "`*` takes numbers",
                    ));
                }
                self.expression(&binary.left);
                self.expression(&binary.right);
            }
            Expr::Compare(chain) => {
                self.expression(&chain.expr);
                chain.ops.iter().for_each(|op| self.expression(&op.expr));
            }
            Expr::IfExpr(choice) => {
                self.expression(&choice.test_expr);
                self.expression(&choice.true_expr);
                match &choice.false_expr {
                    Some(expr) => self.expression(expr),
                    None => {
                        let at = range(choice.span()).end;
                        self.flaws.push(Flaw::new(
                            at,
                            "`if` within an expression needs an `else`",
                            "as in `a if b else c`",
                        ));
                    }
                }
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => self.test(test),
            Expr::GetAttr(field) => self.field(field),
            Expr::GetItem(item) => {
                self.expression(&item.expr);
                self.expression(&item.subscript_expr);
            }
            Expr::Call(call) => {
                let hint = "filters stand behind `|`, as in `title|upper`";
                self.flaws.push(refused(range(call.expr.span()).start, "functions", hint));
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.expression(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.expression(item)),
            Expr::Map(map) => map.keys.iter().chain(&map.values).for_each(|part| self.expression(part)),
        }
    }

    fn field(&mut self, field: &Spanned<GetAttr<'s>>) {
        self.expression(&field.expr);
        if matches!(&field.expr, Expr::Var(name) if name.id == "loop") && !LOOP.contains(&field.name) {
            let at = range(field.span()).end.saturating_sub(field.name.len());
            let hint = instead_of(field.name, LOOP.iter().copied());
            self.flaws.push(Flaw::new(at, format!("`loop` has no `{}`", field.name), hint));
        }
    }

    fn filter(&mut self, filter: &Spanned<Filter<'s>>) {
        filter.expr.iter().for_each(|expr| self.expression(expr));
        let at = range(filter.span()).start;
        match filter_named(filter.name) {
            Some(known) => {
                if known.name == "map" && filter.args.is_empty() {
                    let hint = "as in `issues|map(attribute=\"title\")`";
                    self.flaws.push(Flaw::new(at, "`map` needs `attribute`", hint));
                }
                self.arguments(at, filter.name, &filter.args, known.arguments, known.named);
            }
            None => {
                let names = FILTERS.iter().map(|filter| filter.name);
                let hint = instead_of(filter.name, names);
                self.flaws.push(Flaw::new(at, format!("there is no filter `{}`", filter.name), hint));
            }
        }
    }

    fn test(&mut self, test: &Spanned<Test<'s>>) {
        self.expression(&test.expr);
        let at = range(test.span()).start;
        match test_named(test.name) {
            Some(count) => self.arguments(at, test.name, &test.args, (count, count), &[]),
            None => {
                let names = TESTS.iter().map(|(name, _)| *name);
                let hint = instead_of(test.name, names);
                self.flaws.push(Flaw::new(at, format!("there is no test `{}`", test.name), hint));
            }
        }
    }

    fn arguments(
        &mut self,
        at: usize,
        name: &str,
        args: &[CallArg<'s>],
        (least, most): (usize, usize),
        named: &[&str],
    ) {
        let mut count = 0;
        for arg in args {
            match arg {
                CallArg::Pos(expr) => {
                    count += 1;
                    self.expression(expr);
                }
                CallArg::Kwarg("attribute", expr)
                    if named.contains(&"attribute") && text_of(expr).is_none() =>
                {
                    self.flaws.push(Flaw::new(
                        range(expr.span()).start,
                        "`attribute` needs a text in quotes",
                        "as in `attribute=\"title\"`",
                    ));
                }
                CallArg::Kwarg(word, expr) if named.contains(word) => self.expression(expr),
                CallArg::Kwarg(word, _) => {
                    let names = named.iter().copied();
                    let hint =
                        if named.is_empty() { "leave it out".to_owned() } else { instead_of(word, names) };
                    self.flaws.push(Flaw::new(at, format!("`{name}` takes no argument `{word}`"), hint));
                }
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                    self.flaws.push(refused(at, "arguments behind `*`", "write them one by one"));
                }
            }
        }
        if count < least || count > most {
            let wanted = match (least, most) {
                (_, 0) => "no argument".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (least, most) if least == most => format!("{least} arguments"),
                (least, most) => format!("{least} to {most} arguments"),
            };
            self.flaws.push(Flaw::new(
                at,
                format!("`{name}` takes {wanted}, not {count}"),
                "arguments stand in brackets behind the name",
            ));
        }
    }

    fn refuse<T>(&mut self, node: &Spanned<T>, what: &str) {
        self.flaws.push(refused(range(node.span()).start, what, STATEMENTS));
    }
}

/// Tells whether a list is written in an expression, not behind a field or a filter.
fn holds_list(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::List(_) | Expr::Tuple(_) => true,
        Expr::BinOp(binary) => holds_list(&binary.left) || holds_list(&binary.right),
        _ => false,
    }
}

fn refused(at: usize, what: &str, hint: &str) -> Flaw {
    Flaw::new(at, format!("workflows have no {what}"), hint)
}

/// The text of an expression that is a text in quotes.
pub(crate) fn text_of(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Const(text) => text.value.as_str().map(str::to_owned),
        _ => None,
    }
}
