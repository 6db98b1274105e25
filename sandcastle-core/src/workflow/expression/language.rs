//! What the language of expressions has: its words, its filters and tests, and its bounds. Plain data, for whoever reads a
//! template and for whoever checks its types.

/// The most characters of one expression.
pub(crate) const MAX_EXPRESSION: usize = 4_000;
/// The most bytes of a template.
pub(crate) const MAX_TEMPLATE: usize = 64 * 1024;
/// The most words and signs of one expression: its tree is no deeper than that.
pub(crate) const MAX_TOKENS: usize = 500;
/// The most signs and `not` in a row.
pub(crate) const MAX_PREFIXES: usize = 8;
/// The most `elif` in a template, each of which is one level deeper.
pub(crate) const MAX_BRANCHES: usize = 60;

/// Words that mean something in an expression, so that no step can bear them.
pub(crate) const WORDS: &[&str] = &[
    "and", "elif", "else", "endfor", "endif", "false", "False", "for", "if", "in", "is", "loop", "none",
    "None", "not", "or", "self", "true", "True",
];

/// What a filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Anything, even what is not there.
    Anything,
    /// Anything that is there.
    Value,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A text or a number.
    Scalar,
    /// A list, an object (its keys) or a text (its characters).
    Items,
    /// A list of numbers.
    Numbers,
    /// An object.
    Object,
}

/// What a filter gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    Text,
    Texts,
    Integer,
    Number,
    Boolean,
    /// What it takes.
    Same,
    /// One of the items that it takes.
    Item,
    /// A list of the items that it takes.
    Items,
    /// A list of pairs.
    Pairs,
    /// What only its own rules tell.
    Special,
}

/// Describes a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    /// How many arguments it needs, and how many it can have.
    pub(crate) arguments: (usize, usize),
    /// Arguments that it takes by name.
    pub(crate) named: &'static [&'static str],
}

const fn filter(
    name: &'static str,
    takes: Takes,
    gives: Gives,
    arguments: (usize, usize),
    named: &'static [&'static str],
) -> Filter {
    Filter { name, takes, gives, arguments, named }
}

/// The filters, by their names. All of them are pure, and pay for what they make.
pub(crate) const FILTERS: &[Filter] = &[
    filter("abs", Takes::Number, Gives::Same, (0, 0), &[]),
    filter("bool", Takes::Value, Gives::Boolean, (0, 0), &[]),
    filter("capitalize", Takes::Text, Gives::Text, (0, 0), &[]),
    filter("count", Takes::Items, Gives::Integer, (0, 0), &[]),
    filter("d", Takes::Anything, Gives::Special, (1, 2), &[]),
    filter("default", Takes::Anything, Gives::Special, (1, 2), &[]),
    filter("dictsort", Takes::Object, Gives::Pairs, (0, 0), &["by", "case_sensitive", "reverse"]),
    filter("first", Takes::Items, Gives::Item, (0, 0), &[]),
    filter("float", Takes::Scalar, Gives::Number, (0, 0), &["default"]),
    filter("indent", Takes::Text, Gives::Text, (0, 3), &["width", "first", "blank"]),
    filter("int", Takes::Scalar, Gives::Integer, (0, 0), &["default"]),
    filter("items", Takes::Object, Gives::Pairs, (0, 0), &[]),
    filter("join", Takes::Items, Gives::Text, (0, 1), &["attribute"]),
    filter("last", Takes::Items, Gives::Item, (0, 0), &[]),
    filter("length", Takes::Items, Gives::Integer, (0, 0), &[]),
    filter("lines", Takes::Text, Gives::Texts, (0, 0), &[]),
    filter("list", Takes::Items, Gives::Items, (0, 0), &[]),
    filter("lower", Takes::Text, Gives::Text, (0, 0), &[]),
    filter("map", Takes::Items, Gives::Special, (0, 0), &["attribute"]),
    filter("max", Takes::Items, Gives::Item, (0, 0), &[]),
    filter("min", Takes::Items, Gives::Item, (0, 0), &[]),
    filter("replace", Takes::Text, Gives::Text, (2, 3), &[]),
    filter("reverse", Takes::Items, Gives::Special, (0, 0), &[]),
    filter("round", Takes::Number, Gives::Number, (0, 1), &[]),
    filter("sort", Takes::Items, Gives::Items, (0, 0), &["attribute", "case_sensitive", "reverse"]),
    filter("split", Takes::Text, Gives::Texts, (0, 2), &[]),
    filter("string", Takes::Value, Gives::Text, (0, 0), &[]),
    filter("sum", Takes::Numbers, Gives::Number, (0, 0), &["attribute"]),
    filter("title", Takes::Text, Gives::Text, (0, 0), &[]),
    filter("tojson", Takes::Value, Gives::Text, (0, 0), &[]),
    filter("trim", Takes::Text, Gives::Text, (0, 1), &[]),
    filter("unique", Takes::Items, Gives::Items, (0, 0), &["attribute", "case_sensitive"]),
    filter("upper", Takes::Text, Gives::Text, (0, 0), &[]),
];

/// The tests behind `is`, with the number of their arguments.
pub(crate) const TESTS: &[(&str, usize)] = &[
    ("boolean", 0),
    ("defined", 0),
    ("divisibleby", 1),
    ("endingwith", 1),
    ("even", 0),
    ("false", 0),
    ("float", 0),
    ("in", 1),
    ("integer", 0),
    ("iterable", 0),
    ("lower", 0),
    ("mapping", 0),
    ("none", 0),
    ("number", 0),
    ("odd", 0),
    ("sequence", 0),
    ("startingwith", 1),
    ("string", 0),
    ("true", 0),
    ("undefined", 0),
    ("upper", 0),
];

/// What a loop knows of itself, as `loop.index`.
pub(crate) const LOOP: &[&str] =
    &["depth", "depth0", "first", "index", "index0", "last", "length", "revindex", "revindex0"];

/// Finds a filter.
pub(crate) fn filter_named(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name)
}

/// Finds the number of arguments of a test.
pub(crate) fn test_named(name: &str) -> Option<usize> {
    TESTS.iter().find(|(test, _)| *test == name).map(|(_, arguments)| *arguments)
}
