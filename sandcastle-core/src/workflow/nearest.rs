//! The name that was probably meant.

/// The most names that are compared: objects of a model can have any number of keys.
const MAX_NAMES: usize = 1_000;
/// The longest name that is compared, and the longest that is shown.
const MAX_LENGTH: usize = 60;

/// Finds the name that is nearest to `word`, if one is near enough to be worth a hint.
pub(crate) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.is_empty() || word.len() > MAX_LENGTH {
        return None;
    }
    // One letter in three may differ; beyond that the hint would be a guess.
    let most = (word.chars().count() + 1) / 3;
    let meant = simplified(word);
    let worth = |name: &&str| name.len() <= MAX_LENGTH && *name != word;
    let near = names.into_iter().take(MAX_NAMES).filter(worth).map(|name| (distance(&meant, name), name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= most).then_some(name)
}

/// How many letters differ, however the words are joined and their letters are written: `outputSchema` and `output-schema`
/// are meant to be `output_schema`.
fn distance(meant: &str, name: &str) -> usize {
    strsim::osa_distance(meant, &simplified(name))
}

fn simplified(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Says what there is in the place of `word`: the nearest name, or the first few.
pub fn instead_of<'n>(word: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    match nearest(word, names.clone()) {
        Some(name) => format!("did you mean `{}`?", shortened(name)),
        None if names.clone().next().is_none() => "there are none here".to_owned(),
        None => format!("there are {}", listed(names)),
    }
}

/// Lists names for a message, the first few of them.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<_> = names.by_ref().take(12).map(|name| format!("`{}`", shortened(name))).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Keeps a name that somebody else chose from filling a screen.
pub(crate) fn shortened(name: &str) -> String {
    let clean: String =
        name.chars().take(MAX_LENGTH).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.len() < name.len() { format!("{clean}…") } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_found_and_a_far_one_is_not() {
        let names = ["severity", "confidence", "label"];
        assert_eq!(nearest("severty", names), Some("severity"));
        assert_eq!(nearest("Label", names), Some("label"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("outputSchema", ["output_schema", "timeout"]), Some("output_schema"));
        assert_eq!(nearest("time-out", ["output_schema", "timeout"]), Some("timeout"));
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }

    #[test]
    fn names_of_others_are_shortened() {
        assert_eq!(listed(["a", "b"]), "`a`, `b`");
        assert!(listed(std::iter::repeat_n("x", 5_000)).ends_with("and 4988 more"));
        assert!(shortened(&"y".repeat(1_000)).len() < 100);
        assert_eq!(shortened("a\u{1b}[2J"), "a\u{fffd}[2J");
    }
}
