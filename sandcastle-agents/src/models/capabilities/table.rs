//! Reads the table of models.
//!
//! The table is a file of rows so that it can be corrected without reading code; tests here make sure that every row can be
//! read and that its words are known.

use sandcastle_core::Support;
use sandcastle_core::model::Price;
use sandcastle_core::output::lower::Dialect;

use super::family;

const TABLE: &str = include_str!("table.txt");

/// What is known of the models of one family.
#[derive(Clone, Debug)]
pub(super) struct Row {
    family: &'static str,
    pub(super) native: Support,
    pub(super) beside_tools: Support,
    pub(super) forced_tool: Support,
    pub(super) price: Option<Price>,
    thoughts: Thoughts,
}

/// Whether a model thinks before it answers, so that its sealed thoughts can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoughts {
    None,
    Sealed,
}

/// What the wire of a provider accepts of JSON Schema.
pub(super) fn dialect(provider: &str) -> Option<Dialect> {
    match provider {
        "anthropic" => Some(Dialect::Anthropic),
        "openai" | "openai-responses" => Some(Dialect::OpenAi),
        "gemini" => Some(Dialect::Gemini),
        "ollama" => Some(Dialect::Ollama),
        _ => None,
    }
}

/// The row of a model: that of the longest family that it belongs to.
pub(super) fn row(provider: &str, model: &str) -> Option<Row> {
    let belongs = |row: &Row| row.family == "*" || family::is_of(row.family, model);
    lines()
        .filter(|cells| cells.first() == Some(&provider))
        .filter_map(|cells| parse(&cells))
        .filter(belongs)
        .max_by_key(|row| row.family.len())
}

/// Whether a model thinks, as far as that is known.
pub(crate) fn thoughts(provider: &str, model: &str) -> Thoughts {
    row(provider, model).map_or(Thoughts::None, |row| row.thoughts)
}

/// The cells of every row.
fn lines() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|line| line.split('|').map(str::trim).collect())
}

/// Reads a row; a row that says something unknown says nothing.
fn parse(cells: &[&'static str]) -> Option<Row> {
    let &[_, family, native, beside_tools, forced_tool, thoughts, price, _checked, _source] = cells else {
        return None;
    };
    Some(Row {
        family,
        native: support(native)?,
        beside_tools: support(beside_tools)?,
        forced_tool: support(forced_tool)?,
        price: parse_price(price)?,
        thoughts: match thoughts {
            "sealed" => Thoughts::Sealed,
            "-" => Thoughts::None,
            _ => return None,
        },
    })
}

fn support(cell: &str) -> Option<Support> {
    match cell {
        "yes" => Some(Support::Declared),
        "?" => Some(Support::Unlisted),
        _ => cell.strip_prefix("no: ").map(|reason| Support::Denied(reason.to_owned())),
    }
}

/// Reads `input output`, or `input output written read` where a cache has prices of its own; `-` is unknown.
fn parse_price(cell: &str) -> Option<Option<Price>> {
    if cell == "-" {
        return Some(None);
    }
    let numbers: Vec<f64> = cell.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    match numbers[..] {
        [input, output] => Some(Some(Price::new(input, output))),
        [input, output, written, read] => Some(Some(Price::new(input, output).cached(written, read))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_has_a_date_and_a_source() {
        let rows: Vec<_> = lines().collect();
        assert!(rows.len() > 50);
        for cells in &rows {
            assert!(parse(cells).is_some(), "{cells:?}");
            assert!(dialect(cells[0]).is_some(), "{cells:?}");
            let (checked, source) = (cells[7], cells[8]);
            assert!(checked.len() == 10 && checked.starts_with("20"), "{cells:?}");
            assert!(source.contains('.'), "{cells:?}");
        }
    }

    #[test]
    fn a_family_is_listed_once() {
        let mut keys: Vec<_> = lines().map(|cells| (cells[0], cells[1])).collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn models_are_found_with_what_is_known_of_them() {
        let forced = |provider, model| row(provider, model).map(|row| row.forced_tool);
        assert!(
            matches!(forced("anthropic", "claude-opus-5-5"), Some(Support::Denied(reason)) if reason.contains("400"))
        );
        assert_eq!(forced("anthropic", "claude-opus-5"), Some(Support::Declared));
        assert_eq!(forced("anthropic", "claude-opus-4-20250514"), Some(Support::Declared));
        assert_eq!(forced("anthropic", "claude-opus-4-9"), None);
        assert_eq!(row("anthropic", "claude-fable-5").map(|row| row.native), Some(Support::Unlisted));
        assert_eq!(
            row("gemini", "gemini-3-pro-preview").map(|row| row.beside_tools),
            Some(Support::Declared)
        );
        assert!(matches!(
            row("gemini", "gemini-2.5-pro").map(|row| row.beside_tools),
            Some(Support::Denied(_))
        ));
        assert!(matches!(forced("ollama", "qwen3:8b"), Some(Support::Denied(_))));
        assert_eq!(thoughts("openai-responses", "gpt-5-mini"), Thoughts::Sealed);
        assert_eq!(thoughts("openai-responses", "gpt-4.1"), Thoughts::None);
        let price = row("anthropic", "claude-sonnet-4-5-20250929").and_then(|row| row.price).unwrap();
        assert_eq!(
            (price.input, price.output, price.cache_creation, price.cache_read),
            (3.0, 15.0, 3.75, 0.3)
        );
    }
}
