//! Reads the table of models.
//!
//! The table is a file of rows so that it can be corrected without reading code; tests here make sure that every row can be
//! read, that its words are known, and that every source that it names is written down with a date.

use sandcastle_core::Support;
use sandcastle_core::model::Price;
use sandcastle_core::output::lower::Dialect;

use super::family;

const TABLE: &str = include_str!("table.txt");

/// How a line begins that describes a source and not a model.
const SOURCE: &str = "source";

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

/// The cells of every row about a model.
fn lines() -> impl Iterator<Item = Vec<&'static str>> {
    cells().filter(|cells| cells.first() != Some(&SOURCE))
}

/// The cells of every line, those that describe a source among them.
fn cells() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|line| line.split('|').map(str::trim).collect())
}

/// Reads a row; a row that says something unknown says nothing.
fn parse(cells: &[&'static str]) -> Option<Row> {
    let &[_, family, native, beside_tools, forced_tool, thoughts, price, _sources] = cells else {
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

/// Reads a price, and how much dearer long prompts are where they are; `-` is unknown.
fn parse_price(cell: &str) -> Option<Option<Price>> {
    if cell == "-" {
        return Some(None);
    }
    let (ordinary, long) =
        cell.split_once(", above ").map_or((cell, None), |(cell, long)| (cell, Some(long)));
    let numbers: Vec<f64> = ordinary.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let price = match numbers[..] {
        [input, output] => Price::new(input, output),
        [input, output, written, read] => Price::new(input, output).cached(written, read),
        _ => return None,
    };
    let Some(long) = long else { return Some(Some(price)) };
    let (above, factors) = long.split_once(" x")?;
    let (input, output) = factors.split_once(" x")?;
    Some(Some(price.long_prompts(above.parse().ok()?, input.parse().ok()?, output.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_can_be_read() {
        let rows: Vec<_> = lines().collect();
        assert!(rows.len() > 50);
        for cells in &rows {
            assert!(parse(cells).is_some(), "{cells:?}");
            assert!(dialect(cells[0]).is_some(), "{cells:?}");
        }
    }

    #[test]
    fn every_row_has_sources_with_a_date_and_every_source_has_a_row() {
        let sources: Vec<_> = cells().filter(|cells| cells[0] == SOURCE).collect();
        let named: BTreeSet<_> = lines().flat_map(|cells| cells[7].split(", ")).collect();
        assert_eq!(sources.iter().map(|cells| cells[1]).collect::<BTreeSet<_>>(), named);
        for cells in sources {
            let &[_, _, date, what] = &cells[..] else { panic!("{cells:?}") };
            assert!(date.parse::<jiff::civil::Date>().is_ok() && !what.is_empty(), "{cells:?}");
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
        assert_eq!(row("anthropic", "claude-opus-4-1").map(|row| row.native), Some(Support::Unlisted));
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
        let long = row("gemini", "gemini-3.1-pro-preview").and_then(|row| row.price?.long_prompts).unwrap();
        assert_eq!((long.above, long.input_factor, long.output_factor), (200_000, 2.0, 1.5));
    }
}
