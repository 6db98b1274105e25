//! From text to a syntax tree of what the language allows; everything else is refused here, with its place, before
//! `minijinja` compiles it. Its parser goes deeper with each `-`, `not` and `elif` without a bound of its own, so the words are
//! counted before it begins.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use minijinja::machinery::ast::{Expr, Stmt};
use minijinja::machinery::{Span, Token, parse, parse_expr, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::language::{MAX_BRANCHES, MAX_EXPRESSION, MAX_PREFIXES, MAX_TEMPLATE, MAX_TOKENS};
use super::rules::{Rules, text_of};

/// Says what is wrong with a template or an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The byte of the source where it begins.
    pub(crate) offset: usize,
    /// What is wrong, a lowercase line without a period.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: String,
}

impl Flaw {
    pub(crate) fn new(offset: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { offset, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

/// How templates are written. What is around a tag stays as it is, the last line end of a prompt too.
pub(super) fn syntax() -> SyntaxConfig {
    static SYNTAX: LazyLock<SyntaxConfig> = LazyLock::new(|| {
        // Only delimiters can be wrong, and they are not touched.
        SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
    });
    SYNTAX.clone()
}

/// A template that the language allows.
pub(crate) struct Template<'s> {
    source: &'s str,
    tree: Stmt<'s>,
    names: BTreeSet<&'s str>,
}

/// An expression that the language allows.
pub(crate) struct Expression<'s> {
    pub(crate) tree: Expr<'s>,
    pub(super) names: BTreeSet<&'s str>,
}

impl<'s> Template<'s> {
    /// Reads one.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(source: &'s str) -> Result<Self, Vec<Flaw>> {
        if source.len() > MAX_TEMPLATE {
            let message = format!("a template has at most {} KiB", MAX_TEMPLATE / 1024);
            return Err(vec![Flaw::new(0, message, "give the rest to a step as its input")]);
        }
        count(source, Begins::WithText)?;
        let tree = parse(source, "template", syntax()).map_err(|error| vec![flaw_of(&error, source)])?;
        let mut template = Self { source, tree, names: BTreeSet::new() };
        let mut rules = Rules::default();
        rules.statements(template.statements());
        template.names = rules.finish()?;
        Ok(template)
    }

    /// What it consists of.
    pub(crate) fn statements(&self) -> &[Stmt<'s>] {
        match &self.tree {
            Stmt::Template(template) => &template.children,
            _ => &[],
        }
    }

    /// What it becomes, if nothing is filled in.
    pub(crate) fn literal(&self) -> Option<String> {
        let part = |statement: &Stmt<'_>| match statement {
            Stmt::EmitRaw(text) => Some(text.raw.to_owned()),
            Stmt::EmitExpr(text) => text_of(&text.expr),
            _ => None,
        };
        self.statements().iter().map(part).collect()
    }

    /// The names with which its expressions begin, those of its loops among them.
    pub(super) fn names(&self) -> &BTreeSet<&'s str> {
        &self.names
    }

    /// The text of its expression, if it is nothing else.
    pub(super) fn sole_source(&self) -> Option<&'s str> {
        match self.statements() {
            [Stmt::EmitExpr(only)] => self.source.get(range(only.span())),
            _ => None,
        }
    }
}

/// Reads an expression that stands alone.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn read_expression(source: &str) -> Result<Expression<'_>, Vec<Flaw>> {
    let begin = source.len() - source.trim_start().len();
    if begin == source.len() {
        return Err(vec![Flaw::new(0, "an expression is missing", "as in `triage.severity == \"high\"`")]);
    }
    if source[begin..].starts_with("{{") || source[begin..].starts_with("{%") {
        let hint = "leave the braces out, as in `triage.severity == \"high\"`";
        return Err(vec![Flaw::new(begin, "an expression stands here, not a template", hint)]);
    }
    count(source, Begins::WithExpression)?;
    let tree = parse_expr(source).map_err(|error| vec![flaw_of(&error, source)])?;
    let mut rules = Rules::default();
    rules.expression(&tree);
    let names = rules.finish()?;
    Ok(Expression { tree, names })
}

/// Where the word stands that tells an expression from others: the last name of `a.b.c`, the first word of `a.b == 1`.
pub(crate) fn offset_of(expr: &Expr<'_>) -> usize {
    match expr {
        Expr::GetAttr(field) => range(field.span()).end.saturating_sub(field.name.len()),
        Expr::GetItem(item) => offset_of(&item.subscript_expr),
        Expr::Filter(filter) => range(filter.span()).start,
        other => beginning_of(other),
    }
}

/// Where an expression begins. The spans of the parser begin with its first operator, or a word before it.
fn beginning_of(expr: &Expr<'_>) -> usize {
    match expr {
        Expr::GetAttr(field) => beginning_of(&field.expr),
        Expr::GetItem(item) => beginning_of(&item.expr),
        Expr::Slice(slice) => beginning_of(&slice.expr),
        Expr::BinOp(binary) => beginning_of(&binary.left),
        Expr::Compare(chain) => beginning_of(&chain.expr),
        Expr::IfExpr(choice) => beginning_of(&choice.true_expr),
        Expr::Test(test) => beginning_of(&test.expr),
        Expr::Call(call) => beginning_of(&call.expr),
        Expr::Filter(filter) => filter.expr.as_ref().map_or_else(|| range(filter.span()).start, beginning_of),
        other => range(other.span()).start,
    }
}

/// The bytes of a span.
pub(crate) fn range(span: Span) -> std::ops::Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// What the source begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    WithText,
    WithExpression,
}

/// What was counted of one expression.
#[derive(Default)]
struct Count {
    begin: usize,
    tokens: usize,
    prefixes: usize,
}

/// Holds the source against the bounds that keep the parser from going too deep.
fn count(source: &str, begins: Begins) -> Result<(), Vec<Flaw>> {
    let (mut count, mut branches) = (Count::default(), 0);
    for token in tokenize(source, begins == Begins::WithExpression, syntax()) {
        let (token, span) = token.map_err(|error| vec![flaw_of(&error, source)])?;
        let at = range(span);
        match token {
            Token::TemplateData(_) => continue,
            Token::VariableStart | Token::BlockStart => count = Count { begin: at.end, ..Count::default() },
            Token::Minus | Token::Ident("not") => count.prefixes += 1,
            Token::Ident("elif") => branches += 1,
            _ => count.prefixes = 0,
        }
        count.tokens += 1;
        let written = source.get(count.begin..at.end).unwrap_or_default();
        let excess = if written.len() > MAX_EXPRESSION && written.chars().count() > MAX_EXPRESSION {
            format!("an expression has at most {MAX_EXPRESSION} characters")
        } else if count.tokens > MAX_TOKENS {
            format!("an expression has at most {MAX_TOKENS} words and signs")
        } else if count.prefixes > MAX_PREFIXES {
            format!("at most {MAX_PREFIXES} of `-` and `not` stand in a row")
        } else if branches > MAX_BRANCHES {
            format!("a template has at most {MAX_BRANCHES} `elif`")
        } else {
            continue;
        };
        return Err(vec![Flaw::new(at.start, excess, "split it")]);
    }
    Ok(())
}

/// What the parser says, in our words.
fn flaw_of(error: &minijinja::Error, source: &str) -> Flaw {
    let offset = error.range().map_or(0, |range| range.start.min(source.len()));
    let detail = error.detail().unwrap_or("it cannot be read");
    let message: String = detail.chars().flat_map(char::to_lowercase).take(200).collect();
    let foreign =
        FOREIGN.iter().find(|(sign, _)| source.get(offset..).is_some_and(|rest| rest.starts_with(sign)));
    let hint = foreign.map_or("look at the braces, the quotes, and what stands before", |(_, hint)| *hint);
    Flaw::new(offset, message, hint)
}

/// What other languages have, and people write.
const FOREIGN: &[(&str, &str)] =
    &[("=", "compare with `==`"), ("&", "write `and`"), ("|", "write `or`"), ("!", "write `not`")];
