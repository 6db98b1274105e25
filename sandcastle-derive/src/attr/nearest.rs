//! The known key that an unknown word was probably meant to be.

use crate::symbol::Key;

/// Finds the known key that is nearest to `word`, if one is near enough to be worth a hint.
pub(super) fn nearest(word: &str) -> Option<Key> {
    let word = word.to_ascii_lowercase();
    let (edits, key) =
        Key::ALL.map(|key| (distance(&word, key.as_str()), key)).into_iter().min_by_key(|near| near.0)?;
    // One letter in three may differ; beyond that the hint would be a guess.
    let near = edits <= key.as_str().len().div_ceil(3);
    let part = Key::ALL.into_iter().find(|key| is_part(&word, key.as_str()));
    if near { Some(key) } else { part }
}

/// Whether the word is a whole part of the key, as `retries` is of `max_retries`.
fn is_part(word: &str, key: &str) -> bool {
    key.split('_').any(|part| part == word)
}

/// Counts the letters to insert, remove, replace or swap with their neighbour to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before = vec![0; to.len() + 1];
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            row[j + 1] = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (from, to, edits) in [
            ("tag", "tag", 0),
            ("", "tag", 3),
            ("tags", "tag", 1),
            ("tga", "tag", 1),
            ("vlaidaet", "validate", 2),
        ] {
            assert_eq!(distance(from, to), edits, "{from} to {to}");
            assert_eq!(distance(to, from), edits, "{to} to {from}");
        }
    }

    #[test]
    fn finds_the_key_that_was_meant() {
        for (word, key) in [
            ("tags", Key::Tag),
            ("Tag", Key::Tag),
            ("max_retry", Key::MaxRetries),
            ("maxRetries", Key::MaxRetries),
            ("retries", Key::MaxRetries),
            ("validator", Key::Validate),
            ("prepared", Key::Prepare),
            ("perpare", Key::Prepare),
            ("txt", Key::Text),
            ("krate", Key::Crate),
        ] {
            assert_eq!(nearest(word), Some(key), "{word}");
        }
    }

    #[test]
    fn leaves_other_words_alone() {
        for word in ["rename_all", "deny_unknown_fields", "name", "x", "description"] {
            assert_eq!(nearest(word), None, "{word}");
        }
    }
}
