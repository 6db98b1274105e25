//! Runs what was read: `minijinja` with nothing in it but the language, and a bound for everything. It pays with fuel for each
//! step and each byte that it makes; the clock ends what fuel does not see, such as comparisons of long texts; and a text
//! that grows too long is not written to its end.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::{Map, Value as Json};

use super::filters;
use super::placeholder::not_run;
use super::syntax::{Flaw, Template, read_expression, syntax};
use super::value::{MAX_SIZE, Watch, give, take, too_large, written};
use crate::workflow::nearest::{instead_of, shortened};

/// How long a template may take.
const MAX_TIME: Duration = Duration::from_secs(1);
/// How many steps it may make. One of them pays for 64 bytes, too. Comparing two texts of a megabyte is one step, and so many of
/// those still end within a second.
const MAX_STEPS: u64 = 100_000;
/// How deep loops and choices may go.
const MAX_NESTING: usize = 100;

/// What a template became.
pub(super) enum Rendered {
    /// The value of its only expression.
    Value(Json),
    /// A text.
    Text(String),
}

/// Renders a template.
pub(super) fn render(source: &str, values: &Map<String, Json>) -> Result<Rendered, String> {
    let template = Template::read(source).map_err(|flaws| first(&flaws))?;
    let watch = Watch::new(Instant::now() + MAX_TIME);
    let rendered = match template.sole_source() {
        Some(expression) => value_of(expression, template.names(), values, &watch).map(Rendered::Value),
        None => text_of(source, template.names(), values, &watch).map(Rendered::Text),
    };
    rendered.map_err(|error| said(&error, values, &watch))
}

/// Gives the value of an expression.
pub(super) fn evaluate(source: &str, values: &Map<String, Json>) -> Result<Json, String> {
    let names = read_expression(source).map_err(|flaws| first(&flaws))?.names;
    let watch = Watch::new(Instant::now() + MAX_TIME);
    value_of(source, &names, values, &watch).map_err(|error| said(&error, values, &watch))
}

/// The names of the values that are read.
type Names<'s> = BTreeSet<&'s str>;

fn value_of(
    source: &str,
    names: &Names<'_>,
    values: &Map<String, Json>,
    watch: &Arc<Watch>,
) -> Result<Json, Error> {
    let expression = environment().compile_expression(source)?;
    let value = expression.eval(take(names, values, watch)?)?;
    if value.is_undefined() {
        // Only where it is written into a text does `minijinja` say what is undefined.
        text_of(&format!("{{{{ {source} }}}}"), names, values, watch)?;
    }
    in_time(watch, give(&value)?)
}

fn text_of(
    source: &str,
    names: &Names<'_>,
    values: &Map<String, Json>,
    watch: &Arc<Watch>,
) -> Result<String, Error> {
    let template = environment().template_from_str(source)?;
    let mut sheet = Sheet { text: Vec::new(), watch };
    template.render_captured_to(take(names, values, watch)?, &mut sheet)?;
    let text = String::from_utf8(sheet.text);
    in_time(watch, text.map_err(|_| Error::new(ErrorKind::WriteFailure, "it is no text"))?)
}

/// Whatever was made while the time ran out may have been made of half of the values.
fn in_time<T>(watch: &Watch, made: T) -> Result<T, Error> {
    if watch.is_late() { Err(Error::from(ErrorKind::OutOfFuel)) } else { Ok(made) }
}

/// The language, as `minijinja` runs it.
fn environment<'s>() -> &'static Environment<'s> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_syntax(syntax());
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_formatter(|out, _, value| out.write_str(&written(value)?).map_err(Error::from));
        // With it an undefined value knows where it comes from.
        environment.set_debug(true);
        environment.set_fuel(Some(MAX_STEPS));
        environment.set_recursion_limit(MAX_NESTING);
        filters::install(&mut environment);
        environment
    });
    &ENVIRONMENT
}

/// Where a text is written, up to its bound and in its time.
struct Sheet<'w> {
    text: Vec<u8>,
    watch: &'w Watch,
}

impl io::Write for Sheet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.watch.is_late() {
            return Err(io::Error::other(too_slow()));
        }
        if self.text.len().saturating_add(bytes.len()) > MAX_SIZE {
            return Err(io::Error::other(too_large()));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn too_slow() -> String {
    format!("it takes more than {} s or {MAX_STEPS} steps", MAX_TIME.as_secs())
}

fn first(flaws: &[Flaw]) -> String {
    flaws.first().map(ToString::to_string).unwrap_or_default()
}

/// Says in one line what went wrong.
fn said(error: &Error, values: &Map<String, Json>, watch: &Watch) -> String {
    let detail = error.detail().unwrap_or_default();
    match error.kind() {
        _ if watch.is_late() => too_slow(),
        ErrorKind::OutOfFuel => too_slow(),
        ErrorKind::UndefinedError => match missing(detail) {
            Some(expression) => absent(expression, values, watch),
            None => "a value is not there".to_owned(),
        },
        ErrorKind::WriteFailure => {
            std::error::Error::source(error).map_or_else(too_large, ToString::to_string)
        }
        kind if detail.is_empty() => kind.to_string(),
        _ => detail.chars().take(300).collect(),
    }
}

/// Says of an expression that it is not there, and what is.
fn absent(expression: &str, values: &Map<String, Json>, watch: &Watch) -> String {
    let item = expression.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let item = item.map(|(list, key)| (list, key.trim_matches(['"', '\''])));
    let step = match item {
        Some(("steps", step)) => step,
        _ => expression.strip_prefix("steps.").unwrap_or(expression),
    };
    if let Some(said) = not_run(step, values) {
        return said;
    }
    let is_index = |key: &str| key.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let instead = match (item, expression.rsplit_once('.')) {
        (Some((list, key)), _) if is_index(key) => Some(format!("`{}` is shorter", shortened(list))),
        (Some((_, key)), _) => watch.instead_of(key),
        (None, Some((_, field))) => watch.instead_of(field),
        (None, None) => Some(instead_of(expression, values.keys().map(String::as_str))),
    };
    let instead = instead.map(|instead| format!("; {instead}")).unwrap_or_default();
    format!("`{}` is not there{instead}", shortened(expression))
}

/// What is undefined, out of the words of `minijinja`.
fn missing(detail: &str) -> Option<&str> {
    let (_, rest) = detail.split_once('`')?;
    let (expression, rest) = rest.split_once('`')?;
    rest.starts_with(" is undefined").then_some(expression)
}
