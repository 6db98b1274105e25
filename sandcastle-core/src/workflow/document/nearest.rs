//! The known word that an unknown one was probably meant to be.

/// The least likeness of two words that is worth a hint; 1 is equal.
const LIKENESS: f64 = 0.75;
/// Longer words are no misspelt keys, and comparing takes time with the square of the length.
const MAX_CHARS: usize = 64;

/// Finds the candidate that is nearest to `word`, if one is near enough to be worth a hint.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let word = simplified(word);
    let likeness = |candidate: &&str| strsim::normalized_damerau_levenshtein(&word, &simplified(candidate));
    let rated = candidates.into_iter().map(|candidate| (likeness(&candidate), candidate));
    let (likeness, candidate) = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= LIKENESS).then_some(candidate)
}

/// `outputSchema`, `output-schema` and `OUTPUT_SCHEMA` are meant to be `output_schema`.
fn simplified(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_leaves_other_words_alone() {
        let known = ["prompt", "output_schema", "timeout", "idle_timeout", "run"];
        for (word, meant) in [
            ("promt", Some("prompt")),
            ("outputSchema", Some("output_schema")),
            ("time-out", Some("timeout")),
            ("timout", Some("timeout")),
            ("foo", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest(&"run".repeat(100_000), known), None);
    }
}
